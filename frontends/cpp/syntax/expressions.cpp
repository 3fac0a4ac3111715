#include <algorithm>
#include <charconv>
#include <utility>

#include "frontends/cpp/syntax/lower_body.h"

namespace allranks::cpp::syntax {
namespace {

constexpr size_t kLongestText = 256;

// Without types, a division is one of whole numbers: ranks and sizes are what this is about.
std::optional<ir::BinaryOp> BinaryOpOf(std::string_view op) {
  if (op == "+") return ir::BinaryOp::Add;
  if (op == "-") return ir::BinaryOp::Sub;
  if (op == "*") return ir::BinaryOp::Mul;
  if (op == "/") return ir::BinaryOp::FloorDiv;
  if (op == "%") return ir::BinaryOp::Mod;
  if (op == "<<") return ir::BinaryOp::LeftShift;
  if (op == ">>") return ir::BinaryOp::RightShift;
  if (op == "&" || op == "bitand") return ir::BinaryOp::BitAnd;
  if (op == "|" || op == "bitor") return ir::BinaryOp::BitOr;
  if (op == "^" || op == "xor") return ir::BinaryOp::BitXor;
  return std::nullopt;
}

std::optional<ir::CompareOp> CompareOpOf(std::string_view op, bool with_null) {
  if (op == "==") return with_null ? ir::CompareOp::Is : ir::CompareOp::Eq;
  if (op == "!=" || op == "not_eq") return with_null ? ir::CompareOp::IsNot : ir::CompareOp::NotEq;
  if (op == "<") return ir::CompareOp::Less;
  if (op == "<=") return ir::CompareOp::LessEq;
  if (op == ">") return ir::CompareOp::Greater;
  if (op == ">=") return ir::CompareOp::GreaterEq;
  return std::nullopt;
}

// The whole number that a literal is, digit separators and suffixes left out.
std::optional<int64_t> IntOf(std::string_view literal) {
  std::string digits;
  for (const char c : literal) {
    if (c != '\'') digits += c;
  }
  int base = 10;
  std::string_view text = digits;
  if (text.starts_with("0x") || text.starts_with("0X")) base = 16;
  else if (text.starts_with("0b") || text.starts_with("0B")) base = 2;
  if (base != 10) text.remove_prefix(2);
  else if (text.size() > 1 && text[0] == '0') base = 8;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const std::string_view suffix = text.substr(static_cast<size_t>(end - text.data()));
  if (error != std::errc() || suffix.find_first_not_of("uUlLzZ") != std::string_view::npos) return std::nullopt;
  return value;
}

}  // namespace

ir::ExprId BodyLowering::External(std::string_view qualified, ir::Range range) {
  return builder_.Resolved(range, NameOf(qualified), {});
}

ir::ExprId BodyLowering::Resolved(const Meaning& meaning, ir::Range range) {
  return builder_.Resolved(range, NameOf(meaning.name), meaning.symbol);
}

// The class that a type names; none: a type without one.
ir::ExprId BodyLowering::TypeName(Node type) {
  const Qualified written = WrittenName(type, text_);
  return written.empty() ? ir::ExprId() : Resolved(FindType(written), type.range());
}

ir::ExprId BodyLowering::Expr(Node expr) {
  if (depth_ >= kDeepestNesting) {
    TooDeep(expr.range());
    return builder_.Opaque(expr.range(), {});
  }
  ++depth_;
  const ir::ExprId lowered = Dispatch(expr);
  --depth_;
  return lowered;
}

ir::ExprId BodyLowering::Dispatch(Node expr) {
  const ir::Range range = expr.range();
  switch (expr.kind()) {
    case Kind::Identifier:
    case Kind::Qualified:
    case Kind::TemplateFunction:
      return Name(expr);
    case Kind::This:
      return builder_.Name(range, NameOf("this"));
    case Kind::FieldExpression: {
      if (!expr["argument"] || !expr["field"]) return Parts(expr);
      return builder_.Attribute(range, Expr(expr["argument"]), NameOf(WrittenName(expr["field"], text_)));
    }
    case Kind::Number:
      return Number(expr);
    case Kind::True:
      return builder_.Constant(range, ir::ConstantKind::True);
    case Kind::False:
      return builder_.Constant(range, ir::ConstantKind::False);
    case Kind::Null:
      return builder_.Constant(range, ir::ConstantKind::None);
    case Kind::String:
    case Kind::RawString:
    case Kind::Strings:
      return Text(expr);
    case Kind::Parenthesized:
    case Kind::CoAwait: {
      const std::vector<Node> inner = expr.Children();
      return inner.empty() ? Parts(expr) : Expr(inner[0]);
    }
    case Kind::Cast:
      return expr["value"] ? Expr(expr["value"]) : Parts(expr);
    case Kind::Unary:
      return Unary(expr);
    case Kind::Pointer: {
      // A pointer stands for what it points to: `&x` and `*x` are x.
      if (!expr["argument"]) return Parts(expr);
      return In(expr["operator"]) == "&" ? AddressOf(expr["argument"], range) : Expr(expr["argument"]);
    }
    case Kind::Update:
      return expr["argument"] ? Step(expr) : Parts(expr);
    case Kind::Assignment:
      return expr["left"] && expr["right"] ? Assigned(expr) : Parts(expr);
    case Kind::Binary:
      return expr["left"] && expr["right"] ? Binary(expr) : Parts(expr);
    case Kind::Comma: {
      if (!expr["left"] || !expr["right"]) return Parts(expr);
      const ir::ExprId left = Expr(expr["left"]);
      const ir::ExprId parts[] = {left, Expr(expr["right"])};
      return builder_.Subscript(range, builder_.Tuple(range, parts), builder_.Int(range, 1));
    }
    case Kind::Conditional: {
      if (!expr["condition"] || !expr["consequence"] || !expr["alternative"]) return Parts(expr);
      const ir::ExprId test = Expr(expr["condition"]);
      const ir::ExprId first = Expr(expr["consequence"]);
      return builder_.Conditional(range, test, first, Expr(expr["alternative"]));
    }
    case Kind::Call:
      return Call(expr);
    case Kind::Subscript: {
      const std::vector<Node> indices = expr["indices"] ? expr["indices"].Children() : std::vector<Node>();
      if (!expr["argument"] || indices.size() != 1) return Parts(expr);
      const ir::ExprId object = Expr(expr["argument"]);
      return builder_.Subscript(range, object, Expr(indices[0]));
    }
    case Kind::New:
      return expr["type"] && !expr["declarator"] ? Construct(range, expr["type"], expr["arguments"]) : Parts(expr);
    case Kind::CompoundLiteral:
      return expr["type"] ? Construct(range, expr["type"], expr["value"]) : Parts(expr);
    case Kind::InitializerList:
      return Items(expr);
    case Kind::Lambda:
      return Lambda(expr);
    default:
      return Parts(expr);
  }
}

ir::ExprId BodyLowering::Name(Node expr) {
  const ir::Range range = expr.range();
  if (expr.kind() == Kind::Identifier) {
    const std::string_view name = In(expr);
    if (const Local* local = FindLocal(name)) return builder_.Name(range, local->name, local->is_number ? ir::kNumber : uint16_t{0});
    if (IsField(name)) return builder_.Attribute(range, builder_.Name(range, NameOf("this")), NameOf(name));
  }
  const Qualified written = WrittenName(expr, text_);
  return written.empty() ? Parts(expr) : Resolved(Find(written, 0), range);
}

ir::ExprId BodyLowering::Number(Node expr) {
  const std::string_view text = In(expr);
  if (const std::optional<int64_t> value = IntOf(text)) return builder_.Int(expr.range(), *value);
  return builder_.Text(expr.range(), ir::ConstantKind::Float, NameOf(text.substr(0, kLongestText)));
}

// A text with escapes is one that is not known.
ir::ExprId BodyLowering::Text(Node expr) {
  std::string text;
  bool is_known = expr.kind() != Kind::RawString;
  std::vector<Node> pieces = expr.kind() == Kind::Strings ? expr.Children() : std::vector<Node>{expr};
  for (const Node piece : pieces) {
    is_known = is_known && piece.kind() == Kind::String;
    for (const Node part : piece.Children()) {
      is_known = is_known && part.kind() == Kind::StringContent;
      text += In(part);
    }
  }
  is_known = is_known && text.size() <= kLongestText;
  return builder_.Text(expr.range(), ir::ConstantKind::Str, is_known ? NameOf(text) : ir::NameId());
}

ir::ExprId BodyLowering::Unary(Node expr) {
  const Node operand = expr["argument"];
  if (!operand) return Parts(expr);
  const ir::Range range = expr.range();
  const std::string_view op = In(expr["operator"]);
  if (op == "!" || op == "not") return builder_.Unary(range, ir::UnaryOp::Not, Expr(operand));
  if (op == "~" || op == "compl") return builder_.Unary(range, ir::UnaryOp::Invert, Expr(operand));
  if (op != "-") return Expr(operand);
  const std::optional<int64_t> number = operand.kind() == Kind::Number ? IntOf(In(operand)) : std::nullopt;
  return number ? builder_.Int(range, -*number) : builder_.Unary(range, ir::UnaryOp::Minus, Expr(operand));
}

// Of a number in a variable of the function: who gets it may store another one there.
ir::ExprId BodyLowering::AddressOf(Node operand, ir::Range range) {
  const Local* local = operand.kind() == Kind::Identifier ? FindLocal(In(operand)) : nullptr;
  if (local == nullptr || !local->is_number) return Expr(operand);
  return builder_.Name(range, local->name, ir::kNumber | ir::kAddress);
}

// `i++` within an expression.
ir::ExprId BodyLowering::Step(Node expr) {
  const ir::Range range = expr.range();
  const Node operand = expr["argument"];
  const bool is_plus = In(expr["operator"]) == "++";
  const ir::ExprId value = builder_.Binary(range, is_plus ? ir::BinaryOp::Add : ir::BinaryOp::Sub, Expr(operand), builder_.Int(range, 1));
  const ir::ExprId stored = builder_.Walrus(range, Expr(operand), value);
  if (operand.begin() > expr.begin()) return stored;
  // The value is the one before.
  return builder_.Binary(range, is_plus ? ir::BinaryOp::Sub : ir::BinaryOp::Add, stored, builder_.Int(range, 1));
}

ir::ExprId BodyLowering::Assigned(Node expr) {
  const ir::Range range = expr.range();
  std::string_view op = In(expr["operator"]);
  if (op == "=") {
    const ir::ExprId value = Expr(expr["right"]);
    return builder_.Walrus(range, Expr(expr["left"]), value);
  }
  op.remove_suffix(op.empty() ? 0 : 1);
  const ir::ExprId left = Expr(expr["left"]);
  const ir::ExprId value = Operation(range, op, left, Expr(expr["right"]));
  return builder_.Walrus(range, Expr(expr["left"]), value);
}

ir::ExprId BodyLowering::Operation(ir::Range range, std::string_view op, ir::ExprId left, ir::ExprId right) {
  const ir::ExprId parts[] = {left, right};
  const std::optional<ir::BinaryOp> known = BinaryOpOf(op);
  return known ? builder_.Binary(range, *known, left, right) : builder_.Opaque(range, parts);
}

ir::ExprId BodyLowering::Binary(Node expr) {
  const ir::Range range = expr.range();
  const std::string_view op = In(expr["operator"]);
  const ir::ExprId left = Expr(expr["left"]);
  const ir::ExprId right = Expr(expr["right"]);
  const bool is_and = op == "&&" || op == "and";
  if (is_and || op == "||" || op == "or") {
    const ir::ExprId operands[] = {left, right};
    return builder_.Bool(range, is_and ? ir::BoolOp::And : ir::BoolOp::Or, operands);
  }
  const bool with_null = expr["left"].kind() == Kind::Null || expr["right"].kind() == Kind::Null;
  if (const std::optional<ir::CompareOp> compare = CompareOpOf(op, with_null)) {
    const ir::Comparison comparison[] = {{*compare, right}};
    return builder_.Compare(range, left, comparison);
  }
  return Operation(range, op, left, right);
}

// An expression of which nothing is said but what it is made of.
ir::ExprId BodyLowering::Parts(Node expr) {
  std::vector<ir::ExprId> parts;
  for (const Node child : expr.Children()) {
    const Kind kind = child.kind();
    const bool is_type = kind == Kind::TypeIdentifier || kind == Kind::PrimitiveType || kind == Kind::TemplateType;
    if (!is_type) parts.push_back(Expr(child));
  }
  return builder_.Opaque(expr.range(), parts);
}

ir::ExprId BodyLowering::Items(Node list) {
  const std::vector<Node> nodes = list.Children();
  if (nodes.size() == 1) return Expr(nodes[0]);
  std::vector<ir::ExprId> items;
  for (const Node item : nodes) items.push_back(Expr(item));
  return builder_.List(list.range(), items);
}

ir::ExprId BodyLowering::Lambda(Node lambda) {
  const ir::Range range = lambda.range();
  const Node body = lambda["body"];
  if (!body) return Parts(lambda);
  // What it takes by reference it may assign.
  std::vector<ir::NameId> shared;
  const auto share = [&](std::string_view name) {
    const Local* local = FindLocal(name);
    if (local != nullptr && std::ranges::find(shared, local->name) == shared.end()) shared.push_back(local->name);
  };
  if (const Node captures = lambda["captures"]) {
    for (const Node capture : captures.Children()) {
      const bool takes_all = capture.kind() == Kind::LambdaDefault && In(capture) == "&";
      const bool takes_one = capture.kind() == Kind::Identifier && capture.begin() > 0 && text_[capture.begin() - 1] == '&';
      if (takes_one) share(In(capture));
      if (!takes_all) continue;
      ForEachBelow(body, [&](Node node) {
        if (node.kind() == Kind::Identifier) share(In(node));
      });
    }
  }
  const ir::FunctionId outer = current_;
  const ir::FunctionId id = builder_.StartFunction({.parent = outer, .begin = range.begin, .end = range.end, .name_begin = range.begin, .name_end = range.begin});
  builder_.EditFunction(id).flags |= ir::kWithoutTypes;
  current_ = id;
  scopes_.emplace_back();
  std::vector<ir::Param> params = lambda["declarator"] ? Params(lambda["declarator"]) : std::vector<ir::Param>();
  Stmts stmts;
  if (!shared.empty()) stmts.push_back(builder_.Nonlocal(range, shared));
  {
    const Restored<Node> step(step_);
    const Restored<bool> fails(fails_);
    step_ = {};
    fails_ = false;
    Append(body, &stmts);
  }
  scopes_.pop_back();
  if (stmts.empty()) stmts.push_back(builder_.Pass(range));
  const ir::BlockId block = builder_.Block(stmts);
  current_ = outer;
  builder_.EditFunction(id).params = std::move(params);
  builder_.EditFunction(id).body = block;
  return builder_.Lambda(range, id);
}

}  // namespace allranks::cpp::syntax
