// Expressions other than chains (chains.cpp), strings (strings.cpp) and lambdas (definitions.cpp).
#include <algorithm>
#include <optional>

#include "frontends/python/lowering.h"
#include "frontends/python/number.h"
#include "frontends/python/syntax_errors.h"

namespace allranks::python {

ExprId Lowering::Expression() {
  Look();
  switch (kind()) {
    case Kind::Identifier:
      return Name();
    case Kind::True:
      return builder_.Constant(range(), ir::ConstantKind::True);
    case Kind::False:
      return builder_.Constant(range(), ir::ConstantKind::False);
    case Kind::None:
      return builder_.Constant(range(), ir::ConstantKind::None);
    case Kind::Ellipsis:
      return builder_.Constant(range(), ir::ConstantKind::Ellipsis);
    case Kind::Integer:
    case Kind::Float:
      return Number();
    default:
      break;
  }
  if (at_limit()) return TooDeep();
  const Deeper deeper(this);
  if (IsDamaged()) return Opaque();
  return CompoundExpression();
}

ExprId Lowering::CompoundExpression() {
  switch (kind()) {
    case Kind::String:
    case Kind::ConcatenatedString:
      return String();
    case Kind::ParenthesizedExpression:
    case Kind::Attribute:
    case Kind::Subscript:
    case Kind::Call:
    case Kind::BinaryOperator:
    case Kind::BooleanOperator:
      return Chain();
    case Kind::ComparisonOperator:
      return Comparison();
    case Kind::NotOperator:
      return Not();
    case Kind::UnaryOperator:
      return Unary();
    case Kind::ConditionalExpression:
      return Conditional();
    case Kind::NamedExpression:
      return NamedExpression();
    case Kind::Lambda:
      return Lambda();
    case Kind::Await: {
      const Range range = this->range();
      return builder_.Await(range, OnlyChild());
    }
    case Kind::Yield:
      return Yield();
    case Kind::Slice:
      return Slice();
    case Kind::ListSplat:
    case Kind::ListSplatPattern:
    case Kind::SplatType:
      return Starred();
    case Kind::List:
    case Kind::ListPattern: {
      const Range range = this->range();
      ExprList items(&expr_store_);
      CollectExpressions(&items);
      return builder_.List(range, items.items());
    }
    case Kind::Set: {
      const Range range = this->range();
      ExprList items(&expr_store_);
      CollectExpressions(&items);
      return builder_.Set(range, items.items());
    }
    case Kind::Tuple:
    case Kind::TuplePattern:
    case Kind::ExpressionList:
    case Kind::PatternList:
      return TupleOf();
    case Kind::Dictionary:
      return Dictionary();
    case Kind::ListComprehension:
      return Comprehension(ir::ComprehensionKind::List);
    case Kind::SetComprehension:
      return Comprehension(ir::ComprehensionKind::Set);
    case Kind::DictionaryComprehension:
      return Comprehension(ir::ComprehensionKind::Dict);
    case Kind::GeneratorExpression:
      return Comprehension(ir::ComprehensionKind::Generator);
    case Kind::Type:
    case Kind::AsPatternTarget:
      return OnlyChild();
    case Kind::AsPattern:
      return AsPattern();
    case Kind::GenericType:
      return GenericType();
    case Kind::UnionType:
    case Kind::MemberType:
      return Type();
    default:
      return Opaque();
  }
}

ExprId Lowering::Name() {
  // The parser invents an empty name where it misses one.
  if (cursor_->begin() == cursor_->end()) return MissingExpr(cursor_->begin());
  if (IsMasked(cursor_->begin())) return Opaque();
  return builder_.Name(range(), NameHere());
}

ExprId Lowering::MissingExpr(uint32_t offset) { return builder_.Opaque({offset, offset}, {}); }

ExprId Lowering::Number() {
  const Range range = this->range();
  const std::string_view text = TextHere();
  if (IsComplexLiteral(text)) return builder_.Text(range, ir::ConstantKind::Complex, NameHere());
  if (kind() == Kind::Float) return builder_.Text(range, ir::ConstantKind::Float, NameHere());
  const std::optional<int64_t> value = IntegerValue(text);
  return value ? builder_.Int(range, *value) : builder_.BigInt(range);
}

ExprId Lowering::OnlyChild() {
  const Range range = this->range();
  ExprId result;
  cursor_->ForEachChild([&](Kind child) {
    if (IsExpression(child) && !result) result = Expression();
  });
  return result ? result : MissingExpr(range.end);
}

ExprId Lowering::Comparison() {
  const Range range = this->range();
  ExprId first;
  std::optional<ir::CompareOp> op;
  Scratch<ir::Comparison> rest(&comparison_store_);
  cursor_->ForEachChild([&](Kind child) {
    if (!IsExpression(child)) {
      op = CompareOpOf(child);
    } else if (!first) {
      first = Expression();
    } else {
      rest.Add({.op = op.value_or(ir::CompareOp::Eq), .operand = Expression()});
    }
  });
  if (!first) return MissingExpr(range.end);
  return builder_.Compare(range, first, rest.items());
}

ExprId Lowering::Not() {
  const Range range = this->range();
  return builder_.Unary(range, ir::UnaryOp::Not, OnlyChild());
}

ExprId Lowering::Unary() {
  const Range range = this->range();
  ir::UnaryOp op = ir::UnaryOp::Plus;
  ExprId operand;
  std::optional<int64_t> negated;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::MinusToken) op = ir::UnaryOp::Minus;
    if (child == Kind::TildeToken) op = ir::UnaryOp::Invert;
    if (!IsExpression(child) || operand) return;
    if (op == ir::UnaryOp::Minus && child == Kind::Integer && !IsComplexLiteral(TextHere())) {
      negated = IntegerValue(TextHere());
    }
    if (!negated) operand = Expression();
  });
  if (negated) return builder_.Int(range, -*negated);
  return builder_.Unary(range, op, operand ? operand : MissingExpr(range.end));
}

ExprId Lowering::Conditional() {
  const Range range = this->range();
  ExprId then_value;
  ExprId test;
  ExprId else_value;
  ExprId* next = &then_value;
  bool walrus = false;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::NamedExpression && !then_value) walrus = true;
    if (child == Kind::IfToken) next = &test;
    if (child == Kind::ElseToken) next = &else_value;
    if (IsExpression(child) && !*next) *next = Expression();
  });
  if (!then_value) then_value = MissingExpr(range.begin);
  if (!test) test = MissingExpr(range.end);
  if (!else_value) else_value = MissingExpr(range.end);
  if (!walrus) return builder_.Conditional(range, test, then_value, else_value);
  // The grammar binds `:=` closer than `if`: what it assigns is the whole conditional.
  const ir::Expr named = builder_.module()[then_value];
  const Range value_range = {builder_.module()[ir::RightOf(named)].begin, range.end};
  const ExprId value = builder_.Conditional(value_range, test, ir::RightOf(named), else_value);
  return builder_.Walrus(range, ir::LeftOf(named), value);
}

ExprId Lowering::NamedExpression() {
  const Range range = this->range();
  ExprId target;
  ExprId value;
  cursor_->ForEachChild([&](Kind child) {
    if (!IsExpression(child)) return;
    ExprId& part = target ? value : target;
    if (!part) part = Expression();
  });
  if (!target) target = MissingExpr(range.begin);
  return builder_.Walrus(range, target, value ? value : MissingExpr(range.end));
}

ExprId Lowering::Yield() {
  const Range range = this->range();
  scope_.has_yield = true;
  bool from = false;
  ExprId value;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::FromToken) from = true;
    if (IsExpression(child) && !value) value = Expression();
  });
  if (!from) return builder_.Yield(range, value);
  return builder_.YieldFrom(range, value ? value : MissingExpr(range.end));
}

ExprId Lowering::Slice() {
  const Range range = this->range();
  ExprId parts[3];
  size_t at = 0;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::ColonToken) ++at;
    if (IsExpression(child) && at < 3 && !parts[at]) parts[at] = Expression();
  });
  return builder_.Slice(range, parts[0], parts[1], parts[2]);
}

ExprId Lowering::Starred() {
  const Range range = this->range();
  return builder_.Starred(range, OnlyChild());
}

ExprId Lowering::TupleOf() {
  const Range range = this->range();
  const bool in_parentheses = kind() == Kind::TuplePattern;
  bool has_comma = false;
  ExprList items(&expr_store_);
  cursor_->ForEachChild([&](Kind child) {
    has_comma = has_comma || child == Kind::CommaToken;
    if (IsExpression(child)) items.Add(Element());
  });
  if (in_parentheses && !has_comma && items.size() == 1) return items[0];
  if (range.begin == type_call_.begin) return CallOfType(range, items.items());
  return builder_.Tuple(range, items.items());
}

ExprId Lowering::Element() {
  uint32_t star = cursor_->begin();
  if (stars_.empty()) return Expression();
  const ExprId value = Expression();
  const auto is_star = [this](uint32_t at) {
    return std::find(stars_.begin(), stars_.end(), at) != stars_.end();
  };
  while (star > 0 && text_[star - 1] == ' ') {
    --star;
    if (is_star(star)) return builder_.Starred({star, builder_.module()[value].end}, value);
  }
  return value;
}

// `context as target` is no expression of Python, but the grammar lets it stand anywhere in one. Where a
// target is looked for it is taken out.
ExprId Lowering::AsPattern() {
  ExprId* const target = as_target_;
  if (target == nullptr || *target) return Opaque();
  ExprId context;
  ExprId found;
  const Range range = this->range();
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::AsPatternTarget) {
      found = Expression();
    } else if (IsExpression(child) && !context) {
      context = Expression();
    }
  });
  *target = found;
  return context ? context : MissingExpr(range.begin);
}

ExprId Lowering::CallOfType(Range range, std::span<const ExprId> values) {
  Scratch<ir::Arg> args(&arg_store_);
  for (const ExprId value : values)
    args.Add({.kind = ir::ArgKind::Positional, .keyword = {}, .value = value});
  const ExprId callee = builder_.Name({type_call_.statement, type_call_.begin}, interner_.Intern("type"));
  return builder_.Call({type_call_.statement, range.end}, callee, args.items());
}

// `A | B`, `a.B` and their like, where the grammar reads a type.
ExprId Lowering::Type() {
  const Range range = this->range();
  const bool is_member = kind() == Kind::MemberType;
  ExprId left;
  ExprId right;
  NameId attr;
  cursor_->ForEachChild([&](Kind child) {
    if (is_member && child == Kind::Identifier) attr = NameHere();
    if (!IsExpression(child) || attr) return;
    ExprId& part = left ? right : left;
    if (!part) part = Expression();
  });
  if (!left) return MissingExpr(range.begin);
  if (attr) return builder_.Attribute(range, left, attr);
  return builder_.Binary(range, ir::BinaryOp::BitOr, left, right ? right : MissingExpr(range.end));
}

// `list[int]` where the grammar reads a type: the same as a subscript.
ExprId Lowering::GenericType() {
  const Range range = this->range();
  ExprId object;
  Range index_range = range;
  ExprList index(&expr_store_);
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::TypeParameter) {
      // Inside the brackets.
      index_range = {cursor_->begin() + 1, cursor_->end() - 1};
      CollectExpressions(&index);
    } else if (IsExpression(child) && !object) {
      object = Expression();
    }
  });
  if (!object) object = MissingExpr(range.begin);
  const ExprId all = index.size() == 1 ? index[0] : builder_.Tuple(index_range, index.items());
  return builder_.Subscript(range, object, all);
}

// ---- Comprehensions and displays
// --------------------------------------------------------------------------------

ExprId Lowering::Comprehension(ir::ComprehensionKind comprehension) {
  const Range range = this->range();
  ExprId element;
  Scratch<ir::Clause> clauses(&clause_store_);
  ExprList conditions(&expr_store_);
  // The conditions of a clause follow it, and its list is complete when the next clause begins.
  const auto close_clause = [&](size_t first) {
    if (clauses.empty()) return;
    clauses[clauses.size() - 1].conditions = builder_.Conditions(conditions.items().subspan(first));
  };
  size_t first_condition = 0;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::ForInClause) {
      close_clause(first_condition);
      first_condition = conditions.size();
      ForInClause(&clauses);
    } else if (child == Kind::IfClause) {
      conditions.Add(OnlyChild());
    } else if (child == Kind::Pair) {
      const Range pair_range = this->range();
      const ir::DictItem item = Pair();
      const ExprId pair[] = {item.key, item.value};
      element = builder_.Tuple(pair_range, pair);
    } else if (IsExpression(child) && !element) {
      element = Expression();
    }
  });
  close_clause(first_condition);
  if (!element) element = MissingExpr(range.begin);
  return builder_.Comprehension(range, comprehension, element, clauses.items());
}

void Lowering::ForInClause(Scratch<ir::Clause>* clauses) {
  const Range range = this->range();
  ir::Clause clause;
  bool has_comma = false;
  bool after_in = false;
  ExprList iterables(&expr_store_);
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::AsyncToken) clause.is_async = true;
    if (child == Kind::InToken) after_in = true;
    has_comma = has_comma || (after_in && child == Kind::CommaToken);
    if (!IsExpression(child)) return;
    if (after_in) {
      iterables.Add(Expression());
    } else if (!clause.target) {
      clause.target = Expression();
    }
  });
  if (!clause.target) clause.target = MissingExpr(range.begin);
  if (iterables.size() == 1 && !has_comma) {
    clause.iter = iterables[0];
  } else {
    clause.iter = builder_.Tuple(range, iterables.items());
  }
  clauses->Add(clause);
}

ExprId Lowering::Dictionary() {
  const Range range = this->range();
  Scratch<ir::DictItem> items(&dict_store_);
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::Pair) items.Add(Pair());
    if (child == Kind::DictionarySplat) items.Add({.key = {}, .value = OnlyChild()});
  });
  return builder_.Dict(range, items.items());
}

ir::DictItem Lowering::Pair() {
  const Range range = this->range();
  ir::DictItem item;
  bool after_colon = false;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::ColonToken) after_colon = true;
    if (!IsExpression(child)) return;
    ExprId& part = after_colon ? item.value : item.key;
    if (!part) part = Expression();
  });
  if (!item.key) item.key = MissingExpr(range.begin);
  if (!item.value) item.value = MissingExpr(range.end);
  return item;
}

// ---- What cannot be lowered as it stands
// ------------------------------------------------------------------------

ExprId Lowering::Opaque() {
  const Range range = this->range();
  ExprList parts(&expr_store_);
  CollectExpressions(&parts);
  return builder_.Opaque(range, parts.items());
}

void Lowering::CollectExpressions(ExprList* out) {
  if (at_limit()) {
    AddTooDeep(range());
    return cursor_->NoteCommentsBelow();
  }
  const Deeper deeper(this);
  cursor_->ForEachChild([&](Kind child) {
    if (IsExpression(child)) {
      out->Add(Expression());
    } else if (child != Kind::Other) {
      CollectExpressions(out);
    }
  });
}

ExprId Lowering::TooDeep() {
  const Range range = this->range();
  AddTooDeep(range);
  cursor_->NoteCommentsBelow();
  return builder_.Opaque(range, {});
}

void Lowering::AddTooDeep(Range range) {
  if (builder_.module().problems.size() >= kMostProblems) return;
  builder_.AddProblem(ir::ProblemKind::Limit, range,
                      "nesting deeper than " + std::to_string(ir::kMaxLoweredDepth) + " levels");
}

}  // namespace allranks::python
