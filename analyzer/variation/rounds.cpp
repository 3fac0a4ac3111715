#include "analyzer/variation/rounds.h"

#include <algorithm>
#include <optional>

#include "analyzer/ir/bindings.h"
#include "analyzer/variation/comparison.h"

namespace allranks::variation {
namespace {

bool IsConstantInt(const ir::Expr& expr, int64_t number) {
  return expr.kind == ir::ExprKind::Constant && ir::ConstantKindOf(expr) == ir::ConstantKind::Int && ir::IntOf(expr) == number;
}

// The variable that a loop asks for being positive: `while left:`, `while left > 0:`.
NameId AskedForMore(const ir::Module& module, const ir::Stmt& loop) {
  const ir::Expr* asked = &module[ir::ValueOf(loop)];
  if (asked->kind == ir::ExprKind::Compare) {
    const ir::Comparison comparison = ir::ComparisonAt(module, *asked, 0);
    const bool is_one = ir::ComparisonCount(module, *asked) == 1;
    if (!is_one || comparison.op != ir::CompareOp::Greater || !IsConstantInt(module[comparison.operand], 0)) return {};
    asked = &module[ir::CalleeOf(*asked)];
  }
  return asked->kind == ir::ExprKind::Name ? ir::NameOf(*asked) : NameId::None();
}

// `name -= 1`
bool CountsDown(const ir::Module& module, const ir::Stmt& stmt, NameId name) {
  if (stmt.kind != ir::StmtKind::AugAssign || static_cast<ir::BinaryOp>(stmt.op) != ir::BinaryOp::Sub) return false;
  const ir::Expr& target = module[ir::ValueOf(stmt)];
  return target.kind == ir::ExprKind::Name && ir::NameOf(target) == name && IsConstantInt(module[ir::AssignedOf(stmt)], 1);
}

// A variable that a number is added to, or taken from.
struct Counter {
  NameId name;
  ir::ExprId step;
  bool goes_up = true;
};

// `i + step` for `i`.
Counter CounterBy(const ir::Module& module, ir::ExprId target, ir::ExprId sum) {
  const ir::Expr& expr = module[sum];
  if (module[target].kind != ir::ExprKind::Name || expr.kind != ir::ExprKind::Binary) return {};
  const auto op = static_cast<ir::BinaryOp>(expr.op);
  const ir::Expr& left = module[ir::LeftOf(expr)];
  const bool is_own = left.kind == ir::ExprKind::Name && ir::NameOf(left) == ir::NameOf(module[target]);
  if (!is_own || (op != ir::BinaryOp::Add && op != ir::BinaryOp::Sub)) return {};
  return {ir::NameOf(left), ir::RightOf(expr), op == ir::BinaryOp::Add};
}

// `i += step;`, `++i;` of a language in which they are expressions; `i++;` is `(i += 1) - 1`.
Counter CounterIn(const ir::Module& module, ir::ExprId id) {
  const ir::Expr* expr = &module[id];
  if (expr->kind == ir::ExprKind::Binary) expr = &module[ir::LeftOf(*expr)];
  return expr->kind == ir::ExprKind::Walrus ? CounterBy(module, ir::LeftOf(*expr), ir::RightOf(*expr)) : Counter{};
}

Counter CounterOf(const ir::Module& module, const ir::Stmt& stmt) {
  switch (stmt.kind) {
    case ir::StmtKind::AugAssign: {
      const auto op = static_cast<ir::BinaryOp>(stmt.op);
      const bool is_name = module[ir::ValueOf(stmt)].kind == ir::ExprKind::Name;
      if (!is_name || (op != ir::BinaryOp::Add && op != ir::BinaryOp::Sub)) return {};
      return {ir::NameOf(module[ir::ValueOf(stmt)]), ir::AssignedOf(stmt), op == ir::BinaryOp::Add};
    }
    case ir::StmtKind::Assign: {
      const ir::ExprList targets = ir::TargetsOf(module, stmt);
      return targets.size() == 1 ? CounterBy(module, targets[0], ir::AssignedOf(stmt)) : Counter{};
    }
    case ir::StmtKind::Expr:
      return CounterIn(module, ir::ValueOf(stmt));
    default:
      return {};
  }
}

// `while i < end`, `while end > i`: the variable, how it is compared, and with what.
struct AskedEnd {
  NameId name;
  ir::CompareOp op{};
  ir::ExprId end;
};

AskedEnd EndAskedFor(const ir::Module& module, const ir::Stmt& loop) {
  const ir::Expr& asked = module[ir::ValueOf(loop)];
  if (asked.kind != ir::ExprKind::Compare || ir::ComparisonCount(module, asked) != 1) return {};
  const ir::Comparison comparison = ir::ComparisonAt(module, asked, 0);
  if (comparison.op < ir::CompareOp::Less || comparison.op > ir::CompareOp::GreaterEq) return {};
  const ir::ExprId left = ir::CalleeOf(asked);
  if (module[left].kind == ir::ExprKind::Name) return {ir::NameOf(module[left]), comparison.op, comparison.operand};
  if (module[comparison.operand].kind != ir::ExprKind::Name) return {};
  return {ir::NameOf(module[comparison.operand]), Mirrored(comparison.op), left};
}

// Whether an expression only calculates, with variables that no round of the loop assigns.
bool IsFixed(const ir::Module& module, const ir::Stmt& loop, ir::ExprId id) {
  const ir::Expr& expr = module[id];
  switch (expr.kind) {
    case ir::ExprKind::Constant:
      return true;
    case ir::ExprKind::Name: {
      bool is_assigned = false;
      ir::ForEachBindingIn(module, ir::BodyOf(loop), [&](const ir::Binding& binding) { is_assigned = is_assigned || binding.name == ir::NameOf(expr); });
      return !is_assigned;
    }
    case ir::ExprKind::Binary:
    case ir::ExprKind::Unary:
    case ir::ExprKind::Conditional:
    case ir::ExprKind::Compare: {
      bool is_fixed = true;
      ir::ForEachPart(module, id, [&](ir::ExprId part) { is_fixed = is_fixed && IsFixed(module, loop, part); });
      return is_fixed;
    }
    default:
      return false;
  }
}

// A number on each rank, one of two such by the rank, or calculated of such and of what callers pass.
bool IsNumberOnRanks(const ValueStore& store, ValueId value) {
  if (!value) return false;
  const auto are_numbers = [&](size_t first) {
    return std::ranges::all_of(store.Kids(value).subspan(first), [&](ValueId kid) { return IsNumberOnRanks(store, kid); });
  };
  switch (store[value].kind) {
    case ValueKind::Param:
      return true;
    case ValueKind::Select:
      return are_numbers(1);
    case ValueKind::Binary: {
      const auto op = store[value].binary_op();
      return (op == ir::BinaryOp::Add || op == ir::BinaryOp::Sub || op == ir::BinaryOp::Mul || op == ir::BinaryOp::FloorDiv) && are_numbers(0);
    }
    default:
      return store.IsWholeNumber(value);
  }
}

// How many steps cover a distance, on each rank with its own.
ValueId StepsOver(ValueStore& store, ValueId distance, ValueId step) {
  if (store[step].kind == ValueKind::Select) return store.OfArms(step, [&](ValueId arm) { return StepsOver(store, distance, arm); });
  return step == store.Int(1) ? distance : RoundedUp(store, distance, step);
}

// `i` of `i + 1`.
ValueId WithoutOffset(const ValueStore& store, ValueId value) {
  if (!value || (!store[value].is_binary(ir::BinaryOp::Add) && !store[value].is_binary(ir::BinaryOp::Sub))) return value;
  const auto [left, right] = store.OperandsOf(value);
  return store[right].kind == ValueKind::Int ? left : value;
}

// The agreed number that a count of rounds has come to where this holds: alone, or as one of several reasons.
ValueId AgreedNumberIn(const ValueStore& store, ValueId test, const std::function<bool(ValueId)>& counts) {
  const auto kids = test ? store.Kids(test) : std::span<const ValueId>();
  if (test && store[test].kind == ValueKind::Or) {
    for (const ValueId kid : kids) {
      if (const ValueId number = AgreedNumberIn(store, kid, counts)) return number;
    }
  }
  if (!test || store[test].kind != ValueKind::Compare) return {};
  const auto op = store[test].compare_op();
  const bool is_above = op == ir::CompareOp::Greater || op == ir::CompareOp::GreaterEq || op == ir::CompareOp::Eq;
  const bool is_below = op == ir::CompareOp::Less || op == ir::CompareOp::LessEq || op == ir::CompareOp::Eq;
  const auto [left, right] = store.OperandsOf(test);
  const auto is_number = [&](ValueId value) { return store.IsAgreed(WithoutOffset(store, value)); };
  if (is_above && counts(WithoutOffset(store, left)) && is_number(right)) return WithoutOffset(store, right);
  if (is_below && counts(WithoutOffset(store, right)) && is_number(left)) return WithoutOffset(store, left);
  return {};
}

// The variables that a loop binds, by slot.
class BoundInLoop {
 public:
  BoundInLoop(const ir::Module& module, const Scope& scope, const ir::Stmt& loop) : module_(module), scope_(scope) {
    ir::ForEachBinding(module, loop, [&](const ir::Binding& binding) { Add(binding); });
  }

  void Note(const ir::Stmt& stmt) {
    // `items.push_back(x);` of a resolved language: the container grows, it does not become another one.
    const bool may_grow = module_.language != ir::Language::Python && stmt.kind == ir::StmtKind::Expr;
    const NameId counter = may_grow ? CounterIn(module_, ir::ValueOf(stmt)).name : NameId::None();
    ir::ForEachBinding(module_, stmt, [&](const ir::Binding& binding) {
      if (!may_grow || !binding.in_expression || binding.name == counter) Add(binding);
    });
  }

  std::vector<uint32_t> Get() && { return std::move(slots_); }

 private:
  void Add(const ir::Binding& binding) {
    const auto slot = scope_.slots.find(binding.name);
    if (slot != scope_.slots.end() && std::ranges::count(slots_, slot->second) == 0) slots_.push_back(slot->second);
  }

  const ir::Module& module_;
  const Scope& scope_;
  std::vector<uint32_t> slots_;
};

// Whether every way through a block of a loop leaves that loop. `is_inner`: the block is of a loop within it.
bool LeavesLoop(const ir::Module& module, ir::BlockId block, bool is_inner) {
  const auto statements = module.statements(block);
  if (statements.empty()) return false;
  const ir::StmtKind last = module[statements.back()].kind;
  bool goes_on = last != ir::StmtKind::Return && (last != ir::StmtKind::Break || is_inner);
  ir::ForEachStmtIn(module, block, [&](const ir::Stmt& stmt) { goes_on = goes_on || stmt.kind == ir::StmtKind::Continue; });
  return !goes_on;
}

// What is assigned in a `try` may be handed on by a handler.
void NoteCarried(const ir::Module& module, ir::BlockId block, bool is_inner, BoundInLoop& slots) {
  for (const ir::StmtId id : module.statements(block)) {
    const ir::Stmt& stmt = module[id];
    slots.Note(stmt);
    const bool is_loop = stmt.kind == ir::StmtKind::For || stmt.kind == ir::StmtKind::While;
    ir::ForEachBlock(module, stmt, [&](ir::BlockId inner) {
      if (stmt.kind == ir::StmtKind::Try) ir::ForEachStmtIn(module, inner, [&](const ir::Stmt& each) { slots.Note(each); });
      else if (!LeavesLoop(module, inner, is_inner || is_loop)) NoteCarried(module, inner, is_inner || is_loop, slots);
    });
  }
}

}  // namespace

LoopSlots SlotsIn(const ir::Module& module, const Scope& scope, const ir::Stmt& loop) {
  BoundInLoop assigned(module, scope, loop), carried(module, scope, loop);
  ir::ForEachStmtIn(module, ir::BodyOf(loop), [&](const ir::Stmt& stmt) { assigned.Note(stmt); });
  NoteCarried(module, ir::BodyOf(loop), false, carried);
  return {std::move(assigned).Get(), std::move(carried).Get()};
}

bool HasRounds(const ir::Module& module, const ValueStore& store, const ir::Stmt& loop, ValueId trips, bool to_its_end) {
  if (loop.kind != ir::StmtKind::For || !trips || store[trips].count().value_or(0) == 0) return false;
  bool is_cut = false;
  ir::ForEachStmtIn(module, ir::BodyOf(loop), [&](const ir::Stmt& stmt) {
    is_cut = is_cut || (to_its_end && stmt.kind == ir::StmtKind::Break) || stmt.kind == ir::StmtKind::Continue;
  });
  return !is_cut;
}

ValueId CountedDown(const ir::Module& module, const Scope& scope, const ValueStore& store, const ir::Stmt& loop, std::span<const ValueId> slots) {
  const NameId name = AskedForMore(module, loop);
  const auto slot = scope.slots.find(name);
  const ValueId initial = !name || slot == scope.slots.end() ? ValueId() : slots[slot->second];
  if (!initial || !store.IsWholeNumber(initial) || store.axes(initial).empty()) return {};
  size_t stores = 0;
  bool is_cut = false;
  ir::ForEachStmtIn(module, ir::BodyOf(loop), [&](const ir::Stmt& stmt) {
    is_cut = is_cut || stmt.kind == ir::StmtKind::Continue;
    ir::ForEachBinding(module, stmt, [&](const ir::Binding& binding) { stores += binding.name == name ? 1 : 0; });
  });
  const auto counts_down = [&](ir::StmtId id) { return CountsDown(module, module[id], name); };
  const bool is_counted = !is_cut && stores == 1 && std::ranges::any_of(module.statements(ir::BodyOf(loop)), counts_down);
  return is_counted ? initial : ValueId();
}

ValueId CountedTo(const ir::Module& module, const Scope& scope, ValueStore& store, const base::IdVector<ir::ExprId, ValueId>& values,
                  const ir::Stmt& loop, std::span<const ValueId> slots) {
  if (loop.kind != ir::StmtKind::While) return {};
  const AskedEnd asked = EndAskedFor(module, loop);
  const auto slot = scope.slots.find(asked.name);
  const ValueId initial = !asked.name || slot == scope.slots.end() ? ValueId() : slots[slot->second];
  if (!IsNumberOnRanks(store, initial) || !IsFixed(module, loop, asked.end)) return {};
  size_t stores = 0;
  bool is_cut = false;
  ir::ForEachStmtIn(module, ir::BodyOf(loop), [&](const ir::Stmt& stmt) {
    is_cut = is_cut || stmt.kind == ir::StmtKind::Continue;
    ir::ForEachBinding(module, stmt, [&](const ir::Binding& binding) { stores += binding.name == asked.name ? 1 : 0; });
  });
  if (is_cut || stores != 1) return {};
  const bool goes_up = asked.op == ir::CompareOp::Less || asked.op == ir::CompareOp::LessEq;
  for (const ir::StmtId id : module.statements(ir::BodyOf(loop))) {
    const Counter counter = CounterOf(module, module[id]);
    if (counter.name != asked.name) continue;
    const ValueId end = values[asked.end];
    const ValueId step = values[counter.step];
    const bool is_known = IsNumberOnRanks(store, end) && IsNumberOnRanks(store, step) && IsFixed(module, loop, counter.step);
    if (!is_known || counter.goes_up != goes_up) return {};
    const ValueId from = goes_up ? initial : end;
    ValueId distance = goes_up ? end : initial;
    if (from != store.Int(0)) distance = store.Binary(ir::BinaryOp::Sub, distance, from);
    if (asked.op == ir::CompareOp::LessEq || asked.op == ir::CompareOp::GreaterEq) distance = store.Binary(ir::BinaryOp::Add, distance, store.Int(1));
    const ValueId count = StepsOver(store, distance, step);
    const bool may_differ = !store.axes(count).empty() || store.has_param(count);
    return store[count].kind == ValueKind::Int || may_differ ? count : ValueId();
  }
  return {};
}

bool IsNumberOfRounds(const ValueStore& store, ValueId trips) {
  if (!trips) return false;
  const ValueKind kind = store[trips].kind;
  if (kind == ValueKind::Select) {
    const Arms arms = store.ArmsOf(trips);
    return IsNumberOfRounds(store, arms.then_value) && IsNumberOfRounds(store, arms.else_value);
  }
  return kind == ValueKind::Binary || kind == ValueKind::Param || store.IsWholeNumber(trips);
}

ValueId CountedUp(ValueStore& store, ValueId initial, ValueId carried, ValueId after, ValueId rounds) {
  if (store.axes(rounds).empty() || !carried || !store[after].is_binary(ir::BinaryOp::Add)) return {};
  const auto [left, step] = store.OperandsOf(after);
  if (left != carried || store[step].kind != ValueKind::Int) return {};
  return store.Binary(ir::BinaryOp::Add, initial, store.Binary(ir::BinaryOp::Mul, rounds, step));
}

ValueId RoundedUp(ValueStore& store, ValueId distance, ValueId step) {
  const ValueId rest = store.Binary(ir::BinaryOp::Sub, step, store.Int(1));
  return store.Binary(ir::BinaryOp::FloorDiv, store.Binary(ir::BinaryOp::Add, distance, rest), step);
}

ValueId Least(Tables& tables, std::span<const ValueId> numbers) {
  ValueStore& store = tables.store;
  std::vector<ValueId> kept;
  std::optional<int64_t> known;
  for (const ValueId number : numbers) {
    if (store.IsAgreed(number)) return number;
    const Value& value = store[number];
    if (value.kind == ValueKind::Int) known = std::min(*value.integer(), known.value_or(*value.integer()));
    else if (std::ranges::find(kept, number) == kept.end()) kept.push_back(number);
  }
  if (known) kept.push_back(store.Int(*known));
  return kept.size() == 1 ? kept[0] : store.Derived(tables.NameSymbol("builtins.min"), kept);
}

ValueId AgreedEnd(const ir::Module& module, const ValueStore& store, const base::IdVector<ir::ExprId, ValueId>& values, const ir::Stmt& loop,
                  const std::function<bool(ValueId)>& counts) {
  if (loop.kind != ir::StmtKind::For) return {};
  uint32_t first_cut = ~0u;
  ir::ForEachStmtIn(module, ir::BodyOf(loop), [&](const ir::Stmt& stmt) {
    if (stmt.kind == ir::StmtKind::Continue) first_cut = std::min(first_cut, stmt.begin);
  });
  for (const ir::StmtId id : module.statements(ir::BodyOf(loop))) {
    const ir::Stmt& stmt = module[id];
    if (stmt.kind != ir::StmtKind::If || stmt.begin > first_cut) continue;
    const auto leaves = [&](ir::StmtId inner) { return module[inner].kind == ir::StmtKind::Break; };
    if (std::ranges::none_of(module.statements(ir::BodyOf(stmt)), leaves)) continue;
    if (const ValueId number = AgreedNumberIn(store, values[ir::ValueOf(stmt)], counts)) return number;
  }
  return {};
}

bool IsOneText(Tables& tables, ValueId value) {
  const Value& known = tables.store[value];
  const auto kids = tables.store.Kids(value);
  const auto is = [&](std::string_view operation) { return known.is_derived(tables.NameSymbol(operation)); };
  const bool is_one_of = is("element") && kids.size() > 1;
  if (known.kind == ValueKind::Select || is_one_of) {
    return std::ranges::any_of(kids.subspan(is_one_of ? 0 : 1), [&](ValueId kid) { return kid && IsOneText(tables, kid); });
  }
  return known.kind == ValueKind::Str || is("f-string");
}

bool IsSumOfRounds(Tables& tables, ValueId carried, ValueId after) {
  const Value& next = tables.store[after];
  if (next.kind != ValueKind::Binary || !carried) return false;
  constexpr ir::BinaryOp kCommutative[] = {ir::BinaryOp::Add, ir::BinaryOp::Mul, ir::BinaryOp::BitAnd, ir::BinaryOp::BitOr};
  const auto [left, right] = tables.store.OperandsOf(after);
  return std::ranges::count(kCommutative, next.binary_op()) > 0 && left == carried && !IsOneText(tables, right);
}

}  // namespace allranks::variation
