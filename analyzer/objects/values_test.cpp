#include "analyzer/objects/values.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class ValuesTest : public ObjectsTest {
 protected:
  ValueId Value(const std::string& text) {
    Read("import torch\n" + text);
    values_ = std::make_unique<Values>(program(), knowledge(), facts());
    return facts().value(ir::ModuleId{0}, Asked().expr);
  }
  const Values& values() const { return *values_; }
  bool IsA(const std::string& text, std::string_view known) {
    const ValueId value = Value(text);
    return values().IsA(value, known);
  }
  const traces::World world_ = {.nodes = 2, .per_node = 2};

 private:
  std::unique_ptr<Values> values_;
};

TEST_F(ValuesTest, LeavesAreBothArmsAndWhatCallersPass) {
  const ValueId value = Value("def f(a):\n  b = a if unknown else 3\n  asked(b)\ndef g():\n  f(1)\n");
  std::vector<std::optional<int64_t>> numbers;
  for (const ValueId leaf : values().Leaves(value)) numbers.push_back(values().Int(leaf));
  EXPECT_EQ(numbers, (std::vector<std::optional<int64_t>>{1, 3}));
}

TEST_F(ValuesTest, InAJobATestOfItsSizeLeavesOneArm) {
  const ValueId value = Value("def f():\n  asked(1 if dist.get_world_size() > 1 else 2)\n");
  const std::vector<ValueId> leaves = values().LeavesIn(value, world_);
  ASSERT_EQ(leaves.size(), 1u);
  EXPECT_EQ(values().Int(leaves[0]), 1);
}

TEST_F(ValuesTest, ClassesOfLibrariesAndOfTheProjectBelowThem) {
  EXPECT_TRUE(IsA("def f():\n  asked(torch.nn.Linear(1, 2))\n", "torch.nn.Module"));
  EXPECT_TRUE(IsA("class Net(torch.nn.Module):\n  pass\ndef f():\n  asked(Net())\n", "torch.nn.Module"));
  EXPECT_FALSE(IsA("class Net:\n  pass\ndef f():\n  asked(Net())\n", "torch.nn.Module"));
}

TEST_F(ValuesTest, WhatAnObjectWasMadeWith) {
  const ValueId loader = Value("def f(data):\n  asked(torch.utils.data.DataLoader(data, batch_size=8))\n");
  EXPECT_EQ(values().Int(values().MadeWith(loader, "batch_size")), 8);
  EXPECT_FALSE(values().MadeWith(loader, "sampler"));
}

TEST_F(ValuesTest, NumbersAndTestsOnARank) {
  const ValueId number = Value("def f():\n  asked(dist.get_rank() + 1)\n");
  EXPECT_EQ(values().OnRank(number, world_, 2), 3);
  const ValueId test = Value("def f():\n  asked(dist.get_rank() == 0)\n");
  EXPECT_EQ(values().TruthOnRank(test, world_, 0), true);
  EXPECT_EQ(values().TruthOnRank(test, world_, 3), false);
}

TEST_F(ValuesTest, NothingOnSomeRanks) {
  const ValueId writer = Value("def f():\n  asked(torch.nn.Linear(1, 2) if dist.get_rank() == 0 else None)\n");
  EXPECT_EQ(values().IsNoneOnRank(writer, world_, 0), false);
  EXPECT_EQ(values().IsNoneOnRank(writer, world_, 1), true);
}

}  // namespace
}  // namespace allranks::objects
