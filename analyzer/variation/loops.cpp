// Loops: what their variables hold in a round, and behind them, where ranks may leave at different times.
#include <algorithm>
#include <utility>

#include "analyzer/ir/bindings.h"
#include "analyzer/variation/evaluator.h"

namespace allranks::variation {
namespace {

// Of a loop; what variables hold where it is left by more than these is not told.
constexpr size_t kMostBreaks = 4;

}  // namespace

// The variables that a round of a loop may assign, its head included.
const std::vector<uint32_t>& FunctionEvaluator::AssignedIn(const ir::Stmt& loop) {
  const auto [it, is_new] = assigned_in_.try_emplace(&loop);
  std::vector<uint32_t>& slots = it->second;
  if (!is_new) return slots;
  const auto note = [&](const ir::Binding& binding) {
    const auto slot = scope_.slots.find(binding.name);
    if (slot != scope_.slots.end() && std::ranges::count(slots, slot->second) == 0) slots.push_back(slot->second);
  };
  ir::ForEachBinding(module_, loop, note);
  ir::ForEachStmtIn(module_, ir::BodyOf(loop), [&](const ir::Stmt& stmt) {
    // `items.push_back(x);` of a resolved language: the container grows, it does not become another one.
    const bool may_grow = module_.language != ir::Language::Python && stmt.kind == ir::StmtKind::Expr;
    ir::ForEachBinding(module_, stmt, [&](const ir::Binding& binding) {
      if (!may_grow || !binding.in_expression) note(binding);
    });
  });
  return slots;
}

void FunctionEvaluator::EvalLoop(const ir::Stmt& stmt) {
  const bool is_for = stmt.kind == ir::StmtKind::For;
  const ir::ExprId head = is_for ? ir::AssignedOf(stmt) : ir::ValueOf(stmt);
  const std::vector<uint32_t>& assigned = AssignedIn(stmt);
  const Axes outer_exit_axes = std::exchange(loop_exit_axes_, Axes{});
  const Axes outer_round_axes = std::exchange(round_exit_axes_, Axes{});
  std::vector<BrokenOff> breaks = std::exchange(broken_off_, {});
  const size_t outer_path = path_.BeginLoop();
  const ValueId iterable = is_for ? Eval(head) : ValueId::None();
  Env before = env_;
  // A loop inside another is evaluated in each round of that one. Axes only grow, so it starts with what it came to
  // before: else n loops in one another would take 2^n rounds.
  std::vector<Axes>& axes = axes_in_[&stmt];
  axes.resize(env_.slots.size());
  const Heap heap_before = before.heap;
  std::vector<ValueId> carried(env_.slots.size());
  ValueId trips, rounds;
  Axes leaving;
  // Axes only grow; three rounds see any chain of assignments that matters.
  constexpr int kMostRounds = 3;
  for (int round = 0; round < kMostRounds; ++round) {
    env_ = before;
    broken_off_.clear();
    const size_t known_assigned = assigned.size();
    for (const uint32_t slot : assigned) {
      const ValueId initial = before.slots[slot];
      if (initial) axes[slot] = axes[slot] | store_.axes(initial);
      if (!initial || IsObjectLike(store_[LookThrough(tables_, initial)].kind)) continue;
      // What the caller passed goes on in it: `path = path + ".png"` in each attempt.
      const ValueId kids[] = {store_.Symbol(StmtSite(stmt), {}), initial};
      const bool is_passed = store_[initial].kind == ValueKind::Param;
      env_.slots[slot] = store_.Derived(tables_.NameSymbol(scope_.names[slot]), std::span(kids).first(is_passed ? 2 : 1), axes[slot]);
      if (store_[initial].mark) env_.slots[slot] = store_.WithMark(env_.slots[slot], store_[initial].mark);
      carried[slot] = env_.slots[slot];
    }
    loops_.push_back(&stmt);
    const size_t loops_outside = going_through_.size();
    if (is_for) {
      const Iteration iteration = Iterate(head, iterable);
      trips = iteration.trip_count;
      Assign(ir::ValueOf(stmt), iteration.element);
      if (iteration.element) going_through_.push_back({.variable = iteration.element, .sequence = iterable});
    } else {
      trips = Condition(head);
      if (const ValueId counted = CountedDown(stmt, before)) trips = counted;
    }
    facts_.trip_counts.emplace_back(head, trips);
    trips_.push_back(trips);
    EvalBlock(ir::BodyOf(stmt));
    trips_.pop_back();
    loops_.pop_back();
    going_through_.resize(loops_outside);
    leaving = store_.axes(trips) | loop_exit_axes_ | round_exit_axes_;
    rounds = store_.Counted(tables_.NameSymbol("how often"), {&trips, 1}, loop_exit_axes_ | round_exit_axes_);
    bool grew = ForgetStoredInRound(before.heap, env_.heap) || assigned.size() > known_assigned;
    for (const uint32_t slot : assigned) {
      const ValueId after = env_.slots[slot];
      // Ranks that are in one round have all come through the rounds before: what leaves the loop tells those behind it apart.
      Axes wider = axes[slot] | round_exit_axes_;
      if (after) {
        const Axes lost = IsSumOfRounds(carried[slot], after) ? Axes::Of(Axis::HashOrder) : Axes{};
        wider = wider | Without(store_.axes(after), lost);
      }
      grew = grew || !(wider == axes[slot]);
      axes[slot] = wider;
    }
    if (!grew) break;
  }
  env_.reachable = true;
  std::swap(breaks, broken_off_);
  path_.EndLoop(outer_path);
  const bool has_round = breaks.size() < kMostBreaks && HasRounds(stmt, trips, false);
  for (const uint32_t slot : assigned) {
    const ValueId initial = before.slots[slot];
    const ValueId after = env_.slots[slot];
    const Axes behind = axes[slot] | leaving;
    const bool is_assigned_anew = initial && after && initial != after;
    const ValueId counted = is_assigned_anew ? CountedUp(initial, carried[slot], after, rounds) : ValueId::None();
    for (BrokenOff& each : breaks) {
      ValueId& value = each.slots[slot];
      const bool is_new = value && value != initial && value != carried[slot] && !counted;
      // A constant is the same in whichever round a rank leaves; whether it leaves there is the condition's matter.
      value = !is_new ? ValueId::None() : IsConstant(store_[value]) ? value : store_.WithAxes(value, leaving);
    }
    if (!is_assigned_anew) {
      if (after) env_.slots[slot] = store_.WithAxes(after, behind);
      else env_.slots[slot] = initial;
      continue;
    }
    if (counted) {
      env_.slots[slot] = counted;
      continue;
    }
    const bool is_new_at_end = has_round && std::ranges::all_of(breaks, [&](const BrokenOff& each) { return static_cast<bool>(each.slots[slot]); });
    const ValueId ran = is_new_at_end ? store_.True() : store_.Symbol(StmtSite(stmt), {});
    const ValueId kids[] = {ran, initial};
    const bool is_sum = store_.axes(after).has(Axis::HashOrder) && IsSumOfRounds(carried[slot], after);
    const ValueId last = is_sum ? store_.Derived(tables_.NameSymbol(scope_.names[slot]), kids) : after;
    const ValueId either = store_.Select(ran, last, initial);
    env_.slots[slot] = is_new_at_end && IsConstant(store_[either]) ? either : store_.WithAxes(either, behind);
  }
  if (!HasRounds(stmt, trips, true)) MergeLoop(store_, env_, before, heap_before, store_.Symbol(StmtSite(stmt), store_.axes(rounds)));
  loop_exit_axes_ = outer_exit_axes;
  round_exit_axes_ = outer_round_axes;
  EvalBlock(ir::ElseBlockOf(stmt));
  MergeBreaks(stmt, breaks, env_.reachable && (is_for || trips != store_.True()), leaving);
  env_.reachable = true;
}

void FunctionEvaluator::NoteBreak() {
  if (broken_off_.size() < kMostBreaks) broken_off_.push_back({path_.WithinLoop(), env_.slots});
}

// What rounds assigned where they left the loop. `goes_on`: whether it may end by itself as well, with what its variables hold by now.
// `leaving`: of what decides when ranks leave.
void FunctionEvaluator::MergeBreaks(const ir::Stmt& loop, std::span<const BrokenOff> breaks, bool goes_on, Axes leaving) {
  const auto is_set_by_all = [&](uint32_t slot) {
    return breaks.size() < kMostBreaks && std::ranges::all_of(breaks, [&](const BrokenOff& each) { return static_cast<bool>(each.slots[slot]); });
  };
  for (const BrokenOff& each : breaks) {
    const bool is_always = store_[each.condition].kind == ValueKind::Bool;
    const ValueId left = is_always ? store_.Symbol(StmtSite(loop), store_.axes(each.condition)) : each.condition;
    for (const uint32_t slot : AssignedIn(loop)) {
      const ValueId value = each.slots[slot];
      const ValueId other = env_.slots[slot];
      if (!value || value == other) continue;
      const bool is_constant = IsConstant(store_[value]);
      const bool is_said = !is_constant || Without(leaving, store_.axes(left)).empty();
      if (goes_on && other) env_.slots[slot] = store_.Select(is_said ? left : store_.WithAxes(left, leaving), value, other);
      else if (is_constant && is_set_by_all(slot)) env_.slots[slot] = value;
      else env_.slots[slot] = store_.WithAxes(value, is_constant ? store_.axes(left) | leaving : store_.axes(left));
    }
    goes_on = true;
  }
}

// `while left > 0: ...; left -= 1` where ranks start with different numbers: as many rounds as that. None of any other loop.
ValueId FunctionEvaluator::CountedDown(const ir::Stmt& loop, const Env& before) const {
  const ir::Expr* asked = &module_[ir::ValueOf(loop)];
  if (asked->kind == ir::ExprKind::Compare) {
    const bool is_one = ir::ComparisonCount(module_, *asked) == 1;
    const ir::Comparison comparison = ir::ComparisonAt(module_, *asked, 0);
    const ir::Expr& bound = module_[comparison.operand];
    const bool is_zero = bound.kind == ir::ExprKind::Constant && ir::ConstantKindOf(bound) == ir::ConstantKind::Int && ir::IntOf(bound) == 0;
    if (!is_one || !is_zero || comparison.op != ir::CompareOp::Greater) return {};
    asked = &module_[ir::CalleeOf(*asked)];
  }
  if (asked->kind != ir::ExprKind::Name) return {};
  const NameId name = ir::NameOf(*asked);
  const auto slot = scope_.slots.find(name);
  const ValueId initial = slot == scope_.slots.end() ? ValueId() : before.slots[slot->second];
  if (!initial || !store_.IsWholeNumber(initial) || store_.axes(initial).empty()) return {};
  size_t stores = 0;
  bool is_cut = false;
  ir::ForEachStmtIn(module_, ir::BodyOf(loop), [&](const ir::Stmt& stmt) {
    is_cut = is_cut || stmt.kind == ir::StmtKind::Continue;
    ir::ForEachBinding(module_, stmt, [&](const ir::Binding& binding) { stores += binding.name == name ? 1 : 0; });
  });
  const auto counts_down = [&](ir::StmtId id) {
    const ir::Stmt& stmt = module_[id];
    if (stmt.kind != ir::StmtKind::AugAssign || static_cast<ir::BinaryOp>(stmt.op) != ir::BinaryOp::Sub) return false;
    const ir::Expr& target = module_[ir::ValueOf(stmt)];
    const ir::Expr& step = module_[ir::AssignedOf(stmt)];
    const bool is_one = step.kind == ir::ExprKind::Constant && ir::ConstantKindOf(step) == ir::ConstantKind::Int && ir::IntOf(step) == 1;
    return is_one && target.kind == ir::ExprKind::Name && ir::NameOf(target) == name;
  };
  const bool is_counted = !is_cut && stores == 1 && std::ranges::any_of(module_.statements(ir::BodyOf(loop)), counts_down);
  return is_counted ? initial : ValueId();
}

// Whether a loop has at least one round, and none is cut short: by `continue`, or, for `to_its_end`, by `break` either.
bool FunctionEvaluator::HasRounds(const ir::Stmt& loop, ValueId trips, bool to_its_end) const {
  if (loop.kind != ir::StmtKind::For || !trips || store_[trips].kind != ValueKind::Int) return false;
  if (store_[trips].count().value_or(0) == 0) return false;
  bool is_cut = false;
  ir::ForEachStmtIn(module_, ir::BodyOf(loop), [&](const ir::Stmt& stmt) {
    is_cut = is_cut || (to_its_end && stmt.kind == ir::StmtKind::Break) || stmt.kind == ir::StmtKind::Continue;
  });
  return !is_cut;
}

// `n += step` in each round of a loop whose rounds differ: as many steps as rounds. None of anything else.
ValueId FunctionEvaluator::CountedUp(ValueId initial, ValueId carried, ValueId after, ValueId rounds) {
  const Value& next = store_[after];
  if (store_.axes(rounds).empty() || next.kind != ValueKind::Binary || !carried) return {};
  const auto [left, step] = store_.OperandsOf(after);
  const bool is_step = next.binary_op() == ir::BinaryOp::Add && left == carried && store_[step].kind == ValueKind::Int;
  if (!is_step) return {};
  return store_.Binary(ir::BinaryOp::Add, initial, store_.Binary(ir::BinaryOp::Mul, rounds, step));
}

}  // namespace allranks::variation
