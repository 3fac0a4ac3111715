#include "analyzer/objects/module_use.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class ModuleUseTest : public ObjectsTest {
 protected:
  // What the class `Net`, whose `__init__` and `forward` have these bodies, does with its one part.
  PartUse PartOf(const std::string& init, const std::string& forward) {
    Read("import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self, depth):\n        super().__init__()\n        " + init +
         "\n    def forward(self, x):\n" + forward + "\nNet(4)\n");
    const Guards guards(program(), index());
    const ModuleUses uses(program(), knowledge(), facts(), index(), guards);
    for (uint32_t c = 0; c < program().classes.size(); ++c) {
      const ModuleUse use = uses.Of(binding::ClassId{c});
      if (program().text(program().ir_class(binding::ClassId{c}).name) != "Net") continue;
      EXPECT_TRUE(use.is_known);
      if (use.parts.size() == 1) return use.parts[0];
    }
    ADD_FAILURE() << "Net has not one part";
    return {};
  }
};

constexpr const char* kList = "self.blocks = nn.ModuleList([nn.Linear(3, 3) for _ in range(depth)])";

TEST_F(ModuleUseTest, ListOfManyHoldsParameters) {
  EXPECT_EQ(PartOf(kList, "        return x").use, Use::Never);
  const PartUse part = PartOf(kList, "        for block in self.blocks:\n            x = block(x)\n        return x");
  EXPECT_EQ(part.use, Use::Always);
  EXPECT_EQ(part.run, PartRun::Whole);
  EXPECT_FALSE(part.choice.has_value());
}

TEST_F(ModuleUseTest, ListsThatGrowHoldParameters) {
  const std::string forward = "        for block in self.blocks:\n            x = block(x)\n        return x";
  EXPECT_EQ(PartOf("self.blocks = nn.ModuleList()\n        for _ in range(depth):\n            self.blocks.append(nn.Linear(3, 3))", forward).use, Use::Always);
  EXPECT_EQ(PartOf("blocks = []\n        for _ in range(depth):\n            blocks.append(nn.Linear(3, 3))\n        self.blocks = nn.ModuleList(blocks)", "        return x").use,
            Use::Never);
}

TEST_F(ModuleUseTest, ItemsThatATestLeavesOut) {
  EXPECT_TRUE(PartOf(kList, "        for i, block in enumerate(self.blocks):\n            if torch.rand(1) < 0.5:\n                continue\n"
                            "            x = block(x)\n        return x")
                  .choice.has_value());
  EXPECT_TRUE(PartOf(kList, "        for block in self.blocks:\n            if i > 2:\n                x = block(x)\n        return x").choice.has_value());
}

TEST_F(ModuleUseTest, ItemsThatAreRunAllTheSame) {
  EXPECT_FALSE(PartOf(kList, "        for block in self.blocks:\n            if x.ndim > 2:\n                y = block(x)\n            else:\n                y = x\n"
                             "            x = block(y)\n        return x")
                   .choice.has_value());
  EXPECT_FALSE(PartOf(kList, "        if x.ndim > 2:\n            x = x[0]\n        for block in self.blocks:\n            x = block(x)\n        return x")
                   .choice.has_value());
}

}  // namespace
}  // namespace allranks::objects
