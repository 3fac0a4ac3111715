// Simple statements, blocks, and what the parser could not fit.
#include <algorithm>
#include <optional>
#include <utility>

#include "frontends/python/lowering.h"
#include "frontends/python/syntax_errors.h"

namespace allranks::python {

void Lowering::Tree(TSNode root, std::string_view text) {
  text_ = text;
  Cursor cursor(root, &builder_);
  cursor_ = &cursor;
  has_errors_ = cursor.has_error();
  depth_ = 1;
  StmtList statements(&stmt_store_);
  if (kind() == Kind::Error) {
    ErrorNode(&statements, false);
  } else {
    cursor.ForEachChild([&](Kind) { Statement(&statements); });
  }
  top_level_.insert(top_level_.end(), statements.items().begin(), statements.items().end());
  cursor_ = nullptr;
}

void Lowering::Unreadable(Range range, std::string why) {
  builder_.AddProblem(ir::ProblemKind::Limit, range, std::move(why));
  top_level_.push_back(builder_.OpaqueStmt(range, {}));
}

bool Lowering::IsMasked(uint32_t offset) const {
  const auto holds = [offset](Range range) { return range.begin <= offset && offset < range.end; };
  return std::any_of(masked_.begin(), masked_.end(), holds);
}

void Lowering::FinishTopLevel() {
  ir::Function& function = builder_.EditFunction(ir::kTopLevel);
  function.body = builder_.Block(top_level_);
  function.is_generator = scope_.has_yield;
}

// Adds the statement at the cursor: none for a docstring, several for a stretch that could not be parsed.
void Lowering::Look() {
  constexpr uint32_t kBetweenLooks = 256;
  if (++looks_ % kBetweenLooks == 0 && is_over_ && is_over_()) throw GivenUp();
}

void Lowering::Statement(StmtList* out) {
  Look();
  if (kind() == Kind::Error) return ErrorNode(out, false);
  if (!IsStatement(kind())) return;
  if (at_limit()) {
    const Range range = this->range();
    AddTooDeep(range);
    cursor_->NoteCommentsBelow();
    out->Add(builder_.OpaqueStmt(range, {}));
    return;
  }
  const Deeper deeper(this);
  if (const StmtId id = StatementHere()) out->Add(id);
}

StmtId Lowering::StatementHere() {
  const Range range = this->range();
  switch (kind()) {
    case Kind::IfStatement:
      return If();
    case Kind::ForStatement:
      return For();
    case Kind::WhileStatement:
      return While();
    case Kind::TryStatement:
      return Try();
    case Kind::WithStatement:
      return With();
    case Kind::MatchStatement:
      return Match();
    case Kind::FunctionDefinition:
      return FunctionDefinition(range, {});
    case Kind::ClassDefinition:
      return ClassDefinition(range, {});
    case Kind::DecoratedDefinition:
      return Decorated();
    default:
      break;
  }
  if (IsDamaged()) return OpaqueStatement();
  switch (kind()) {
    case Kind::ExpressionStatement:
      return ExpressionStatement();
    case Kind::ImportStatement:
      return Import();
    case Kind::FutureImportStatement:
    case Kind::ImportFromStatement:
      return ImportFrom();
    case Kind::AssertStatement:
      return Assert();
    case Kind::ReturnStatement:
      return Return();
    case Kind::DeleteStatement:
      return Delete();
    case Kind::RaiseStatement:
      return Raise();
    case Kind::PassStatement:
      return IsMasked(range.begin) ? OpaqueStatement() : builder_.Pass(range);
    case Kind::BreakStatement:
      return builder_.Break(range);
    case Kind::ContinueStatement:
      return builder_.Continue(range);
    case Kind::GlobalStatement:
      return Names(true);
    case Kind::NonlocalStatement:
      return Names(false);
    case Kind::TypeAliasStatement:
      return TypeAlias();
    case Kind::PrintStatement:
      return PythonTwoStatement("print");
    case Kind::ExecStatement:
      return PythonTwoStatement("exec");
    default:
      return OpaqueStatement();
  }
}

// What could not be parsed still holds whole statements, and expressions that stood in broken ones.
// `is_marked`: an opaque statement before it says already that something could not be read.
void Lowering::ErrorNode(StmtList* out, bool is_marked) {
  const Range range = this->range();
  if (at_limit()) {
    cursor_->NoteCommentsBelow();
    out->Add(builder_.OpaqueStmt(range, {}));
    return;
  }
  const Deeper deeper(this);
  ExprList parts(&expr_store_);
  const auto mark = [&] {
    if (is_marked && parts.empty()) return;
    out->Add(builder_.OpaqueStmt(range, parts.items()));
    parts.Clear();
    is_marked = true;
  };
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::Block) {
      mark();
      BlockStatements(out);
    } else if (IsStatement(child)) {
      mark();
      Statement(out);
    } else if (child == Kind::Error) {
      mark();
      ErrorNode(out, true);
    } else if (IsExpression(child)) {
      parts.Add(Expression());
    } else if (child != Kind::Other) {
      CollectExpressions(&parts);
    }
  });
  mark();
}

void Lowering::BlockStatements(StmtList* out) {
  cursor_->ForEachChild([&](Kind) { Statement(out); });
}

BlockId Lowering::Block() {
  // The grammar lets a block be empty, Python does not.
  if (!has_errors_ && masked_.empty() && cursor_->CountChildren(1) == 0) {
    AddSyntaxProblem({cursor_->begin(), cursor_->begin()}, "expected an indented block");
  }
  StmtList statements(&stmt_store_);
  BlockStatements(&statements);
  return builder_.Block(statements.items());
}

BlockId Lowering::BlockInside() {
  BlockId block;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::Block && !block) block = Block();
  });
  return block ? block : builder_.Block({});
}

void Lowering::AddSyntaxProblem(Range range, std::string text) {
  AddSyntaxError({.range = range, .text = std::move(text)}, &builder_);
}

StmtId Lowering::OpaqueStatement() {
  const Range range = this->range();
  ExprList parts(&expr_store_);
  CollectExpressions(&parts);
  return builder_.OpaqueStmt(range, parts.items());
}

StmtId Lowering::ExpressionStatement() {
  if (IsDocstring()) return {};
  const Range range = this->range();
  StmtId statement;
  bool has_comma = false;
  ExprList values(&expr_store_);
  cursor_->ForEachChild([&](Kind child) {
    has_comma = has_comma || child == Kind::CommaToken;
    if (child == Kind::Assignment) {
      statement = Assignment(range);
    } else if (child == Kind::AugmentedAssignment) {
      statement = AugmentedAssignment(range);
    } else if (IsExpression(child)) {
      values.Add(Element());
    }
  });
  if (statement) return statement;
  if (values.size() != 1 || has_comma) return builder_.ExprStmt(range, builder_.Tuple(range, values.items()));
  // A docstring of several literals.
  if (builder_.IsText(values[0])) return {};
  return builder_.ExprStmt(range, values[0]);
}

// A string that nobody reads: without interpolations it does nothing.
bool Lowering::IsDocstring() {
  if (!cursor_->HasChild(Kind::String)) return false;
  bool is_docstring = true;
  cursor_->ForEachChild([&](Kind child) {
    is_docstring = is_docstring && child == Kind::String && !cursor_->HasChild(Kind::Interpolation);
  });
  return is_docstring;
}

// `a = b = value`, `a: T = value`. The grammar nests chained assignments to the right.
StmtId Lowering::Assignment(Range range) {
  ExprList targets(&expr_store_);
  ExprId annotation;
  ExprId value;
  size_t entered = 0;
  bool damaged = IsDamaged();
  for (bool inside = cursor_->Down(); inside;) {
    ++entered;
    bool chained = false;
    bool after_equals = false;
    do {
      if (kind() == Kind::EqualsToken) after_equals = true;
      if (kind() == Kind::Type) {
        annotation = Expression();
      } else if (kind() == Kind::Assignment) {
        chained = true;
        break;
      } else if (kind() == Kind::AugmentedAssignment) {
        value = Opaque();
      } else if (IsExpression(kind())) {
        after_equals ? void(value = Expression()) : targets.Add(Expression());
      }
    } while (cursor_->Next());
    damaged = damaged || (chained && IsDamaged());
    inside = chained && cursor_->Down();
  }
  for (; entered > 0; --entered) {
    while (cursor_->Next()) {
    }
    cursor_->Up();
  }
  if (damaged || targets.empty()) {
    if (annotation) targets.Add(annotation);
    if (value) targets.Add(value);
    return builder_.OpaqueStmt(range, targets.items());
  }
  if (annotation) return builder_.AnnAssign(range, targets[0], annotation, value);
  return builder_.Assign(range, targets.items(), value ? value : MissingExpr(range.end));
}

StmtId Lowering::AugmentedAssignment(Range range) {
  if (IsDamaged()) return OpaqueStatement();
  ir::BinaryOp op = ir::BinaryOp::Add;
  ExprId target;
  ExprId value;
  cursor_->ForEachChild([&](Kind child) {
    if (const std::optional<ir::BinaryOp> found = AugmentedOpOf(child)) op = *found;
    if (!IsExpression(child)) return;
    ExprId& part = target ? value : target;
    if (!part) part = Expression();
  });
  if (!target) target = MissingExpr(range.begin);
  return builder_.AugAssign(range, op, target, value ? value : MissingExpr(range.end));
}

StmtId Lowering::Return() {
  const Range range = this->range();
  ExprId value;
  cursor_->ForEachChild([&](Kind child) {
    if (IsExpression(child) && !value) value = Expression();
  });
  return builder_.Return(range, value);
}

StmtId Lowering::Delete() {
  const Range range = this->range();
  ExprList targets(&expr_store_);
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::ExpressionList) {
      CollectExpressions(&targets);
    } else if (IsExpression(child)) {
      targets.Add(Expression());
    }
  });
  return builder_.Delete(range, targets.items());
}

StmtId Lowering::Raise() {
  const Range range = this->range();
  ExprId exception;
  ExprId cause;
  bool after_from = false;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::FromToken) after_from = true;
    if (!IsExpression(child)) return;
    ExprId& part = after_from ? cause : exception;
    if (!part) part = Expression();
  });
  return builder_.Raise(range, exception, cause);
}

StmtId Lowering::Assert() {
  const Range range = this->range();
  ExprId test;
  ExprId message;
  cursor_->ForEachChild([&](Kind child) {
    if (!IsExpression(child)) return;
    ExprId& part = test ? message : test;
    if (!part) part = Expression();
  });
  return builder_.Assert(range, test ? test : MissingExpr(range.end), message);
}

StmtId Lowering::Names(bool global) {
  const Range range = this->range();
  Scratch<NameId> names(&name_store_);
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::Identifier) names.Add(NameHere());
  });
  return global ? builder_.Global(range, names.items()) : builder_.Nonlocal(range, names.items());
}

// `type X[T] = value` binds X, and the type parameters are of no interest.
StmtId Lowering::TypeAlias() {
  const Range range = this->range();
  const TypeCall outer = type_call_;
  bool is_assignment = false;
  ExprList sides(&expr_store_);
  cursor_->ForEachChild([&](Kind child) {
    if (child != Kind::Type) return;
    // `type(x).y = z` is no alias.
    const bool is_call = sides.empty() && text_[cursor_->begin()] == '(';
    if (is_call) type_call_ = {.statement = range.begin, .begin = cursor_->begin()};
    sides.Add(Expression());
    if (is_call) is_assignment = true;
    type_call_ = outer;
  });
  if (sides.size() < 2) return builder_.OpaqueStmt(range, sides.items());
  const ir::Expr& left = builder_.module()[sides[0]];
  const bool has_params = !is_assignment && left.kind == ir::ExprKind::Subscript;
  const ExprId target[] = {has_params ? ir::ObjectOf(left) : sides[0]};
  return builder_.Assign(range, target, sides[1]);
}

// The grammar reads the statements that Python 3 no longer has.
StmtId Lowering::PythonTwoStatement(std::string_view what) {
  AddSyntaxProblem(range(), "`" + std::string(what) + "` statement of Python 2");
  return OpaqueStatement();
}

}  // namespace allranks::python
