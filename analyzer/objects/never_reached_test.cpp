#include "analyzer/objects/never_reached.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class NeverReachedTest : public ObjectsTest {
 protected:
  // Whether no run of a program gets to its `here()`.
  bool IsNever(const std::string& text) {
    Read("import argparse\n" + text);
    const Guards guards(program(), index());
    const LaunchedOptions options(program(), knowledge(), facts(), index(), {});
    const Values values(program(), knowledge(), facts());
    const NeverReached never(program(), facts(), index(), guards, values, options,
                             {.name = [&](ir::ModuleId, std::string_view name) { return name == named_elsewhere_; },
                              .may_install = [](ir::ModuleId) { return false; }});
    return never.IsAt(ir::ModuleId{0}, Position("here()"));
  }

  std::string named_elsewhere_;

  static std::string Option(const std::string& options, const std::string& body) {
    return "parser = argparse.ArgumentParser()\nparser.add_argument('--data'" + options + ")\nparser.add_argument('--debug')\n" +
           "args = parser.parse_args()\n" + body;
  }
};

TEST_F(NeverReachedTest, AnOptionIsOnlyOneOfItsChoices) {
  const std::string use = "if args.data == 'small':\n  here()\n";
  EXPECT_TRUE(IsNever(Option(", choices=['large', 'larger']", use)));
  EXPECT_FALSE(IsNever(Option(", choices=['large', 'small']", use)));
  EXPECT_FALSE(IsNever(Option(", choices=['large'], default='small'", use)));
  EXPECT_FALSE(IsNever(Option("", use)));
  EXPECT_FALSE(IsNever(Option(", choices=['large']", "if args.data != 'small':\n  here()\n")));
}

TEST_F(NeverReachedTest, WhatIsLeftOfSeveralArms) {
  EXPECT_TRUE(IsNever(Option(", choices=['large']", "if args.data == 'large':\n  pass\nelif args.data == 'small':\n  here()\n")));
}

TEST_F(NeverReachedTest, TheOppositeOfAnAssertion) {
  const std::string check = "use_data = args.data is not None\nassert use_data == False\n";
  EXPECT_TRUE(IsNever(Option("", check + "if args.data is not None:\n  here()\n")));
  EXPECT_FALSE(IsNever(Option("", check + "if args.data is None:\n  here()\n")));
  EXPECT_FALSE(IsNever(Option("", check + "if args.debug is not None:\n  here()\n")));
}

TEST_F(NeverReachedTest, TwoTestsThatExcludeEachOther) {
  EXPECT_TRUE(IsNever("def f(mode, x):\n  if mode == 1:\n    x()\n    if mode == 2:\n      here()\n"));
  EXPECT_TRUE(IsNever("def f(mode, x):\n  if mode is None:\n    return\n  if x:\n    if mode is None:\n      here()\n"));
  EXPECT_FALSE(IsNever("def f(mode, x):\n  if mode == 1:\n    x()\n  if mode == 2:\n    here()\n"));
  EXPECT_FALSE(IsNever("def f(mode, x):\n  if mode != 1:\n    if mode != 2:\n      here()\n"));
}

// Nothing is said of a job where only a single process comes by.
TEST_F(NeverReachedTest, WhatTheNumberOfRanksLeavesToOne) {
  const auto with = [&](const std::string& text) { return IsNever("import torch.distributed as dist\nsize = dist.get_world_size()\n" + text); };
  EXPECT_TRUE(with("if size != 1:\n  raise RuntimeError()\nhere()\n"));
  EXPECT_TRUE(with("if size <= 1:\n  here()\n"));
  EXPECT_TRUE(with("size = dist.get_world_size() if dist.is_initialized() else 1\nif size == 1:\n  here()\n"));
  EXPECT_FALSE(with("if size > 1:\n  here()\n"));
  EXPECT_FALSE(with("if size == 6:\n  here()\n"));
  EXPECT_FALSE(with("if dist.get_rank() == size - 1:\n  here()\n"));
  EXPECT_FALSE(with("def f(ranks):\n  if ranks > 1:\n    here()\nf(1)\nf(size)\n"));
  EXPECT_FALSE(with("option = input()\nif option and size > 1:\n  raise ValueError()\nhere()\n"));
  EXPECT_TRUE(with("option = input()\nif option or size > 1:\n  raise ValueError()\nhere()\n"));
  EXPECT_FALSE(with("if size % 5 == 0:\n  here()\n"));
  EXPECT_FALSE(with("if size == 96:\n  here()\n"));
  EXPECT_FALSE(with("if dist.get_rank() == 0:\n  here()\n"));
  const std::string worker = "import torch.multiprocessing as mp\ndef worker(rank):\n  here()\nif size == 1:\n  worker(0)\n";
  EXPECT_TRUE(with(worker));
  EXPECT_FALSE(with(worker + "else:\n  mp.spawn(worker, nprocs=size)\n"));
}

TEST_F(NeverReachedTest, StateMayChangeBetweenTwoTests) {
  EXPECT_FALSE(IsNever("class A:\n  def f(self):\n    if self.ready:\n      return\n    self.run()\n    if self.ready:\n      here()\n"));
  EXPECT_FALSE(IsNever("def f(x):\n  if x is None:\n    x = input()\n    if x is not None:\n      here()\n"));
}

TEST_F(NeverReachedTest, AFunctionOfAScriptThatNothingNames) {
  const std::string work = "def work():\n  here()\n";
  const std::string main = "def main():\n  dist.barrier()\nif __name__ == '__main__':\n  main()\n";
  EXPECT_TRUE(IsNever(work + main));
  EXPECT_FALSE(IsNever(work));
  EXPECT_TRUE(IsNever(work + "jobs = {'work': 1}\n" + main));
  EXPECT_FALSE(IsNever(work + "jobs = {'work': 1}\nglobals()[job]()\n" + main));
  EXPECT_FALSE(IsNever(work + "jobs = {'trainer:work': 1}\n" + main));
  EXPECT_TRUE(IsNever(work + "jobs = {'work.json': 1}\nmodel.work()\n" + main));
  EXPECT_FALSE(IsNever(work + "job = work\n" + main));
  EXPECT_FALSE(IsNever("@command\n" + work + main));
  named_elsewhere_ = "work";
  EXPECT_FALSE(IsNever(work + main));
}

TEST_F(NeverReachedTest, AFunctionThatIsOnlyCalledThere) {
  const std::string work = "def work():\n  here()\n";
  EXPECT_TRUE(IsNever(work + Option(", choices=['large']", "if args.data == 'small':\n  work()\n")));
  EXPECT_FALSE(IsNever(work + Option(", choices=['large']", "if args.data == 'small':\n  work()\nwork()\n")));
  EXPECT_FALSE(IsNever(work));
}

// A function that is handed over in one that nothing calls.
TEST_F(NeverReachedTest, WhatOnlyAnUnusedFunctionStarts) {
  const std::string main = "def main():\n  pass\nif __name__ == '__main__':\n  main()\n";
  const std::string work = "import torch.multiprocessing as mp\ndef work(rank):\n  here()\n";
  EXPECT_TRUE(IsNever(work + "def run():\n  mp.spawn(work, nprocs=2)\n" + main));
  EXPECT_FALSE(IsNever(work + "def run():\n  mp.spawn(work, nprocs=2)\nrun()\n" + main));
  EXPECT_FALSE(IsNever(work + "mp.spawn(work, nprocs=2)\n" + main));
}

TEST_F(NeverReachedTest, AMethodOfAClassThatNothingNames) {
  const std::string start = "def start():\n  pass\nif __name__ == '__main__':\n  start()\n";
  const std::string trainer = "class Trainer(Base):\n  def train(self):\n    here()\n  def again(self):\n    return super(Trainer, self).train()\n";
  const std::string other = "class Agent:\n  def train(self):\n    pass\nAgent().train()\n";
  EXPECT_TRUE(IsNever(trainer + other + start));
  EXPECT_FALSE(IsNever(trainer + other + "Trainer().again()\n" + start));
  EXPECT_FALSE(IsNever(trainer + other + "KINDS = {'plain': Trainer}\n" + start));
  EXPECT_FALSE(IsNever(trainer + "class Large(Trainer):\n  pass\nLarge()\n" + other + start));
  EXPECT_FALSE(IsNever("@register\n" + trainer + other + start));
  EXPECT_FALSE(IsNever(trainer + other));
  named_elsewhere_ = "Trainer";
  EXPECT_FALSE(IsNever(trainer + other + start));
}

}  // namespace
}  // namespace allranks::objects
