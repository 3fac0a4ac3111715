// The match statement. What a pattern means in terms of expressions stands at `ir::MatchCase`.
#include "frontends/python/lowering.h"

namespace allranks::python {
namespace {

bool IsPattern(Kind node) {
  switch (node) {
    case Kind::CasePattern:
    case Kind::SplatPattern:
    case Kind::ClassPattern:
    case Kind::UnionPattern:
    case Kind::DictPattern:
    case Kind::ComplexPattern:
    case Kind::DottedName:
    case Kind::UnderscoreToken:
      return true;
    default:
      return IsExpression(node);
  }
}

}  // namespace

StmtId Lowering::Match() {
  const Range range = this->range();
  ExprList subjects(&expr_store_);
  bool has_comma = false;
  Scratch<ir::MatchCase> cases(&case_store_);
  cursor_->ForEachChild([&](Kind child) {
    has_comma = has_comma || child == Kind::CommaToken;
    if (IsExpression(child)) subjects.Add(Expression());
    if (child != Kind::Block) return;
    cursor_->ForEachChild([&](Kind inner) {
      if (inner == Kind::CaseClause) cases.Add(Case());
    });
  });
  if (subjects.empty()) subjects.Add(MissingExpr(range.begin));
  const bool is_tuple = has_comma || subjects.size() > 1;
  const ExprId subject = is_tuple ? builder_.Tuple(range, subjects.items()) : subjects[0];
  return builder_.Match(range, subject, cases.items());
}

ir::MatchCase Lowering::Case() {
  const Range range = this->range();
  ir::MatchCase result;
  bool irrefutable = false;
  bool has_comma = false;
  ExprList patterns(&expr_store_);
  cursor_->ForEachChild([&](Kind child) {
    has_comma = has_comma || child == Kind::CommaToken;
    if (child == Kind::IfClause) result.guard = OnlyChild();
    if (child == Kind::Block && !result.body) result.body = Block();
    if (child != Kind::CasePattern) return;
    const Pattern pattern = CasePattern();
    irrefutable = pattern.irrefutable;
    patterns.Add(pattern.expr);
  });
  const bool is_sequence = has_comma || patterns.size() != 1;
  result.pattern = is_sequence ? builder_.Tuple(range, patterns.items()) : patterns[0];
  result.irrefutable = irrefutable && !is_sequence;
  if (!result.body) result.body = builder_.Block({});
  return result;
}

Lowering::Pattern Lowering::CasePattern() {
  const Range range = this->range();
  if (IsDamaged()) return {.expr = Opaque()};
  Pattern result;
  bool negative = false;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::MinusToken) negative = true;
    if (result.expr || !IsPattern(child)) return;
    result = SimplePattern();
    if (negative) result.expr = Negated(range, result.expr);
  });
  if (!result.expr) result.expr = MissingExpr(range.begin);
  return result;
}

Lowering::Pattern Lowering::SimplePattern() {
  if (kind() == Kind::CasePattern) return CasePattern();
  if (at_limit()) return {.expr = TooDeep()};
  const Deeper deeper(this);
  if (IsDamaged()) return {.expr = Opaque()};
  return SimplePatternHere();
}

Lowering::Pattern Lowering::SimplePatternHere() {
  switch (kind()) {
    case Kind::UnderscoreToken:
      return {.expr = builder_.Opaque(range(), {}), .irrefutable = true};
    case Kind::DottedName:
      return DottedNamePattern();
    case Kind::AsPattern:
      return AsPatternOfCase();
    case Kind::UnionPattern:
      return Union();
    case Kind::ListPattern:
    case Kind::TuplePattern:
      return SequencePattern();
    case Kind::ClassPattern:
      return {.expr = ClassPattern()};
    case Kind::DictPattern:
      return {.expr = DictPattern()};
    case Kind::SplatPattern:
      return {.expr = SplatPattern(false)};
    case Kind::ComplexPattern:
      return {.expr = ComplexPattern()};
    default:
      return {.expr = Expression()};
  }
}

ExprId Lowering::Negated(Range range, ExprId literal) {
  const ir::Expr& expr = builder_.module()[literal];
  const bool is_int =
      expr.kind == ir::ExprKind::Constant && ir::ConstantKindOf(expr) == ir::ConstantKind::Int;
  if (is_int && (expr.flags & ir::kBigInt) == 0) return builder_.Int(range, -ir::IntOf(expr));
  return builder_.Unary(range, ir::UnaryOp::Minus, literal);
}

Lowering::Pattern Lowering::Capture(Range range, NameId name) {
  const ExprId anything = builder_.Opaque({range.end, range.end}, {});
  return {.expr = builder_.Walrus(range, builder_.Name(range, name), anything), .irrefutable = true};
}

// One name captures, a dotted one is a value.
Lowering::Pattern Lowering::DottedNamePattern() {
  if (TextHere().find('.') == std::string_view::npos) return Capture(range(), NameHere());
  return {.expr = DottedValue()};
}

ExprId Lowering::DottedValue() {
  const Range range = this->range();
  ExprId value;
  uint32_t levels = 0;
  cursor_->ForEachChild([&](Kind child) {
    if (child != Kind::Identifier) return;
    const Range so_far = {range.begin, cursor_->end()};
    const NameId name = NameHere();
    value = value ? builder_.Attribute(so_far, value, name) : builder_.Name(so_far, name);
    ++levels;
  });
  if (!value) return MissingExpr(range.begin);
  if (depth_ + levels <= ir::kMaxLoweredDepth) return value;
  AddTooDeep(range);
  return builder_.Opaque(range, {});
}

Lowering::Pattern Lowering::AsPatternOfCase() {
  const Range range = this->range();
  Pattern inner;
  ExprId target;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::Identifier && inner.expr) {
      target = builder_.Name(this->range(), NameHere());
    } else if (IsPattern(child) && !inner.expr) {
      inner = SimplePattern();
    }
  });
  if (!inner.expr) inner.expr = MissingExpr(range.begin);
  if (!target) target = MissingExpr(range.end);
  return {.expr = builder_.Walrus(range, target, inner.expr), .irrefutable = inner.irrefutable};
}

Lowering::Pattern Lowering::Union() {
  const Range range = this->range();
  bool irrefutable = false;
  bool negative = false;
  ExprList parts(&expr_store_);
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::MinusToken) negative = true;
    if (!IsPattern(child)) return;
    const Range part_range = this->range();
    const Pattern part = SimplePattern();
    irrefutable = irrefutable || part.irrefutable;
    parts.Add(negative ? Negated(part_range, part.expr) : part.expr);
    negative = false;
  });
  return {.expr = builder_.Bool(range, ir::BoolOp::Or, parts.items()), .irrefutable = irrefutable};
}

// `[a, b]` and `(a, b)`; `(a)` is `a`.
Lowering::Pattern Lowering::SequencePattern() {
  const Range range = this->range();
  const bool is_list = kind() == Kind::ListPattern;
  bool has_comma = false;
  Pattern only;
  ExprList items(&expr_store_);
  cursor_->ForEachChild([&](Kind child) {
    has_comma = has_comma || child == Kind::CommaToken;
    if (!IsPattern(child)) return;
    only = SimplePattern();
    items.Add(only.expr);
  });
  if (is_list) return {.expr = builder_.List(range, items.items())};
  if (items.size() == 1 && !has_comma) return only;
  return {.expr = builder_.Tuple(range, items.items())};
}

ExprId Lowering::ClassPattern() {
  const Range range = this->range();
  ExprId callee;
  Scratch<ir::Arg> args(&arg_store_);
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::DottedName) callee = DottedValue();
    if (child == Kind::CasePattern) args.Add(PatternArgument());
  });
  return builder_.Call(range, callee ? callee : MissingExpr(range.begin), args.items());
}

// `Point(x=0)`: a keyword pattern is a case pattern's only child.
ir::Arg Lowering::PatternArgument() {
  ir::Arg arg;
  if (!cursor_->HasChild(Kind::KeywordPattern)) {
    arg.value = CasePattern().expr;
    return arg;
  }
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::KeywordPattern) arg = KeywordPattern();
  });
  return arg;
}

ir::Arg Lowering::KeywordPattern() {
  const uint32_t end = cursor_->end();
  ir::Arg arg = {.kind = ir::ArgKind::Keyword, .keyword = {}, .value = {}};
  bool negative = false;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::MinusToken) negative = true;
    if (child == Kind::Identifier && !arg.keyword) {
      arg.keyword = NameHere();
    } else if (IsPattern(child) && !arg.value) {
      const Range value_range = this->range();
      arg.value = SimplePattern().expr;
      if (negative) arg.value = Negated(value_range, arg.value);
    }
  });
  if (!arg.keyword) arg.keyword = interner_.Intern("");
  if (!arg.value) arg.value = MissingExpr(end);
  return arg;
}

ExprId Lowering::DictPattern() {
  const Range range = this->range();
  Scratch<ir::DictItem> items(&dict_store_);
  ExprId key;
  bool negative = false;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::MinusToken) negative = true;
    if (child == Kind::SplatPattern) {
      items.Add({.key = {}, .value = SplatPattern(true)});
    } else if (child == Kind::CasePattern) {
      const ExprId value = CasePattern().expr;
      items.Add({.key = key ? key : MissingExpr(range.begin), .value = value});
      key = {};
    } else if (child == Kind::DottedName) {
      key = DottedValue();
    } else if (IsPattern(child) && child != Kind::UnderscoreToken) {
      const Range key_range = this->range();
      key = SimplePattern().expr;
      if (negative) key = Negated(key_range, key);
      negative = false;
    }
  });
  return builder_.Dict(range, items.items());
}

ExprId Lowering::SplatPattern(bool in_dict) {
  const Range range = this->range();
  ExprId value;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::Identifier) value = Capture(this->range(), NameHere()).expr;
  });
  if (!value) value = builder_.Opaque({range.end, range.end}, {});
  return in_dict ? value : builder_.Starred(range, value);
}

// `-1 + 2j`.
ExprId Lowering::ComplexPattern() {
  const Range range = this->range();
  ir::BinaryOp op = ir::BinaryOp::Add;
  bool negative = false;
  ExprId left;
  ExprId right;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::MinusToken) (left ? void(op = ir::BinaryOp::Sub) : void(negative = true));
    if (!IsExpression(child)) return;
    if (left) {
      right = Expression();
    } else {
      left = Expression();
      if (negative) left = Negated({range.begin, cursor_->end()}, left);
    }
  });
  if (!left) left = MissingExpr(range.begin);
  return builder_.Binary(range, op, left, right ? right : MissingExpr(range.end));
}

}  // namespace allranks::python
