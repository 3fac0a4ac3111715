#include <algorithm>
#include <array>
#include <utility>

#include "frontends/cpp/standard_names.h"
#include "frontends/cpp/syntax/lower_body.h"

namespace allranks::cpp::syntax {
namespace {

bool IsParameter(Kind kind) { return kind == Kind::Parameter || kind == Kind::OptionalParameter; }

// What of a declarator says that a callee may store through the parameter.
bool IsIndirect(Node declarator) {
  while (declarator) {
    const Kind kind = declarator.kind();
    if (kind == Kind::PointerDeclarator || kind == Kind::ReferenceDeclarator) return true;
    if (kind != Kind::ParenthesizedDeclarator) return false;
    const std::vector<Node> children = declarator.Children();
    if (children.empty()) return false;
    declarator = children.back();
  }
  return false;
}

// `ParMesh mesh(comm, serial)`: the grammar takes it for a function that is declared.
bool IsMadeWithNames(Node declarator) {
  if (declarator.kind() != Kind::FunctionDeclarator || !declarator["parameters"]) return false;
  const std::vector<Node> params = declarator["parameters"].Children();
  return !params.empty() && std::ranges::all_of(params, [](Node param) {
    return param.kind() == Kind::Parameter && !param["declarator"] && param["type"] && param["type"].kind() == Kind::TypeIdentifier;
  });
}

}  // namespace

void BodyLowering::TooDeep(ir::Range range) {
  builder_.AddProblem(ir::ProblemKind::Limit, range, "nesting deeper than " + std::to_string(kDeepestNesting) + " levels");
}

std::vector<ir::Param> BodyLowering::Params(Node declarator) {
  std::vector<ir::Param> params;
  const Node list = declarator["parameters"];
  if (!list) return params;
  for (const Node param : list.Children()) {
    if (!IsParameter(param.kind())) continue;
    const Node name = param["declarator"] ? DeclaredName(param["declarator"]) : Node();
    const Node type = param["type"];
    if (!name && type && In(type) == "void") continue;
    Local& local = AddLocal(name && name.kind() == Kind::Identifier ? In(name) : "_");
    const bool is_indirect = param["declarator"] && IsIndirect(param["declarator"]);
    local.is_number = type && IsNumberType(type) && !is_indirect;
    local.is_container = type && IsCountedContainer(WrittenName(type, text_));
    params.push_back({.name = local.name,
                      .annotation = type ? TypeName(type) : ir::ExprId(),
                      .is_out = is_indirect && !param.HasWord("const", text_),
                      .begin = param.begin(),
                      .end = param.end()});
  }
  return params;
}

ir::BlockId BodyLowering::Body(ir::FunctionId id) {
  current_ = id;
  const Node body = function_.definition["body"];
  Stmts stmts;
  FieldInitialisers(&stmts);
  Append(body, &stmts);
  if (stmts.empty()) stmts.push_back(builder_.Pass(body.range()));
  return builder_.Block(stmts);
}

// `Job(int r) : Base(r), rank_(r)`: what it says of bases is not known to be one.
void BodyLowering::FieldInitialisers(Stmts* out) {
  for (const Node child : function_.definition.Children()) {
    if (child.kind() != Kind::FieldInitializers) continue;
    for (const Node item : child.Children()) {
      const std::vector<Node> parts = item.Children();
      if (item.kind() != Kind::FieldInitializer || parts.size() != 2) continue;
      const std::vector<Node> values = parts[1].Children();
      const ir::Range range = item.range();
      const ir::ExprId object = builder_.Name(range, NameOf("this"));
      const ir::ExprId targets[] = {builder_.Attribute(range, object, NameOf(WrittenName(parts[0], text_)))};
      const ir::ExprId value = values.size() == 1 ? Expr(values[0]) : Parts(parts[1]);
      out->push_back(builder_.Assign(range, targets, value));
    }
  }
}

ir::BlockId BodyLowering::Block(Node stmt) {
  Stmts stmts;
  scopes_.emplace_back();
  Append(stmt, &stmts);
  scopes_.pop_back();
  if (stmts.empty()) stmts.push_back(builder_.Pass(stmt.range()));
  return builder_.Block(stmts);
}

void BodyLowering::Sequence(Node compound, Stmts* out) {
  scopes_.emplace_back();
  for (const Node stmt : compound.Children()) Append(stmt, out);
  scopes_.pop_back();
}

void BodyLowering::Append(Node stmt, Stmts* out) {
  if (!stmt) return;
  if (depth_ >= kDeepestNesting) {
    TooDeep(stmt.range());
    out->push_back(builder_.OpaqueStmt(stmt.range(), {}));
    return;
  }
  ++depth_;
  Dispatch(stmt, out);
  --depth_;
}

void BodyLowering::Dispatch(Node stmt, Stmts* out) {
  const ir::Range range = stmt.range();
  const std::vector<Node> children = stmt.Children();
  const Node first = children.empty() ? Node() : children[0];
  switch (stmt.kind()) {
    case Kind::Compound:
      return Sequence(stmt, out);
    case Kind::Declaration:
      return Declare(stmt, out);
    case Kind::InitStatement:
    case Kind::Else:
    case Kind::PreprocElse:
      for (const Node child : children) Append(child, out);
      return;
    case Kind::Labeled:
      if (children.size() > 1) Append(children.back(), out);
      return;
    case Kind::ExpressionStatement:
      if (first) ExprStmt(first, out);
      return;
    case Kind::If:
      return If(stmt, out);
    case Kind::While:
      return While(stmt, out);
    case Kind::Do:
      return Do(stmt, out);
    case Kind::For:
      return For(stmt, out);
    case Kind::RangeFor:
      return RangeFor(stmt, out);
    case Kind::Switch:
      return Switch(stmt, out);
    case Kind::Try:
      return Try(stmt, out);
    case Kind::Return:
    case Kind::CoReturn: {
      const ir::ExprId value = first ? Expr(first) : ir::ExprId();
      out->push_back(fails_ ? builder_.Raise(range, value, {}) : builder_.Return(range, value));
      return;
    }
    case Kind::Throw:
      out->push_back(builder_.Raise(range, first ? Expr(first) : ir::ExprId(), {}));
      return;
    case Kind::Break:
      out->push_back(builder_.Break(range));
      return;
    case Kind::Continue:
      if (step_) ExprStmt(step_, out);
      out->push_back(builder_.Continue(range));
      return;
    case Kind::Goto:
      builder_.AddProblem(ir::ProblemKind::Limit, range, "a `goto` in a function that is read without types");
      out->push_back(builder_.OpaqueStmt(range, {}));
      return;
    case Kind::PreprocIf:
    case Kind::PreprocIfdef:
    case Kind::PreprocElif:
    case Kind::PreprocElifdef:
      return Conditionally(stmt, out);
    case Kind::Error:
      out->push_back(builder_.OpaqueStmt(range, std::array{Parts(stmt)}));
      return;
    default:
      return;
  }
}

// `#ifdef USE_NCCL`: either branch, and all ranks the same.
void BodyLowering::Conditionally(Node directive, Stmts* out) {
  const Node name = directive["name"];
  const Node tested = name ? name : directive["condition"];
  const ir::Range range = tested ? tested.range() : directive.range();
  Stmts stmts;
  Node other;
  scopes_.emplace_back();
  for (const Node child : directive.Children()) {
    if (child.field() == "alternative") other = child;
    else if (child.field().empty()) Append(child, &stmts);
  }
  scopes_.pop_back();
  if (stmts.empty()) stmts.push_back(builder_.Pass(range));
  const ir::BlockId then_block = builder_.Block(stmts);
  const ir::BlockId else_block = other ? Block(other) : ir::BlockId();
  const ir::ExprId test = External(tested ? In(tested) : "#if", range);
  out->push_back(builder_.If(directive.range(), test, then_block, else_block));
}

void BodyLowering::Declare(Node declaration, Stmts* out) {
  const Node type = declaration["type"];
  for (const Node child : declaration.Children()) {
    if (child.field() == "declarator") DeclareOne(child, type, out);
  }
}

void BodyLowering::DeclareOne(Node declarator, Node type, Stmts* out) {
  const ir::Range range = declarator.range();
  const Node value = declarator.kind() == Kind::InitDeclarator ? declarator["value"] : Node();
  const Node inner = declarator.kind() == Kind::InitDeclarator ? declarator["declarator"] : declarator;
  const Node name = inner ? DeclaredName(inner) : Node();
  if (!name) return;
  if (name.kind() == Kind::StructuredBinding) {
    std::vector<ir::ExprId> items;
    for (const Node part : name.Children()) items.push_back(builder_.Name(part.range(), AddLocal(In(part)).name));
    const ir::ExprId targets[] = {builder_.Tuple(range, items)};
    if (value) out->push_back(builder_.Assign(range, targets, Expr(value)));
    return;
  }
  if (name.kind() != Kind::Identifier) return;
  // A reference to a variable is another name of it.
  if (inner.kind() == Kind::ReferenceDeclarator && value && value.kind() == Kind::Identifier) {
    if (const Local* meant = FindLocal(In(value))) {
      const Local same = *meant;
      scopes_.back()[std::string(In(name))] = same;
      return;
    }
  }
  const bool is_made = IsMadeWithNames(inner);
  if (FunctionDeclaratorIn(inner) && !is_made) return;
  // `T x(x0)`: what it is made with is not yet it.
  const ir::ExprId made = is_made ? Construct(range, type, inner["parameters"]) : ir::ExprId();
  const ir::ExprId early = value && value.kind() != Kind::ArgumentList && value.kind() != Kind::InitializerList ? Expr(value) : ir::ExprId();
  Local& local = AddLocal(In(name));
  local.is_number = type && IsNumberType(type) && inner.kind() == Kind::Identifier;
  local.is_container = type && IsCountedContainer(WrittenName(type, text_));
  local.is_status = value && value.kind() == Kind::Call;
  const ir::ExprId target = builder_.Name(range, local.name, local.is_number ? ir::kNumber : uint16_t{0});
  if (made || early) {
    const ir::ExprId targets[] = {target};
    out->push_back(builder_.Assign(range, targets, made ? made : early));
    return;
  }
  Initialise(range, target, inner.kind() == Kind::Identifier ? type : Node(), value, out);
}

// `T x;`, `T x(a, b);`, `T x{a, b};`; `type`: of an object that begins to exist here.
void BodyLowering::Initialise(ir::Range range, ir::ExprId target, Node type, Node value, Stmts* out) {
  const bool is_object = type && type.kind() != Kind::PrimitiveType && type.kind() != Kind::SizedType && type.kind() != Kind::PlaceholderType;
  if (!value && !is_object) {
    out->push_back(builder_.AnnAssign(range, target, External("builtins.object", range), {}));
    return;
  }
  const std::vector<Node> values = value ? value.Children() : std::vector<Node>();
  ir::ExprId made;
  if (is_object) made = Construct(range, type, value);
  else made = values.size() == 1 ? Expr(values[0]) : Items(value);
  const ir::ExprId targets[] = {target};
  out->push_back(builder_.Assign(range, targets, made));
}

void BodyLowering::ExprStmt(Node expr, Stmts* out) {
  while (expr.kind() == Kind::Parenthesized && !expr.Children().empty()) expr = expr.Children()[0];
  if (Assignment(expr, out)) return;
  out->push_back(builder_.ExprStmt(expr.range(), Expr(expr)));
}

bool BodyLowering::Assignment(Node expr, Stmts* out) {
  const ir::Range range = expr.range();
  if (expr.kind() == Kind::Assignment && In(expr["operator"]) == "=") {
    const Node left = expr["left"];
    const Node right = expr["right"];
    const ir::ExprId value = Expr(right);
    const ir::ExprId targets[] = {Expr(left)};
    out->push_back(builder_.Assign(range, targets, value));
    return true;
  }
  if (expr.kind() != Kind::Update || !expr["argument"]) return false;
  const ir::BinaryOp op = In(expr["operator"]) == "++" ? ir::BinaryOp::Add : ir::BinaryOp::Sub;
  const ir::ExprId target = Expr(expr["argument"]);
  out->push_back(builder_.AugAssign(range, op, target, builder_.Int(range, 1)));
  return true;
}

}  // namespace allranks::cpp::syntax
