#include "analyzer/objects/unpassed_arguments.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class UnpassedArgumentsTest : public ObjectsTest {
 protected:
  // Whether a program gets to its `here()` only with an argument that no call of it passes.
  bool AreNeeded(const std::string& text) {
    Read(text);
    const Guards guards(program(), index());
    return UnpassedArguments(program(), facts(), index(), guards).AreNeededAt(ir::ModuleId{0}, Position("here()"));
  }
};

TEST_F(UnpassedArgumentsTest, AnArgumentThatEachCallLeavesOut) {
  const std::string read = "def read(path, cache=None):\n  if path and cache is not None:\n    here()\n";
  EXPECT_TRUE(AreNeeded(read + "read('a')\nread('b')\n"));
  EXPECT_TRUE(AreNeeded(read + "read('a', None)\n"));
  EXPECT_FALSE(AreNeeded(read + "read('a')\nread('b', cache='folder')\n"));
  EXPECT_FALSE(AreNeeded(read + "read('a', cache=input())\n"));
  EXPECT_FALSE(AreNeeded(read));
}

TEST_F(UnpassedArgumentsTest, AnArgumentThatIsHandedOn) {
  const std::string show = "def show(x, visualize):\n  if not visualize:\n    return\n  here()\n";
  EXPECT_TRUE(AreNeeded(show + "def submit(x, visualize=False):\n  show(x, visualize)\nsubmit(1)\n"));
  EXPECT_FALSE(AreNeeded(show + "def submit(x, visualize=False):\n  show(x, visualize)\n"));
  EXPECT_FALSE(AreNeeded(show + "def submit(x, visualize=False):\n  show(x, visualize)\nsubmit(1)\nsubmit(1, True)\n"));
}

TEST_F(UnpassedArgumentsTest, AnArgumentOfAProcess) {
  const std::string work = "import torch.multiprocessing as mp\ndef work(rank, resume=True):\n  if resume == True:\n    here()\n";
  EXPECT_TRUE(AreNeeded(work + "def run(resume):\n  mp.spawn(work, args=(resume,), nprocs=2)\nrun(resume=False)\n"));
  EXPECT_FALSE(AreNeeded(work + "def run(resume):\n  mp.spawn(work, args=(resume,), nprocs=2)\nrun(resume=True)\n"));
  EXPECT_FALSE(AreNeeded(work + "mp.spawn(work, nprocs=2)\n"));
}

TEST_F(UnpassedArgumentsTest, AFunctionThatIsCalledThereOnly) {
  const std::string save = "def save():\n  here()\ndef run(debug=False):\n  if debug:\n    save()\n";
  EXPECT_TRUE(AreNeeded(save + "run()\n"));
  EXPECT_FALSE(AreNeeded(save + "run()\nsave()\n"));
}

TEST_F(UnpassedArgumentsTest, AnotherArm) {
  EXPECT_FALSE(AreNeeded("def run(debug=False):\n  if debug:\n    pass\n  else:\n    here()\nrun()\n"));
  EXPECT_TRUE(AreNeeded("def run(mode='a'):\n  if mode == 'b':\n    here()\nrun()\n"));
  EXPECT_FALSE(AreNeeded("def run(mode='a', other=None):\n  if mode == 'b' or other is None:\n    here()\nrun()\n"));
}

TEST_F(UnpassedArgumentsTest, AFieldThatTheConstructorIsGiven) {
  const std::string tracker = "class Tracker:\n  def __init__(self, visualize=False):\n    self.visualize = visualize\n"
                              "  def update(self):\n    if self.visualize:\n      here()\n";
  EXPECT_TRUE(AreNeeded(tracker + "Tracker().update()\n"));
  EXPECT_FALSE(AreNeeded(tracker + "Tracker(True).update()\n"));
}

}  // namespace
}  // namespace allranks::objects
