#include "analyzer/objects/sure_failures.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class SureFailuresTest : public ObjectsTest {
 protected:
  // Whether no run of a program gets to its `print("here")`.
  bool IsFailed(const std::string& text) {
    Read(text);
    const OtherFiles others = {.name = [](auto...) { return false; },
                               .may_install = [](auto) { return false; },
                               .lacks = [](auto...) { return false; },
                               .hold = [](auto...) { return false; },
                               .set_python_path = [] { return false; },
                               .require = [](auto) { return false; }};
    const Training training(program(), knowledge(), facts(), index());
    const SureFailures failures(program(), knowledge(), facts(), index(), training, others);
    const ir::StmtId stmt = index().StatementAt(ir::ModuleId{0}, Position("print(\"here\")"));
    return failures.AreBefore(index().FunctionOf(ir::ModuleId{0}, stmt), stmt);
  }
};

TEST_F(SureFailuresTest, ANameThatNothingBinds) {
  EXPECT_TRUE(IsFailed("def f():\n  sampler.set_epoch(0)\n  print(\"here\")\n"));
  EXPECT_TRUE(IsFailed("def f(x):\n  if x > limit:\n    pass\n  print(\"here\")\n"));
  EXPECT_TRUE(IsFailed("def f(x):\n  y = load(x)\n  with open(y):\n    print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def f(sampler):\n  sampler.set_epoch(0)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def f():\n  print(\"here\")\n  sampler.set_epoch(0)\n"));
}

TEST_F(SureFailuresTest, ANameThatSomethingBinds) {
  EXPECT_FALSE(IsFailed("if __debug__:\n  sampler = 1\ndef f():\n  print(sampler)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def g():\n  global sampler\n  sampler = 1\ndef f():\n  print(sampler)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def g():\n  sampler = 1\n  def f():\n    print(sampler)\n    print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("from somewhere import *\ndef f():\n  print(sampler)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("exec(open('settings.py').read())\ndef f():\n  print(sampler)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def f():\n  print(__file__, len('a'), ValueError)\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, WhatMayBeLeftOut) {
  EXPECT_FALSE(IsFailed("def f(x):\n  if x:\n    print(sampler)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def f(x):\n  y = x or sampler\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def f(x):\n  y = [sampler for each in x]\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def f(x):\n  y = lambda: sampler\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def f(x):\n  try:\n    print(sampler)\n  except NameError:\n    pass\n  print(\"here\")\n"));
  EXPECT_TRUE(IsFailed("def f(x):\n  if x:\n    print(sampler)\n    print(\"here\")\n"));
}

TEST_F(SureFailuresTest, AFunctionThatFailsWheneverItIsCalled) {
  EXPECT_TRUE(IsFailed("def g():\n  return sampler\ndef f():\n  x = g()\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def g(x):\n  if x:\n    return 1\n  return sampler\ndef f():\n  x = g(1)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def g():\n  yield sampler\ndef f():\n  x = g()\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, AFileThatFailsWhenItIsRead) {
  EXPECT_TRUE(IsFailed("import os\nprint(sampler)\ndef f():\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("import os\nif __name__ == '__main__':\n  print(sampler)\ndef f():\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, AVariableOfTheEnvironmentIsText) {
  EXPECT_TRUE(IsFailed("import os\ndef f():\n  os.environ['MASTER_PORT'] = 29500\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("import os\ndef f():\n  os.environ['MASTER_PORT'] = '29500'\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("import os\ndef f(x):\n  os.environ['MASTER_PORT'] = x\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, AnArgumentThatALibraryDoesNotTake) {
  const std::string head = "import deepspeed\ndef f(model):\n";
  EXPECT_TRUE(IsFailed(head + "  deepspeed.initialize(model=model, lr=0.1)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "  deepspeed.initialize(model=model, config={})\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "  deepspeed.initialize(**model)\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, AnArgumentThatAFunctionNeeds) {
  const std::string head = "def g(a, b=1, *, c=2):\n  return a\ndef f(x):\n";
  EXPECT_TRUE(IsFailed(head + "  g()\n  print(\"here\")\n"));
  EXPECT_TRUE(IsFailed(head + "  g(1, d=2)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "  g(1, c=2)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "  g(*x)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "  g(**x)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def g(*args, **options):\n  return args\ndef f(x):\n  g(d=2)\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, AnOptionThatAParserHas) {
  const std::string head = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--workers', type=int)\n";
  EXPECT_TRUE(IsFailed(head + "parser.add_argument('-w', '--workers')\nprint(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "parser.add_argument('--rounds')\nprint(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "parser = argparse.ArgumentParser()\nparser.add_argument('--workers')\nprint(\"here\")\n"));
  EXPECT_FALSE(IsFailed("import argparse\nparser = argparse.ArgumentParser(conflict_handler='resolve')\n"
                        "parser.add_argument('--workers')\nparser.add_argument('--workers')\nprint(\"here\")\n"));
}

TEST_F(SureFailuresTest, AnOptionThatNoParserHas) {
  const std::string parser = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--batch-size')\n";
  const std::string end = "  print(\"here\")\nf(parser.parse_args())\n";
  EXPECT_TRUE(IsFailed(parser + "def f(args):\n  x = args.seed\n" + end));
  EXPECT_TRUE(IsFailed(parser + "def f(args):\n  print(vars(args), args.seed)\n" + end));
  EXPECT_TRUE(IsFailed(parser + "class A:\n  def __init__(self):\n    self.seed = 1\ndef f(args):\n  a, x = A(), args.seed\n" + end));
  EXPECT_FALSE(IsFailed(parser + "def f(args):\n  x = args.batch_size\n" + end));
  EXPECT_FALSE(IsFailed(parser + "def f(args):\n  args.seed = 1\n  x = args.seed\n" + end));
  EXPECT_FALSE(IsFailed(parser + "def f(args):\n  if hasattr(args, 'seed'):\n    x = args.seed\n" + end));
  EXPECT_FALSE(IsFailed(parser + "parser.set_defaults(seed=1)\ndef f(args):\n  x = args.seed\n" + end));
  EXPECT_FALSE(IsFailed(parser + "def f(args):\n  vars(args).update(load())\n  x = args.seed\n" + end));
  EXPECT_FALSE(IsFailed(parser + "def g(args, settings):\n  for k, v in settings:\n    setattr(args, k, v)\ndef f(args):\n  x = args.seed\n" + end));
  EXPECT_FALSE(IsFailed("import argparse, common\nparser = argparse.ArgumentParser(parents=[common.parser()])\ndef f(args):\n  x = args.seed\n" + end));
  EXPECT_FALSE(IsFailed(parser + "def f(args, more=None):\n  x = more.seed\n" + end));
}

TEST_F(SureFailuresTest, AnAttributeOfADictionary) {
  EXPECT_TRUE(IsFailed("def f(args):\n  args = vars(args)\n  x = args.epochs\n  print(\"here\")\n"));
  EXPECT_TRUE(IsFailed("def f():\n  args = {'epochs': 1}\n  x = args.epochs\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def f(args):\n  args = vars(args)\n  x = args.get('epochs')\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def f(args):\n  options = vars(args)\n  x = args.epochs\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("from types import SimpleNamespace\ndef f():\n  args = SimpleNamespace(epochs=1)\n  x = args.epochs\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("class D(dict):\n  pass\ndef f():\n  args = D({'epochs': 1})\n  x = args.epochs\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, AnObjectThatIsMadeWithOtherArguments) {
  const std::string set = "class Pairs(Dataset):\n  def __init__(self, data_root, limit=None):\n    self.root = data_root\n";
  EXPECT_TRUE(IsFailed(set + "def f():\n  pairs = Pairs(root='data')\n  print(\"here\")\n"));
  EXPECT_TRUE(IsFailed(set + "def f():\n  pairs = Pairs('data', 3, True)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(set + "def f():\n  pairs = Pairs('data', limit=3)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(set + "def f(options):\n  pairs = Pairs(**options)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("class Pairs(Dataset):\n  pass\ndef f():\n  pairs = Pairs(root='data')\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("@fills_in\n" + set + "def f():\n  pairs = Pairs(root='data')\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("class Pairs(Dataset, metaclass=Maker):\n  def __init__(self, x):\n    pass\ndef f():\n  Pairs(root='data')\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, AnObjectThatIsMadeByAnotherNameOfItsClass) {
  const std::string set = "def load(x=None):\n  return x\n"
                          "class Pairs(Dataset):\n  def __init__(self, data_root, limit=None):\n    self.root = data_root\n";
  const std::string end = "def f():\n  pairs = PairsDataset(root='data')\n  print(\"here\")\n";
  EXPECT_TRUE(IsFailed(set + "PairsDataset = Pairs\n" + end));
  EXPECT_FALSE(IsFailed(set + "PairsDataset = Pairs\ndef f():\n  pairs = PairsDataset(data_root='data')\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(set + "PairsDataset = Pairs\nif load():\n  PairsDataset = load()\n" + end));
  EXPECT_FALSE(IsFailed(set + "PairsDataset = load(Pairs)\n" + end));
  EXPECT_FALSE(IsFailed(set + "def g():\n  global PairsDataset\n  PairsDataset = load()\nPairsDataset = Pairs\n" + end));
}

TEST_F(SureFailuresTest, MoreArgumentsThanAFunctionTakes) {
  EXPECT_TRUE(IsFailed("def g(a):\n  pass\ndef f():\n  g(1, 2)\n  print(\"here\")\n"));
  EXPECT_TRUE(IsFailed("def g(a, b=1):\n  pass\ndef f():\n  g(1, a=2)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def g(a, /, **more):\n  pass\ndef f():\n  g(1, a=2)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def g(a, *more):\n  pass\ndef f():\n  g(1, 2)\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, AnotherNumberOfValuesThanIsReturned) {
  const std::string head = "def g(x):\n  if x:\n    return 1, 2, 3\n  return 4, 5, 6\ndef h(x):\n  if x:\n    return 1, 2, 3\n  return x\ndef f(x):\n";
  EXPECT_TRUE(IsFailed(head + "  a, b = g(x)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "  a, b, c = g(x)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "  a, *b = g(x)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "  a, b = h(x)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "  a = b = g(x)\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, ANameThatIsBoundLater) {
  EXPECT_TRUE(IsFailed("def f():\n  print(x)\n  print(\"here\")\n  x = 1\n"));
  EXPECT_TRUE(IsFailed("def f():\n  x = x + 1\n  print(\"here\")\n"));
  EXPECT_TRUE(IsFailed("def f(n):\n  for i in n:\n    print(x)\n    print(\"here\")\n    x = 1\n"));
  EXPECT_TRUE(IsFailed("print(g())\ndef f():\n  print(\"here\")\ndef g():\n  return 1\n"));
  EXPECT_FALSE(IsFailed("def f(n):\n  for i in n:\n    if i:\n      print(x)\n      print(\"here\")\n    x = 1\n"));
  EXPECT_FALSE(IsFailed("def f(x):\n  print(x)\n  print(\"here\")\n  x = 1\n"));
  EXPECT_FALSE(IsFailed("def f():\n  global x\n  print(x)\n  print(\"here\")\n  x = 1\n"));
  EXPECT_FALSE(IsFailed("def f():\n  class C:\n    x = 1\n  print(x)\n  print(\"here\")\nx = 1\n"));
  EXPECT_FALSE(IsFailed("def f():\n  with open('a') as a, open(a.name):\n    print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("print(input())\ndef f():\n  print(\"here\")\ninput = None\n"));
}

TEST_F(SureFailuresTest, AFieldThatNothingSets) {
  const std::string head = "class A:\n  def __init__(self):\n    self.x = 1\n  def m(self):\n    return self.x\n";
  EXPECT_TRUE(IsFailed(head + "def f():\n  a = A()\n  a.y\n  print(\"here\")\n"));
  EXPECT_TRUE(IsFailed(head + "def f():\n  a = A()\n  a.n()\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "def f():\n  a = A()\n  a.m()\n  a.x\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "def f():\n  a = A()\n  a.y = 1\n  a.y\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "def g(a):\n  a.y = 1\ndef f():\n  a = A()\n  a.y\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "def f():\n  a = A()\n  setattr(a, 'z' + 'y', 1)\n  a.zy\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("class A:\n  def __getattr__(self, name):\n    return 1\ndef f():\n  a = A()\n  a.y\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("import x\nclass A(x.B):\n  pass\ndef f():\n  a = A()\n  a.y\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, ArgumentsOfAMethod) {
  const std::string head = "class A:\n  def m(self, x):\n    return 1, 2\n  @staticmethod\n  def s(x):\n    return x\n  def g(self):\n    return sampler\n";
  EXPECT_TRUE(IsFailed(head + "def f():\n  A().m()\n  print(\"here\")\n"));
  EXPECT_TRUE(IsFailed(head + "def f():\n  a = A()\n  a.m(1, y=2)\n  print(\"here\")\n"));
  EXPECT_TRUE(IsFailed(head + "def f():\n  a = A()\n  b, c, d = a.m(1)\n  print(\"here\")\n"));
  EXPECT_TRUE(IsFailed(head + "def f():\n  A().g()\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "def f():\n  a = A()\n  b, c = a.m(1)\n  a.s(1)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "def f():\n  a = A()\n  a.m = print\n  a.m()\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "class B(A):\n  def m(self):\n    pass\ndef f(a: A):\n  a.m()\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, ArgumentsOfADecoratedFunction) {
  const std::string head = "import torch\nfrom somewhere import cached\n@torch.no_grad()\ndef g(x, y):\n  return x\n@cached\ndef h(x, y):\n  return x\n";
  EXPECT_TRUE(IsFailed(head + "def f():\n  g(1)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "def f():\n  g(1, 2)\n  h(1)\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, AGroupThatIsThereAlready) {
  const std::string head = "import torch.distributed as dist\ndef g():\n  dist.init_process_group()\ndef h():\n  g()\n  dist.destroy_process_group()\n";
  EXPECT_TRUE(IsFailed(head + "def f():\n  g()\n  dist.init_process_group()\n  print(\"here\")\n"));
  EXPECT_TRUE(IsFailed(head + "def f(x):\n  g()\n  if x:\n    g()\n    print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "def f():\n  h()\n  g()\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "def f():\n  g()\n  dist.destroy_process_group()\n  g()\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "def f(x):\n  if x:\n    g()\n  else:\n    g()\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, AMemberOfTheModelInsideAWrapper) {
  const std::string head =
      "import torch\nfrom torch.nn.parallel import DistributedDataParallel as DDP\nclass N(torch.nn.Module):\n  def head(self):\n    pass\n";
  EXPECT_TRUE(IsFailed(head + "def f():\n  m = DDP(N())\n  m.head()\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "def f():\n  m = DDP(N())\n  m.module.head()\n  m.eval()\n  print(\"here\")\n"));
  // Those of several ranks wrap it.
  EXPECT_TRUE(IsFailed(head + "def f(x):\n  m = N()\n  if x:\n    m = DDP(m)\n  m.head()\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "def f(x):\n  m = N()\n  if x:\n    m = DDP(m)\n  n = m.module if x else m\n  n.head()\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "def f():\n  m = DDP(N())\n  m.head = print\n  m.head()\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, ARoundOfALoopThatTrains) {
  EXPECT_TRUE(IsFailed("def f(m, batches):\n  for b in batches:\n    m(b).backward()\n    print(lost)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def f(m, batches):\n  for b in batches:\n    m(b)\n    print(lost)\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("def f(m, batches):\n  for b in batches:\n    m(b).backward()\n    if b:\n      print(lost)\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, ASamplerOfOneRank) {
  const std::string head = "import torch.distributed as dist\nfrom torch.utils.data import DistributedSampler as S\ndef f(data):\n";
  EXPECT_TRUE(IsFailed(head + "  tasks = 1\n  S(data, num_replicas=tasks, rank=dist.get_rank())\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "  S(data, num_replicas=dist.get_world_size(), rank=dist.get_rank())\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "  S(data, num_replicas=1, rank=0)\n  print(\"here\")\n"));
  EXPECT_TRUE(IsFailed(head + "  if dist.is_initialized():\n    S(data, num_replicas=1, rank=dist.get_rank())\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "  if not dist.is_initialized():\n    S(data, num_replicas=1, rank=dist.get_rank())\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, AnAddressWithoutAScheme) {
  const std::string head = "import torch.distributed as dist\ndef f():\n";
  EXPECT_TRUE(IsFailed(head + "  dist.init_process_group('nccl', init_method='127.0.0.1:29500')\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "  dist.init_process_group('nccl', init_method='tcp://127.0.0.1:29500')\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed(head + "  dist.init_process_group('nccl', init_method='env://')\n  print(\"here\")\n"));
}

TEST_F(SureFailuresTest, AnArgumentThatPyTorchDoesNotTake) {
  EXPECT_TRUE(IsFailed("import torch\ndef f():\n  with torch.cuda.amp.autocast(dytpe=torch.float16):\n    pass\n  print(\"here\")\n"));
  EXPECT_FALSE(IsFailed("import torch\ndef f():\n  with torch.cuda.amp.autocast(dtype=torch.float16):\n    pass\n  print(\"here\")\n"));
}

}  // namespace
}  // namespace allranks::objects
