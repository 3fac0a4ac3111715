#include "analyzer/variation/failures.h"

#include "analyzer/variation/program_test.h"

namespace allranks::variation {
namespace {

class FailuresTest : public ProgramTest {
 protected:
  const ir::Stmt& Try() {
    for (uint32_t i = 0; i < module().stmts.size(); ++i) {
      if (module()[ir::StmtId{i}].kind == ir::StmtKind::Try) return module()[ir::StmtId{i}];
    }
    ADD_FAILURE() << "no try";
    return module()[ir::StmtId{0}];
  }
  ir::ExprId Type() { return ir::HandlersOf(module(), Try())[0].type; }
  bool ForAll() { return StrikesAll(tables().knowledge, module(), Type()); }
  bool ForOne() { return StrikesOne(tables().knowledge, module(), Type()); }
  bool MayFailAloneIn(std::string_view function) {
    const FuncId id = Function(function);
    return MayFailAlone(tables(), id, ir::BlockId{Try().a}, tables().facts.functions[id].calls);
  }
};

TEST_F(FailuresTest, ATypeThatStrikesAllRanks) {
  Read("try:\n    import apex\nexcept ImportError:\n    apex = None\n");
  EXPECT_TRUE(ForAll());
  EXPECT_FALSE(ForOne());
}

TEST_F(FailuresTest, WithoutATypeItMayBeAny) {
  Read("try:\n    dist.barrier()\nexcept:\n    pass\n");
  EXPECT_FALSE(ForAll());
  EXPECT_TRUE(ForOne());
}

TEST_F(FailuresTest, ATupleIsAsWideAsAnyInIt) {
  Read("try:\n    dist.barrier()\nexcept (ImportError, MemoryError):\n    pass\n");
  EXPECT_FALSE(ForAll());
  EXPECT_TRUE(ForOne());
}

TEST_F(FailuresTest, AFileIsReadInAHelperToo) {
  Read(R"(
import torch
def load(path):
    return torch.load(path)
def resume(path):
    try:
        return load(path)
    except Exception:
        return None
)");
  EXPECT_TRUE(MayFailAloneIn("resume"));
}

TEST_F(FailuresTest, WhatReadsNothingFailsOnAll) {
  Read(R"(
def make(size):
    return [0] * size
def resume(size):
    try:
        return make(size)
    except Exception:
        return None
)");
  EXPECT_FALSE(MayFailAloneIn("resume"));
}

}  // namespace
}  // namespace allranks::variation
