#include "analyzer/objects/flow_from.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class FlowFromTest : public ObjectsTest {
 protected:
  // What is known of the argument of `asked(...)`, from the call of `make()` on: "holds", "total", or nothing.
  std::string Known(std::string text, std::vector<bool> items = {}) {
    Read(std::move(text));
    const Site asked = Asked();
    const ir::ModuleId module_id{0};
    const ir::Module& module = program().modules[module_id];
    ir::ExprId seed;
    for (const ir::ExprId call : index().ExprsOf(module_id, ir::ExprKind::Call)) {
      const ir::Expr& callee = module[ir::CalleeOf(module[call])];
      if (callee.kind == ir::ExprKind::Name && program().text(ir::NameOf(callee)) == "make") seed = call;
    }
    const FlowFrom flow(program(), index(), asked.function, {seed}, 0, {}, {}, {}, std::move(items));
    if (!flow.Holds(asked.expr)) return "";
    return flow.IsOfTotal(asked.expr) ? "total" : "holds";
  }
};

TEST_F(FlowFromTest, WhatRoundsAddToIsATotal) {
  EXPECT_EQ(Known("def f(batches):\n  total = 0\n  for x in batches:\n    loss = make()\n    total += loss\n  asked(total / 8)\n"), "total");
  EXPECT_EQ(Known("def f(batches):\n  total = 0\n  for x in batches:\n    loss = make()\n    total = total + loss\n  asked(total)\n"), "total");
  EXPECT_EQ(Known("def f(batches):\n  seen = []\n  for x in batches:\n    seen.append(make())\n  asked(sum(seen))\n"), "total");
  EXPECT_EQ(Known("def f(batches):\n  seen = {}\n  for x in batches:\n    y = make()\n    seen[y.id] = y\n  asked(rate(seen))\n"), "total");
  EXPECT_EQ(Known("def f(batches):\n  seen = {}\n  for x in batches:\n    y = make()\n    seen['y'] = y\n  asked(rate(seen))\n"), "holds");
}

TEST_F(FlowFromTest, TheLastRoundIsNone) {
  EXPECT_EQ(Known("def f(batches):\n  for x in batches:\n    loss = make()\n  asked(loss)\n"), "holds");
  EXPECT_EQ(Known("def f(batches):\n  for x in batches:\n    loss = make()\n    loss /= 2\n  asked(loss)\n"), "holds");
}

TEST_F(FlowFromTest, ASumWithinARoundIsNone) {
  const std::string loop = "def f(batches, many):\n  for x in batches:\n";
  EXPECT_EQ(Known(loop + "    loss = make()\n    loss += aux(x)\n    loss = loss + aux(x)\n  asked(loss)\n"), "holds");
  EXPECT_EQ(Known(loop + "    loss = 0\n    for part in many:\n      loss += make()\n  asked(loss)\n"), "total");
  EXPECT_EQ(Known(loop + "    part = make()\n    loss = 0\n    for y in many:\n      loss += part * y\n  asked(loss)\n"), "holds");
  EXPECT_EQ(Known(loop + "    parts = []\n    parts.append(make())\n  asked(sum(parts))\n"), "holds");
  EXPECT_EQ(Known(loop + "    if many:\n      loss = make()\n    else:\n      loss = 0\n    loss += make()\n  asked(loss)\n"), "holds");
  // What is begun anew now and then adds up several rounds.
  EXPECT_EQ(Known(loop + "    if x == 100:\n      total = 0\n    total += make()\n  asked(total)\n"), "total");
  EXPECT_EQ(Known(loop + "    total = total * 0.9\n    total += make()\n  asked(total)\n"), "total");
}

TEST_F(FlowFromTest, AnAnnotatedAssignmentBeginsAnew) {
  const std::string text = "def f(batches):\n  total = 0\n  for x in batches:\n    total += make()\n  ";
  EXPECT_EQ(Known(text + "total: float = 0\n  asked(total)\n"), "");
  EXPECT_EQ(Known(text + "total: float = total / 8\n  asked(total)\n"), "total");
  EXPECT_EQ(Known("def f(batches):\n  for x in batches:\n    loss: float = make()\n    loss += aux(x)\n  asked(loss)\n"), "holds");
}

TEST_F(FlowFromTest, KeysOfADictionaryAreNotMadeOfIt) {
  const std::string text = "def f(sums):\n  sums['a'] = make()\n  for name in sums:\n";
  EXPECT_EQ(Known(text + "    asked(name)\n    use(sums[name])\n"), "");
  EXPECT_EQ(Known(text + "    asked(sums[name])\n"), "holds");
  EXPECT_EQ(Known(text + "    asked(name)\n"), "holds");
}

TEST_F(FlowFromTest, ItemsOfWhatIsReturned) {
  const std::string text = "def f():\n  steps, loss = make()\n  asked(";
  EXPECT_EQ(Known(text + "loss)\n", {false, true}), "holds");
  EXPECT_EQ(Known(text + "steps)\n", {false, true}), "");
  EXPECT_EQ(Known(text + "steps)\n"), "holds");
  // Another number of items is another function's.
  EXPECT_EQ(Known(text + "steps)\n", {false, true, true}), "holds");
}

TEST_F(FlowFromTest, KeysAreNotMadeOfTheValues) {
  const std::string text = "def f():\n  table = {}\n  table['a'] = make()\n";
  EXPECT_EQ(Known(text + "  for key, value in sorted(table.items()):\n    asked(value)\n"), "holds");
  EXPECT_EQ(Known(text + "  for key, value in sorted(table.items()):\n    asked(key)\n"), "");
  EXPECT_EQ(Known(text + "  for key in table.keys():\n    asked(key)\n"), "");
}

TEST_F(FlowFromTest, WhatIsAroundTheItems) {
  const std::string text = "def f(names):\n  table = {}\n  table['a'] = make()\n";
  EXPECT_EQ(Known(text + "  for pair, name in zip(table.items(), names):\n    asked(pair)\n"), "holds");
  EXPECT_EQ(Known(text + "  for key, value in tqdm(table.items(), desc='a'):\n    asked(key)\n"), "");
  EXPECT_EQ(Known(text + "  for i, (key, value) in enumerate(table.items(), 1):\n    asked(value)\n"), "holds");
  EXPECT_EQ(Known(text + "  for i, (key, value) in enumerate(table.items(), 1):\n    asked(key)\n"), "");
  EXPECT_EQ(Known(text + "  for i, value in tqdm(enumerate(table.values())):\n    asked(value)\n"), "holds");
  EXPECT_EQ(Known(text + "  for i, value in tqdm(enumerate(table.values())):\n    asked(i)\n"), "");
}

TEST_F(FlowFromTest, AnObjectThatIsHandedToItself) {
  EXPECT_EQ(Known("class A:\n  def f(self):\n    self.note(make())\n    asked(self.name)\n"), "");
  EXPECT_EQ(Known("class A:\n  def f(self):\n    self.meter.update(make())\n    asked(self.meter.mean)\n"), "total");
  EXPECT_EQ(Known("class A:\n  @classmethod\n  def f(cls):\n    cls.note(make())\n    asked(cls.name)\n"), "");
  EXPECT_EQ(Known("class A:\n  @staticmethod\n  def f(meter):\n    meter.update(make())\n    asked(meter.mean)\n"), "total");
}

TEST_F(FlowFromTest, WhichVariablesHeldItAtSomePlace) {
  Read("def f(self, other):\n  loss = make()\n  self.total += loss\n  loss = 0\n");
  const ir::ModuleId module_id{0};
  ir::ExprId seed;
  for (const ir::ExprId call : index().ExprsOf(module_id, ir::ExprKind::Call)) seed = call;
  const FuncId function = index().FunctionOf(module_id, index().tree(module_id).StatementOf(seed));
  const FlowFrom flow(program(), index(), function, {seed}, 0);
  const auto name = [&](std::string_view text) { return program().names->Find(text); };
  EXPECT_TRUE(flow.IsEverIn(name("loss")));
  EXPECT_FALSE(flow.IsEverInFieldOf(name("loss")));
  EXPECT_TRUE(flow.IsEverInFieldOf(name("self")));
  EXPECT_FALSE(flow.IsEverIn(name("other")));
}

}  // namespace
}  // namespace allranks::objects
