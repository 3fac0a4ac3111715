// Loops: what their variables hold in a round, and behind them, where ranks may leave at different times.
#include <algorithm>
#include <utility>

#include "analyzer/variation/evaluator.h"
#include "analyzer/variation/rounds.h"

namespace allranks::variation {
namespace {

// Of a loop; what variables hold where it is left by more than these is not told.
constexpr size_t kMostBreaks = 4;

// What is left open where it is a number: `rank = 0`, and in each round `if name in os.environ: rank = int(os.environ[name]); break`. A launcher
// sees to it that some name is there.
bool IsFlag(const ValueStore& store, ValueId value) {
  return value && (store[value].kind == ValueKind::Bool || store[value].kind == ValueKind::None);
}

}  // namespace

const LoopSlots& FunctionEvaluator::SlotsOf(const ir::Stmt& loop) {
  const auto known = slots_in_.find(&loop);
  if (known != slots_in_.end()) return known->second;
  return slots_in_.emplace(&loop, SlotsIn(module_, scope_, loop)).first->second;
}

void FunctionEvaluator::EvalLoop(const ir::Stmt& stmt) {
  const bool is_for = stmt.kind == ir::StmtKind::For;
  const ir::ExprId head = is_for ? ir::AssignedOf(stmt) : ir::ValueOf(stmt);
  const LoopSlots& slots = SlotsOf(stmt);
  const std::vector<uint32_t>& assigned = slots.assigned;
  const Axes outer_exit_axes = std::exchange(loop_exit_axes_, Axes{});
  const Axes outer_round_axes = std::exchange(round_exit_axes_, Axes{});
  std::vector<BrokenOff> breaks = std::exchange(broken_off_, {});
  const size_t outer_path = path_.BeginLoop();
  const ValueId iterable = is_for ? Eval(head) : ValueId::None();
  Env before = env_;
  const auto is_carried = [&](uint32_t slot) { return std::ranges::count(slots.carried, slot) > 0 || !IsFlag(store_, before.slots[slot]); };
  // A loop inside another is evaluated in each round of that one. Axes only grow, so it starts with what it came to
  // before: else n loops in one another would take 2^n rounds.
  std::vector<Axes>& axes = axes_in_[&stmt];
  axes.resize(env_.slots.size());
  const Heap heap_before = before.heap;
  std::vector<ValueId> carried(env_.slots.size());
  ValueId trips, rounds, counter;
  Axes leaving;
  // Axes only grow; three rounds see any chain of assignments that matters.
  constexpr int kMostRounds = 3;
  for (int round = 0; round < kMostRounds; ++round) {
    env_ = before;
    broken_off_.clear();
    const size_t known_slots = assigned.size() + slots.carried.size();
    for (const uint32_t slot : assigned) {
      const ValueId initial = before.slots[slot];
      if (initial) axes[slot] = axes[slot] | store_.axes(initial);
      if (!initial || !is_carried(slot) || IsObjectLike(store_[LookThrough(tables_, initial)].kind)) continue;
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
      const Iteration iteration = iterations_.Over(head, iterable);
      trips = iteration.trip_count;
      counter = CounterOf(head, iteration.element);
      Assign(ir::ValueOf(stmt), iteration.element);
      if (iteration.element) going_through_.push_back({.variable = iteration.element, .sequence = iterable});
    } else {
      trips = Condition(head);
      if (const ValueId counted = CountedDown(module_, scope_, store_, stmt, before.slots)) trips = counted;
    }
    const size_t noted = facts_.trip_counts.size();
    facts_.trip_counts.emplace_back(head, trips);
    trips_.push_back(trips);
    EvalBlock(ir::BodyOf(stmt));
    trips_.pop_back();
    loops_.pop_back();
    going_through_.resize(loops_outside);
    const auto counts = [&](ValueId value) { return value == counter || IsCountedIn(assigned, carried, value); };
    if (const ValueId agreed = AgreedEnd(module_, store_, tables_.facts.exprs[func_.module.index], stmt, counts)) {
      trips = agreed;
      facts_.trip_counts[noted].second = agreed;
    }
    if (const ValueId counted = CountedTo(module_, scope_, store_, tables_.facts.exprs[func_.module.index], stmt, before.slots)) {
      trips = counted;
      facts_.trip_counts[noted].second = counted;
    }
    leaving = store_.axes(trips) | loop_exit_axes_ | round_exit_axes_;
    rounds = store_.Counted(tables_.NameSymbol("how often"), {&trips, 1}, loop_exit_axes_ | round_exit_axes_);
    bool grew = ForgetStoredInRound(before.heap, env_.heap) || assigned.size() + slots.carried.size() > known_slots;
    for (const uint32_t slot : assigned) {
      const ValueId after = env_.slots[slot];
      // Ranks that are in one round have all come through the rounds before: what leaves the loop tells those behind it apart.
      Axes wider = axes[slot] | round_exit_axes_;
      if (after) {
        const Axes lost = IsSumOfRounds(tables_, carried[slot], after) ? Axes::Of(Axis::HashOrder) : Axes{};
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
  const bool has_round = breaks.size() < kMostBreaks && HasRounds(module_, store_, stmt, trips, false);
  for (const uint32_t slot : assigned) {
    const ValueId initial = before.slots[slot];
    const ValueId after = env_.slots[slot];
    const Axes behind = axes[slot] | leaving;
    const bool is_assigned_anew = initial && after && initial != after;
    const ValueId counted = is_assigned_anew ? CountedUp(store_, initial, carried[slot], after, rounds) : ValueId::None();
    for (BrokenOff& each : breaks) {
      ValueId& value = each.slots[slot];
      const bool is_new = value && value != initial && value != carried[slot] && !counted;
      // A constant is the same in whichever round a rank leaves; whether it leaves there is the condition's matter.
      value = !is_new ? ValueId::None() : IsConstant(store_[value]) ? value : store_.WithAxes(value, leaving);
    }
    if (!is_assigned_anew) {
      env_.slots[slot] = !after ? initial : is_carried(slot) ? store_.WithAxes(after, behind) : after;
      continue;
    }
    if (counted) {
      env_.slots[slot] = counted;
      continue;
    }
    const bool is_new_at_end = has_round && std::ranges::all_of(breaks, [&](const BrokenOff& each) { return static_cast<bool>(each.slots[slot]); });
    const ValueId ran = is_new_at_end ? store_.True() : store_.Symbol(StmtSite(stmt), {});
    const ValueId kids[] = {ran, initial};
    const bool is_sum = store_.axes(after).has(Axis::HashOrder) && IsSumOfRounds(tables_, carried[slot], after);
    const ValueId last = is_sum ? store_.Derived(tables_.NameSymbol(scope_.names[slot]), kids) : after;
    const ValueId either = store_.Select(ran, last, initial);
    env_.slots[slot] = is_new_at_end && IsConstant(store_[either]) ? either : store_.WithAxes(either, behind);
  }
  if (!HasRounds(module_, store_, stmt, trips, true)) MergeLoop(store_, env_, before, heap_before, store_.Symbol(StmtSite(stmt), store_.axes(rounds)));
  loop_exit_axes_ = outer_exit_axes;
  round_exit_axes_ = outer_round_axes;
  EvalBlock(ir::ElseBlockOf(stmt));
  MergeBreaks(stmt, breaks, env_.reachable && (is_for || trips != store_.True()), leaving);
  env_.reachable = true;
}

// The first of the two that `enumerate` yields.
ValueId FunctionEvaluator::CounterOf(ir::ExprId iterable, ValueId element) {
  const bool is_pair = element && store_[element].kind == ValueKind::Tuple && store_[element].kid_count == 2;
  const ValueId first = is_pair ? store_.Kids(element)[0] : ValueId::None();
  return first == store_.Symbol(Site(iterable), {}) ? first : ValueId::None();
}

// A variable that each round adds a number to, as a round finds or leaves it.
bool FunctionEvaluator::IsCountedIn(std::span<const uint32_t> slots, std::span<const ValueId> carried, ValueId value) const {
  return value && std::ranges::any_of(slots, [&](uint32_t slot) {
    const ValueId after = env_.slots[slot];
    if (!carried[slot] || !after || !store_[after].is_binary(ir::BinaryOp::Add)) return false;
    const auto [left, step] = store_.OperandsOf(after);
    return left == carried[slot] && store_[step].kind == ValueKind::Int && (value == carried[slot] || value == after);
  });
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
    for (const uint32_t slot : SlotsOf(loop).assigned) {
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

}  // namespace allranks::variation
