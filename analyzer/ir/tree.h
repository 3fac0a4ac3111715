// What a node of a module is part of: the tree read upwards.
#pragma once

#include "analyzer/ir/program.h"

namespace allranks::ir {

class Tree {
 public:
  explicit Tree(const Module& module);

  // The expression of which `expr` is a direct part; none: it stands directly in a statement.
  ExprId Parent(ExprId expr) const { return expr_parent_[expr]; }
  // The statement whose own expressions hold `expr`; none for defaults, decorators and the like.
  StmtId StatementOf(ExprId expr) const { return expr_stmt_[expr]; }
  // The statement in one of whose blocks `stmt` stands; none at the top of a function or class.
  StmtId Parent(StmtId stmt) const { return stmt_parent_[stmt]; }
  // The block it stands in, and the function whose body that belongs to.
  BlockId BlockOf(StmtId stmt) const { return stmt_block_[stmt]; }
  FunctionId FunctionOf(StmtId stmt) const { return stmt_function_[stmt]; }
  // True if `outer` is `inner` or a statement around it, within one function.
  bool Holds(StmtId outer, StmtId inner) const;
  // Whether it stands in the body of a class, and in no function of that.
  bool IsInClass(StmtId stmt) const;
  // Whether a round of `loop` that has come past `stmt` is the last: a `break` or `return` stands behind it.
  bool LeavesBehind(StmtId loop, StmtId stmt) const;
  // Whether whoever has come past `stmt` ends its function with an exception: a `raise` stands behind it, and no `try` around it.
  bool RaisesBehind(StmtId stmt) const;

 private:
  void AddBlock(BlockId block, StmtId parent, FunctionId function);
  void AddStmt(StmtId stmt, FunctionId function);
  void AddExpr(ExprId expr, ExprId parent, StmtId stmt);

  const Module& module_;
  base::IdVector<ExprId, ExprId> expr_parent_;
  base::IdVector<ExprId, StmtId> expr_stmt_;
  base::IdVector<StmtId, StmtId> stmt_parent_;
  base::IdVector<StmtId, BlockId> stmt_block_;
  base::IdVector<StmtId, FunctionId> stmt_function_;
};

}  // namespace allranks::ir
