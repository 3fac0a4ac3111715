// Statements with blocks, other than definitions (definitions.cpp) and `match` (match.cpp).
#include "frontends/python/lowering.h"

namespace allranks::python {

// An `elif` is an `If` in the else block of the one before, so each lies one level deeper than the last.
StmtId Lowering::If() {
  const Range range = this->range();
  const uint32_t depth = depth_;
  const bool damaged = IsDamaged();
  Scratch<IfPart> parts(&if_store_);
  parts.Add({.test = {}, .block = {}, .begin = range.begin});
  BlockId else_block;
  bool too_deep = false;
  cursor_->ForEachChild([&](Kind child) {
    if (too_deep) return cursor_->NoteCommentsBelow();
    if (child == Kind::ElifClause && at_limit()) {
      too_deep = true;
      else_block = TooDeepBlock({cursor_->begin(), range.end});
    } else if (child == Kind::ElifClause) {
      ++depth_;
      parts.Add({.test = {}, .block = {}, .begin = cursor_->begin()});
      cursor_->ForEachChild([&](Kind inner) { IfPartOf(inner, &parts); });
    } else if (child == Kind::ElseClause) {
      else_block = BlockInside();
    } else {
      IfPartOf(child, &parts);
    }
  });
  depth_ = depth;
  for (size_t i = parts.size(); i-- > 0;) {
    const IfPart part = parts[i];
    ExprId test = part.test ? part.test : MissingExpr(part.begin);
    if (damaged && i == 0) test = builder_.Opaque(range, {&test, 1});
    const BlockId then_block = part.block ? part.block : builder_.Block({});
    const StmtId statement[] = {builder_.If({part.begin, range.end}, test, then_block, else_block)};
    if (i == 0) return statement[0];
    else_block = builder_.Block(statement);
  }
  return {};
}

void Lowering::IfPartOf(Kind child, Scratch<IfPart>* parts) {
  const size_t last = parts->size() - 1;
  if (IsExpression(child) && !(*parts)[last].test) {
    const ExprId test = Expression();
    (*parts)[last].test = test;
  } else if (child == Kind::Block && !(*parts)[last].block) {
    const BlockId block = Block();
    (*parts)[last].block = block;
  }
}

BlockId Lowering::TooDeepBlock(Range range) {
  AddTooDeep(range);
  cursor_->NoteCommentsBelow();
  const StmtId opaque[] = {builder_.OpaqueStmt(range, {})};
  return builder_.Block(opaque);
}

StmtId Lowering::For() {
  const Range range = this->range();
  bool is_async = false;
  bool after_in = false;
  ExprId target;
  ExprId iterable;
  BlockId body;
  BlockId else_block;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::AsyncToken) is_async = true;
    if (child == Kind::InToken) after_in = true;
    if (child == Kind::Block && !body) body = Block();
    if (child == Kind::ElseClause) else_block = BlockInside();
    if (!IsExpression(child)) return;
    ExprId& part = after_in ? iterable : target;
    if (!part) part = Expression();
  });
  if (!target) target = MissingExpr(range.begin);
  if (!iterable) iterable = MissingExpr(range.begin);
  if (!body) body = builder_.Block({});
  return builder_.For(range, is_async, target, iterable, body, else_block);
}

StmtId Lowering::While() {
  const Range range = this->range();
  const bool damaged = IsDamaged();
  ExprId test;
  BlockId body;
  BlockId else_block;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::Block && !body) body = Block();
    if (child == Kind::ElseClause) else_block = BlockInside();
    if (IsExpression(child) && !test) test = Expression();
  });
  if (!test) test = MissingExpr(range.begin);
  if (damaged) test = builder_.Opaque(range, {&test, 1});
  if (!body) body = builder_.Block({});
  return builder_.While(range, test, body, else_block);
}

StmtId Lowering::Try() {
  const Range range = this->range();
  bool is_group = false;
  BlockId body;
  BlockId else_block;
  BlockId finally_block;
  Scratch<ir::Handler> handlers(&handler_store_);
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::Block && !body) body = Block();
    if (child == Kind::ExceptClause) handlers.Add(ExceptClause(&is_group));
    if (child == Kind::ElseClause) else_block = BlockInside();
    if (child == Kind::FinallyClause) finally_block = BlockInside();
  });
  if (!has_errors_ && handlers.empty() && !finally_block) {
    AddSyntaxProblem({range.begin, range.begin}, "`try` without `except` or `finally`");
  }
  if (!body) body = builder_.Block({});
  return builder_.Try(range, is_group, body, handlers.items(), else_block, finally_block);
}

// `except A as e:`, and `except A, B:` with the types of both.
ir::Handler Lowering::ExceptClause(bool* is_group) {
  ir::Handler handler = {.begin = cursor_->begin(), .end = cursor_->end()};
  bool after_as = false;
  bool has_colon = false;
  ExprList types(&expr_store_);
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::StarToken) *is_group = true;
    if (child == Kind::AsToken) after_as = true;
    if (child == Kind::ColonToken && !has_colon) {
      has_colon = true;
      handler.end = cursor_->end();
    }
    if (child == Kind::Block && !handler.body) {
      handler.body = Block();
    } else if (IsExpression(child) && after_as) {
      handler.name = NameHere();
    } else if (IsExpression(child)) {
      const ir::WithItem item = ExpressionAs();
      types.Add(item.context);
      if (item.target) handler.name = NameOfExpr(item.target);
    }
  });
  if (types.size() == 1) handler.type = types[0];
  if (types.size() > 1) handler.type = builder_.Tuple({handler.begin, handler.end}, types.items());
  if (!handler.body) handler.body = builder_.Block({});
  return handler;
}

NameId Lowering::NameOfExpr(ExprId id) const {
  if (!id || builder_.module()[id].kind != ir::ExprKind::Name) return {};
  return ir::NameOf(builder_.module()[id]);
}

StmtId Lowering::With() {
  const Range range = this->range();
  bool is_async = false;
  BlockId body;
  Scratch<ir::WithItem> items(&with_store_);
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::AsyncToken) is_async = true;
    if (child == Kind::Block && !body) body = Block();
    if (child == Kind::WithClause) WithClause(&items);
  });
  if (!body) body = builder_.Block({});
  return builder_.With(range, is_async, items.items(), body);
}

void Lowering::WithClause(Scratch<ir::WithItem>* items) {
  // `with (a as b, c as d,):` looks like one tuple.
  const bool may_be_tuple = cursor_->CountChildren(2) == 1;
  cursor_->ForEachChild([&](Kind child) {
    if (child != Kind::WithItem) return;
    if (!may_be_tuple || !cursor_->HasChild(Kind::Tuple)) return items->Add(WithItem());
    cursor_->ForEachChild([&](Kind value) {
      if (value != Kind::Tuple) return;
      cursor_->ForEachChild([&](Kind element) {
        if (IsExpression(element)) items->Add(ExpressionAs());
      });
    });
  });
}

ir::WithItem Lowering::WithItem() {
  ir::WithItem item;
  const uint32_t end = cursor_->end();
  cursor_->ForEachChild([&](Kind child) {
    if (IsExpression(child) && !item.context) item = ExpressionAs();
  });
  if (!item.context) item.context = MissingExpr(end);
  return item;
}

ir::WithItem Lowering::ExpressionAs() {
  ir::WithItem item;
  ExprId* const outer = as_target_;
  as_target_ = &item.target;
  item.context = Expression();
  as_target_ = outer;
  return item;
}

}  // namespace allranks::python
