// Left-recursive chains: `a.b(c)[d] + e and f`. Real programs make them long (method chains, sums of
// strings), so they are walked down to their leftmost operand and built up again in loops; recursion goes
// only into arguments and right operands.
#include <optional>

#include "frontends/python/lowering.h"

namespace allranks::python {
namespace {

bool IsLink(Kind kind) {
  switch (kind) {
    case Kind::ParenthesizedExpression:
    case Kind::Attribute:
    case Kind::Subscript:
    case Kind::Call:
    case Kind::BinaryOperator:
    case Kind::BooleanOperator:
      return true;
    default:
      return false;
  }
}

}  // namespace

ExprId Lowering::Chain() {
  const Range range = this->range();
  const size_t mark = links_.size();
  // Here `depth_` is that of what stands directly under the chain's top.
  const uint32_t depth = depth_;
  const uint32_t levels = PushLinks();
  // Damage may leave a chain without its left operand.
  if (links_.size() == mark) return Opaque();
  const bool too_long = depth + levels > ir::kMaxLoweredDepth;
  if (too_long) AddTooDeep(range);
  depth_ = too_long ? depth : depth + levels - 1;
  bool starred = false;
  const uint32_t base_begin = cursor_->begin();
  ExprId result = ChainBase(&starred);
  ExprList parts(&expr_store_);
  if (too_long) parts.Add(result);
  ExprList bool_operands(&expr_store_);
  while (links_.size() > mark) {
    Link link = links_.back();
    links_.pop_back();
    if (starred) link.begin = base_begin;
    if (link.begin == type_call_.begin && link.kind != Kind::ParenthesizedExpression) {
      link.begin = type_call_.statement;
    }
    depth_ = too_long ? depth : depth + link.level;
    if (too_long) {
      CollectLink(link, &parts);
    } else {
      result = FinishLink(link, result, &bool_operands);
    }
    cursor_->Up();
  }
  depth_ = depth;
  if (too_long) return builder_.Opaque(range, parts.items());
  return starred ? builder_.Starred(range, result) : result;
}

// Goes down to the leftmost operand; gives the number of levels that the chain makes in the IR.
uint32_t Lowering::PushLinks() {
  uint32_t level = 0;
  const size_t mark = links_.size();
  while (IsLink(kind()) && (links_.size() == mark || !IsDamaged())) {
    Link link = {.kind = kind(),
                 .op = ir::BoolOp::And,
                 .joins = false,
                 .begin = cursor_->begin(),
                 .end = cursor_->end(),
                 .level = level};
    if (link.kind == Kind::BooleanOperator) {
      link.op = cursor_->HasChild(Kind::OrToken) ? ir::BoolOp::Or : ir::BoolOp::And;
      const bool under_bool = links_.size() > mark && links_.back().kind == Kind::BooleanOperator;
      link.joins = under_bool && links_.back().op == link.op;
      if (link.joins) link.level = links_.back().level;
    }
    if (!EnterLeftOperand()) break;
    links_.push_back(link);
    if (!link.joins && link.kind != Kind::ParenthesizedExpression) ++level;
  }
  return level;
}

bool Lowering::EnterLeftOperand() {
  if (!cursor_->Down()) return false;
  do {
    if (IsExpression(kind())) return true;
  } while (cursor_->Next());
  cursor_->Up();
  return false;
}

// The grammar binds a star closer than anything else where a tuple has no parentheses: there `*a.b` is a star
// on `a`, and the star has to move out again.
ExprId Lowering::ChainBase(bool* starred) {
  const bool is_star = kind() == Kind::ListSplat || kind() == Kind::ListSplatPattern;
  *starred = is_star && links_.back().kind != Kind::ParenthesizedExpression;
  if (*starred) return OnlyChild();
  return Expression();
}

ExprId Lowering::FinishLink(const Link& link, ExprId left, ExprList* bool_operands) {
  const Range range = {link.begin, link.end};
  switch (link.kind) {
    case Kind::Attribute: {
      NameId attr;
      while (cursor_->Next()) {
        if (kind() == Kind::Identifier) attr = NameHere();
      }
      return builder_.Attribute(range, left, attr ? attr : interner_.Intern(""));
    }
    case Kind::Subscript: {
      const ExprId index = IndexOfSubscript();
      return builder_.Subscript(range, left, index);
    }
    case Kind::Call: {
      Scratch<ir::Arg> args(&arg_store_);
      Arguments(&args);
      return builder_.Call(range, left, args.items());
    }
    case Kind::BinaryOperator: {
      ir::BinaryOp op = ir::BinaryOp::Add;
      ExprId right;
      while (cursor_->Next()) {
        if (const std::optional<ir::BinaryOp> found = BinaryOpOf(kind())) op = *found;
        if (IsExpression(kind())) right = Expression();
      }
      return builder_.Binary(range, op, left, right ? right : MissingExpr(link.end));
    }
    case Kind::BooleanOperator: {
      if (bool_operands->empty()) bool_operands->Add(left);
      while (cursor_->Next()) {
        if (IsExpression(kind())) bool_operands->Add(Expression());
      }
      if (link.joins) return left;
      const ExprId result = builder_.Bool(range, link.op, bool_operands->items());
      bool_operands->Clear();
      return result;
    }
    default:
      while (cursor_->Next()) {
      }
      return link.begin == type_call_.begin ? CallOfType(range, {&left, 1}) : left;
  }
}

void Lowering::CollectLink(const Link& link, ExprList* parts) {
  if (link.kind == Kind::Attribute) {
    while (cursor_->Next()) {
    }
    return;
  }
  while (cursor_->Next()) {
    if (IsExpression(kind())) {
      parts->Add(Expression());
    } else if (kind() == Kind::ArgumentList) {
      CollectExpressions(parts);
    }
  }
}

ExprId Lowering::IndexOfSubscript() {
  const uint32_t begin = cursor_->end();
  uint32_t end = begin;
  bool has_comma = false;
  ExprList items(&expr_store_);
  while (cursor_->Next()) {
    has_comma = has_comma || kind() == Kind::CommaToken;
    if (!IsExpression(kind())) continue;
    end = cursor_->end();
    items.Add(Expression());
  }
  const bool is_starred = !items.empty() && builder_.module()[items[0]].kind == ir::ExprKind::Starred;
  if (items.size() == 1 && !has_comma && !is_starred) return items[0];
  if (items.empty()) return MissingExpr(begin);
  return builder_.Tuple({builder_.module()[items[0]].begin, end}, items.items());
}

void Lowering::Arguments(Scratch<ir::Arg>* args) {
  while (cursor_->Next()) {
    if (kind() == Kind::GeneratorExpression) {
      args->Add({.kind = ir::ArgKind::Positional, .keyword = {}, .value = Expression()});
    } else if (kind() == Kind::ArgumentList) {
      ArgumentList(args);
    }
  }
}

void Lowering::ArgumentList(Scratch<ir::Arg>* args) {
  if (IsDamaged()) {
    const Range range = this->range();
    ExprList parts(&expr_store_);
    CollectExpressions(&parts);
    args->Add(
        {.kind = ir::ArgKind::Positional, .keyword = {}, .value = builder_.Opaque(range, parts.items())});
    return;
  }
  cursor_->ForEachChild([&](Kind child) {
    if (IsExpression(child) || child == Kind::KeywordArgument || child == Kind::DictionarySplat) {
      args->Add(Argument(child));
    }
  });
}

ir::Arg Lowering::Argument(Kind argument) {
  switch (argument) {
    case Kind::ListSplat:
      return {.kind = ir::ArgKind::Star, .keyword = {}, .value = OnlyChild()};
    case Kind::DictionarySplat:
      return {.kind = ir::ArgKind::DoubleStar, .keyword = {}, .value = OnlyChild()};
    case Kind::KeywordArgument:
      return KeywordArgument();
    default:
      return {.kind = ir::ArgKind::Positional, .keyword = {}, .value = Expression()};
  }
}

ir::Arg Lowering::KeywordArgument() {
  const uint32_t end = cursor_->end();
  ir::Arg arg = {.kind = ir::ArgKind::Keyword, .keyword = {}, .value = {}};
  bool after_equals = false;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::EqualsToken) after_equals = true;
    if (after_equals && IsExpression(child) && !arg.value) arg.value = Expression();
    if (!after_equals && child == Kind::Identifier) arg.keyword = NameHere();
  });
  if (!arg.keyword) arg.keyword = interner_.Intern("");
  if (!arg.value) arg.value = MissingExpr(end);
  return arg;
}

}  // namespace allranks::python
