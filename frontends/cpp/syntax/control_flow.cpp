#include <algorithm>
#include <utility>

#include "frontends/cpp/syntax/lower_body.h"

namespace allranks::cpp::syntax {
namespace {

// Each test lies in the `else` of the one before.
constexpr size_t kMostArms = 60;
// What an arm falls through to is lowered again, with the switches in it.
constexpr size_t kMostArmsOfFunction = 1000;

bool IsLoop(Kind kind) { return kind == Kind::While || kind == Kind::Do || kind == Kind::For || kind == Kind::RangeFor; }

// Whether a `break` of the switch around stands in a statement.
bool HasBreak(Node stmt, int depth = 0) {
  constexpr int kDeepest = 100;
  if (depth > kDeepest || stmt.kind() == Kind::Break) return true;
  if (IsLoop(stmt.kind()) || stmt.kind() == Kind::Switch || stmt.kind() == Kind::Lambda) return false;
  return std::ranges::any_of(stmt.Children(), [&](Node child) { return HasBreak(child, depth + 1); });
}

// The statements of an arm, those of blocks around all of them taken out.
std::vector<Node> StatementsOf(Node arm) {
  std::vector<Node> stmts;
  for (const Node child : arm.Children()) {
    if (child.field() == "value") continue;
    if (child.kind() == Kind::Compound) std::ranges::copy(child.Children(), std::back_inserter(stmts));
    else stmts.push_back(child);
  }
  return stmts;
}

bool Ends(Kind kind) { return kind == Kind::Return || kind == Kind::Continue || kind == Kind::Goto || kind == Kind::Throw; }

}  // namespace

// What `if` and `while` test; a variable that is declared there begins before.
ir::ExprId BodyLowering::Test(Node condition, Stmts* out) {
  if (condition.kind() == Kind::Condition) {
    if (const Node before = condition["initializer"]) Append(before, out);
    condition = condition["value"];
  }
  if (!condition) return builder_.Opaque({}, {});
  if (condition.kind() != Kind::Declaration) return Expr(condition);
  // Its value stands beside its name here.
  const Node declarator = condition["declarator"];
  const Node value = condition["value"];
  const Node name = declarator ? DeclaredName(declarator) : Node();
  if (!name || !value) return Parts(condition);
  const ir::ExprId init = Expr(value);
  const ir::NameId local = AddLocal(In(name)).name;
  const ir::ExprId targets[] = {builder_.Name(name.range(), local)};
  out->push_back(builder_.Assign(condition.range(), targets, init));
  return builder_.Name(name.range(), local);
}

// `if (r != ncclSuccess) { ...; return r; }` with the status that a call gave: how C hands a failure on, what a throw is in other words.
bool BodyLowering::HandsFailureOn(Node stmt) {
  const Node condition = stmt["condition"];
  Node last = stmt["consequence"];
  if (!condition || !condition["value"] || !last || stmt["alternative"]) return false;
  const Node tested = condition["value"];
  if (tested.kind() != Kind::Binary || In(tested["operator"]) != "!=" || !tested["left"]) return false;
  if (last.kind() == Kind::Compound) last = last.Children().empty() ? Node() : last.Children().back();
  if (!last || last.kind() != Kind::Return || last.Children().empty()) return false;
  const Node status = tested["left"];
  const Local* local = status.kind() == Kind::Identifier ? FindLocal(In(status)) : nullptr;
  return local != nullptr && local->is_status && In(last.Children()[0]) == In(status);
}

void BodyLowering::If(Node stmt, Stmts* out) {
  if (!stmt["condition"] || !stmt["consequence"]) return out->push_back(builder_.OpaqueStmt(stmt.range(), {}));
  scopes_.emplace_back();
  const ir::ExprId test = Test(stmt["condition"], out);
  const Restored<bool> around(fails_);
  fails_ = fails_ || HandsFailureOn(stmt);
  const ir::BlockId then_block = Block(stmt["consequence"]);
  const ir::BlockId else_block = stmt["alternative"] ? Block(stmt["alternative"]) : ir::BlockId();
  scopes_.pop_back();
  out->push_back(builder_.If(stmt.range(), test, then_block, else_block));
}

void BodyLowering::While(Node stmt, Stmts* out) {
  if (!stmt["condition"] || !stmt["body"]) return out->push_back(builder_.OpaqueStmt(stmt.range(), {}));
  scopes_.emplace_back();
  const Restored<Node> around(step_);
  step_ = {};
  const ir::ExprId test = Test(stmt["condition"], out);
  const ir::BlockId body = Block(stmt["body"]);
  scopes_.pop_back();
  out->push_back(builder_.While(stmt.range(), test, body, {}));
}

void BodyLowering::Do(Node stmt, Stmts* out) {
  const ir::Range range = stmt.range();
  if (!stmt["condition"] || !stmt["body"]) return out->push_back(builder_.OpaqueStmt(range, {}));
  const Restored<Node> around(step_);
  step_ = {};
  Stmts body;
  Append(stmt["body"], &body);
  const ir::StmtId leave[] = {builder_.Break(range)};
  const ir::ExprId ends = builder_.Unary(stmt["condition"].range(), ir::UnaryOp::Not, Expr(stmt["condition"]));
  body.push_back(builder_.If(range, ends, builder_.Block(leave), {}));
  out->push_back(builder_.While(range, builder_.Constant(range, ir::ConstantKind::True), builder_.Block(body), {}));
}

void BodyLowering::For(Node stmt, Stmts* out) {
  if (!stmt["body"]) return out->push_back(builder_.OpaqueStmt(stmt.range(), {}));
  scopes_.emplace_back();
  const Restored<Node> around(step_);
  if (!CountingFor(stmt, out)) {
    const ir::Range range = stmt.range();
    if (const Node init = stmt["initializer"]) {
      if (init.kind() == Kind::Declaration) Append(init, out);
      else ExprStmt(init, out);
    }
    const ir::ExprId test = stmt["condition"] ? Expr(stmt["condition"]) : builder_.Constant(range, ir::ConstantKind::True);
    step_ = stmt["update"];
    Stmts body;
    Append(stmt["body"], &body);
    if (step_) ExprStmt(step_, &body);
    if (body.empty()) body.push_back(builder_.Pass(range));
    out->push_back(builder_.While(range, test, builder_.Block(body), {}));
  }
  scopes_.pop_back();
}

// `for (int i = a; i < b; i += s)`: a loop over range(a, b, s).
bool BodyLowering::CountingFor(Node stmt, Stmts* out) {
  const Node init = stmt["initializer"];
  const Node test = stmt["condition"];
  const Node update = stmt["update"];
  if (!init || !test || !update || test.kind() != Kind::Binary || init.kind() != Kind::Declaration) return false;
  const Node declarator = init["declarator"];
  const bool is_one = std::ranges::count(init.Children(), std::string_view("declarator"), &Node::field) == 1;
  if (!is_one || !declarator || declarator.kind() != Kind::InitDeclarator || !declarator["value"]) return false;
  const Node index = declarator["declarator"];
  if (!index || index.kind() != Kind::Identifier || In(test["left"]) != In(index) || !test["right"]) return false;
  const std::string_view op = In(test["operator"]);
  if (op != "<" && op != "<=" && op != "!=") return false;
  Node step;
  if (update.kind() == Kind::Update) {
    if (In(update["operator"]) != "++" || In(update["argument"]) != In(index)) return false;
  } else if (update.kind() == Kind::Assignment && In(update["operator"]) == "+=" && In(update["left"]) == In(index)) {
    step = update["right"];
  } else {
    return false;
  }
  const ir::Range head = test.range();
  std::vector<ir::Arg> args = {{.value = Expr(declarator["value"])}, {.value = Expr(test["right"])}};
  if (op == "<=") args[1].value = builder_.Binary(head, ir::BinaryOp::Add, args[1].value, builder_.Int(head, 1));
  if (step) args.push_back({.value = Expr(step)});
  const ir::ExprId iterable = builder_.Call(head, External("builtins.range", head), args);
  Local& local = AddLocal(In(index));
  local.is_number = true;
  const ir::ExprId target = builder_.Name(head, local.name);
  step_ = {};
  const ir::BlockId body = Block(stmt["body"]);
  out->push_back(builder_.For(stmt.range(), false, target, iterable, body, {}));
  return true;
}

void BodyLowering::RangeFor(Node stmt, Stmts* out) {
  const Node declarator = stmt["declarator"];
  if (!declarator || !stmt["right"] || !stmt["body"]) return out->push_back(builder_.OpaqueStmt(stmt.range(), {}));
  const ir::ExprId iterable = Expr(stmt["right"]);
  scopes_.emplace_back();
  const Node name = DeclaredName(declarator);
  const ir::Range range = declarator.range();
  ir::ExprId target;
  if (name && name.kind() == Kind::StructuredBinding) {
    std::vector<ir::ExprId> items;
    for (const Node part : name.Children()) items.push_back(builder_.Name(part.range(), AddLocal(In(part)).name));
    target = builder_.Tuple(range, items);
  } else {
    target = builder_.Name(range, AddLocal(name ? In(name) : "_").name);
  }
  const Restored<Node> around(step_);
  step_ = {};
  const ir::BlockId body = Block(stmt["body"]);
  scopes_.pop_back();
  out->push_back(builder_.For(stmt.range(), false, target, iterable, body, {}));
}

void BodyLowering::Try(Node stmt, Stmts* out) {
  if (!stmt["body"]) return out->push_back(builder_.OpaqueStmt(stmt.range(), {}));
  const ir::BlockId body = Block(stmt["body"]);
  std::vector<ir::Handler> handlers;
  for (const Node handler : stmt.Children()) {
    if (handler.kind() != Kind::Catch || !handler["body"]) continue;
    scopes_.emplace_back();
    ir::Handler lowered{.begin = handler.begin(), .end = handler.end()};
    for (const Node param : handler["parameters"] ? handler["parameters"].Children() : std::vector<Node>()) {
      if (const Node type = param["type"]) lowered.type = TypeName(type);
      const Node name = param["declarator"] ? DeclaredName(param["declarator"]) : Node();
      if (name && name.kind() == Kind::Identifier) lowered.name = AddLocal(In(name)).name;
    }
    lowered.body = Block(handler["body"]);
    scopes_.pop_back();
    handlers.push_back(lowered);
  }
  out->push_back(builder_.Try(stmt.range(), false, body, handlers, {}, {}));
}

// Statements of an arm with those it falls through to, without the `break` at their end.
void BodyLowering::ArmOf(std::span<const Node> arms, size_t at, Stmts* out) {
  for (; at < arms.size(); ++at) {
    for (const Node stmt : StatementsOf(arms[at])) {
      if (stmt.kind() == Kind::Break) return;
      Append(stmt, out);
      if (Ends(stmt.kind())) return;
    }
  }
}

// A chain of tests; each chain is the `else` of the one before, and the default comes last, wherever it is written.
void BodyLowering::Switch(Node stmt, Stmts* out) {
  const ir::Range range = stmt.range();
  const Node body = stmt["body"];
  std::vector<Node> arms;
  for (const Node child : body ? body.Children() : std::vector<Node>()) {
    if (child.kind() == Kind::Case) arms.push_back(child);
  }
  arms_ += arms.size();
  if (!stmt["condition"] || arms.size() > kMostArms || arms_ > kMostArmsOfFunction) {
    const size_t most = arms.size() > kMostArms ? kMostArms : kMostArmsOfFunction;
    builder_.AddProblem(ir::ProblemKind::Limit, range, "switch with more than " + std::to_string(most) + " arms");
    return out->push_back(builder_.OpaqueStmt(range, {}));
  }
  scopes_.emplace_back();
  const ir::Range head = stmt["condition"].range();
  const ir::NameId subject = AddLocal("switch").name;
  const ir::ExprId value = Test(stmt["condition"], out);
  const ir::ExprId targets[] = {builder_.Name(head, subject)};
  out->push_back(builder_.Assign(head, targets, value));
  bool breaks_inside = false;
  for (const Node arm : arms) {
    for (const Node each : StatementsOf(arm)) breaks_inside = breaks_inside || (each.kind() != Kind::Break && HasBreak(each));
  }
  ir::BlockId rest;
  const auto lower = [&](size_t i) {
    Stmts lowered;
    scopes_.emplace_back();
    ArmOf(arms, i, &lowered);
    scopes_.pop_back();
    if (lowered.empty()) lowered.push_back(builder_.Pass(range));
    return builder_.Block(lowered);
  };
  const auto is_default = [](Node arm) { return !arm["value"]; };
  if (const auto found = std::ranges::find_if(arms, is_default); found != arms.end()) rest = lower(static_cast<size_t>(found - arms.begin()));
  for (size_t i = arms.size(); i-- > 0;) {
    if (is_default(arms[i])) continue;
    const ir::Range at = arms[i]["value"].range();
    const ir::Comparison same[] = {{ir::CompareOp::Eq, Expr(arms[i]["value"])}};
    const ir::ExprId test = builder_.Compare(at, builder_.Name(head, subject), same);
    const ir::BlockId then_block = lower(i);
    const ir::StmtId chain[] = {builder_.If(range, test, then_block, rest)};
    rest = builder_.Block(chain);
  }
  scopes_.pop_back();
  if (!rest) return;
  Stmts stmts(builder_.module().statements(rest).begin(), builder_.module().statements(rest).end());
  if (!breaks_inside) {
    out->insert(out->end(), stmts.begin(), stmts.end());
    return;
  }
  // A `break` within an arm leaves the switch: a loop that runs once.
  stmts.push_back(builder_.Break(range));
  out->push_back(builder_.While(range, builder_.Constant(range, ir::ConstantKind::True), builder_.Block(stmts), {}));
}

}  // namespace allranks::cpp::syntax
