#include "analyzer/objects/parameter_changes.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class ParameterChangesTest : public ObjectsTest {
 protected:
  bool Changes(std::string text) { return Asked(std::move(text), false); }
  bool ChangesSome(std::string text) { return Asked(std::move(text), true); }

 private:
  bool Asked(std::string text, bool of_some) {
    Read(std::move(text));
    const ParameterChanges changes(program(), facts(), index());
    for (uint32_t f = 0; f < program().funcs.size(); ++f) {
      if (program().text(program().function(FuncId{f}).name) != "asked") continue;
      return bool(of_some ? changes.OfSomeIn(FuncId{f}, 0) : changes.In(FuncId{f}, 0));
    }
    ADD_FAILURE() << "asked() is not defined";
    return false;
  }
};

TEST_F(ParameterChangesTest, InALoopOverItsParameters) {
  EXPECT_TRUE(Changes("def asked(part):\n    for p in part.parameters():\n        p.requires_grad = False\n"));
  EXPECT_TRUE(Changes("def asked(model):\n    for n, p in model.head.named_parameters():\n"
                      "        if 'bias' in n:\n            p.requires_grad_(True)\n"));
  EXPECT_FALSE(Changes("def asked(model, other):\n    for p in other.parameters():\n        p.requires_grad = False\n"));
  EXPECT_FALSE(Changes("def asked(model):\n    for p in model.parameters():\n        print(p.requires_grad)\n"));
}

TEST_F(ParameterChangesTest, OfSomeWhereATestSaysWhich) {
  EXPECT_TRUE(ChangesSome("def asked(model):\n    for n, p in model.named_parameters():\n"
                          "        if 'bias' not in n:\n            p.requires_grad = False\n"));
  EXPECT_TRUE(ChangesSome("def kept(model):\n    for n, p in model.module.named_parameters():\n"
                          "        if 'bias' not in n:\n            p.requires_grad = False\n    return [model]\n"
                          "def asked(model):\n    groups = kept(model)\n    return groups\n"));
  EXPECT_FALSE(ChangesSome("def asked(model):\n    for p in model.parameters():\n        p.requires_grad = False\n"));
  EXPECT_FALSE(ChangesSome("def asked(model, flag):\n    if flag:\n        for p in model.parameters():\n            p.requires_grad = False\n"));
}

TEST_F(ParameterChangesTest, OfAPartAndInAHelper) {
  EXPECT_TRUE(Changes("def asked(model):\n    model.body.requires_grad_(False)\n"));
  EXPECT_TRUE(Changes("def freeze(part):\n    part.weight.requires_grad = False\ndef asked(model):\n    freeze(model.body)\n"));
  EXPECT_FALSE(Changes("def freeze(part):\n    part.weight.requires_grad = False\ndef asked(model):\n    freeze(other)\n"));
}

}  // namespace
}  // namespace allranks::objects
