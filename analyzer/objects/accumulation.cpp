#include "analyzer/objects/accumulation.h"

#include <algorithm>

#include "analyzer/ir/bindings.h"
#include "analyzer/ir/walk.h"
#include "analyzer/objects/definitions.h"

namespace allranks::objects {

using variation::ValueKind;

namespace {

// Helpers of training loops call helpers: a step method, a scaler class, an optimizer wrapper.
constexpr int kDeepestCall = 3;
// Of one function: a loop with more calls that work on gradients is generated, or a table of tests.
constexpr size_t kMostEvents = 64;
constexpr int kDeepestTest = 8;

bool IsOneTest(const Condition& a, const Condition& b) {
  return a.guard.function == b.guard.function && a.guard.test == b.guard.test;
}

// Whether a call is made whenever `other` is: under no test of its own.
bool IsDoneWith(const GradientEvent& event, const GradientEvent& other) {
  return std::ranges::all_of(event.conditions, [&](const Condition& condition) {
    return std::ranges::any_of(other.conditions, [&](const Condition& each) {
      return IsOneTest(each, condition) && each.guard.holds == condition.guard.holds;
    });
  });
}

bool IsRemainder(const variation::Value& value) {
  return value.is_binary(ir::BinaryOp::Mod) && value.axes.empty();
}

bool IsNumber(const variation::Facts& facts, ValueId value) { return value && facts.values_store[value].kind == ValueKind::Int; }

// A method that counts its calls in a field: `self.seen += 1`, `if self.seen < self.n: return`, and behind that `self.seen = 0`.
std::optional<Period> FieldPeriod(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Guard& guard) {
  const ir::ModuleId module_id = program.funcs[guard.function].module;
  const ir::Module& module = program.modules[module_id];
  const ir::Expr& test = module[guard.test];
  if (test.kind != ir::ExprKind::Compare || ir::ComparisonCount(module, test) != 1) return std::nullopt;
  const ir::ExprId counter = ir::CalleeOf(test);
  if (module[counter].kind != ir::ExprKind::Attribute || !index.LoopsAround({guard.function, guard.test}).empty()) return std::nullopt;
  const ir::Comparison comparison = ir::ComparisonAt(module, test, 0);
  constexpr ir::CompareOp kReached[] = {ir::CompareOp::Eq, ir::CompareOp::GreaterEq, ir::CompareOp::Greater};
  constexpr ir::CompareOp kMissed[] = {ir::CompareOp::NotEq, ir::CompareOp::Less, ir::CompareOp::LessEq};
  if (std::ranges::count(guard.holds ? kReached : kMissed, comparison.op) == 0) return std::nullopt;
  const ir::Tree& tree = index.tree(module_id);
  const ir::StmtId branch = tree.StatementOf(guard.test);
  bool is_raised = false, is_reset = false;
  ir::ForEachStmtIn(module, program.function(guard.function).body, [&](const ir::Stmt& stmt) {
    if (stmt.kind == ir::StmtKind::AugAssign && static_cast<ir::BinaryOp>(stmt.op) == ir::BinaryOp::Add) {
      is_raised = is_raised || IsSameChain(module, ir::ValueOf(stmt), counter);
    }
    const bool is_behind = guard.holds ? stmt.begin > module[branch].begin && stmt.end <= module[branch].end : stmt.begin >= module[branch].end;
    if (stmt.kind != ir::StmtKind::Assign || !is_behind || !IsNumber(facts, facts.value(module_id, ir::AssignedOf(stmt)))) return;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) is_reset = is_reset || IsSameChain(module, target, counter);
  });
  if (!is_raised || !is_reset) return std::nullopt;
  return Period{PeriodForm::Counter, guard, facts.value(module_id, comparison.operand)};
}

}  // namespace

bool MeetOnOneWay(const GradientEvent& a, const GradientEvent& b) {
  return std::ranges::none_of(a.conditions, [&](const Condition& one) {
    return std::ranges::any_of(b.conditions, [&](const Condition& other) {
      return IsOneTest(one, other) && one.guard.holds != other.guard.holds;
    });
  });
}

Accumulation::Accumulation(const binding::Program& program, const knowledge::Knowledge& knowledge,
                           const variation::Facts& facts, const ProgramIndex& index, const Guards& guards)
    : program_(program), facts_(facts), index_(index), guards_(guards), values_(program, knowledge, facts),
      calls_(program, knowledge, facts, index), events_(program.funcs.size()) {
  CollectEvents();
  for (uint32_t f = 0; f < events_.size(); ++f) FindWindows(FuncId{f});
}

std::vector<Condition> Accumulation::ConditionsAt(const Site& site) const {
  std::vector<Condition> conditions;
  for (const Guard& guard : guards_.Of(site)) {
    conditions.push_back({guard, facts_.value(program_.funcs[guard.function].module, guard.test)});
  }
  return conditions;
}

// Calls first where they stand, then in rounds at the calls of the functions that hold them.
void Accumulation::CollectEvents() {
  std::vector<size_t> first_new(events_.size());
  for (const GradientCall& call : calls_.all()) {
    std::vector<GradientEvent>& events = events_[call.site.function.index];
    if (events.size() < kMostEvents) events.push_back({call, call.site, ConditionsAt(call.site)});
  }
  for (int depth = 0; depth < kDeepestCall; ++depth) {
    std::vector<std::pair<FuncId, GradientEvent>> lifted;
    for (uint32_t f = 0; f < events_.size(); ++f) {
      if (first_new[f] < events_[f].size()) HandToCallers(FuncId{f}, first_new[f], lifted);
      first_new[f] = events_[f].size();
    }
    for (auto& [caller, event] : lifted) {
      if (events_[caller.index].size() < kMostEvents) events_[caller.index].push_back(std::move(event));
    }
  }
}

// A parameter tested inside is what the caller passes for it.
void Accumulation::HandToCallers(FuncId function, size_t first_new,
                                 std::vector<std::pair<FuncId, GradientEvent>>& lifted) const {
  for (const Site& caller : index_.CallersOf(function)) {
    if (caller.function == function) continue;
    const variation::CallFact* fact = facts_.call(caller.function, caller.expr);
    if (fact == nullptr || !index_.StatementOf(caller)) continue;
    const std::vector<Condition> around = ConditionsAt(caller);
    for (size_t i = first_new; i < events_[function.index].size(); ++i) {
      GradientEvent event = events_[function.index][i];
      // What is done in a loop of the callee has its window there.
      const bool is_repeated = !index_.LoopsAround(event.here).empty();
      if (is_repeated && event.call.action != GradientAction::Step) continue;
      for (Condition& condition : event.conditions) {
        if (!condition.value) continue;
        const variation::Value& value = facts_.values_store[condition.value];
        const bool is_passed = value.kind == ValueKind::Param && value.function() == function && value.param_index() < fact->arg_count;
        if (is_passed && facts_.args(*fact)[value.param_index()]) condition.value = facts_.args(*fact)[value.param_index()];
      }
      event.here = caller;
      event.conditions.insert(event.conditions.end(), around.begin(), around.end());
      lifted.emplace_back(caller.function, std::move(event));
    }
  }
}

// The loop whose rounds the call belongs to. `for optimizer in optimizers: optimizer.step()` is one step of all of them.
ir::StmtId Accumulation::LoopOf(const GradientEvent& event) const {
  const ir::Module& module = program_.module_of(event.here.function);
  const auto goes_over_objects = [&](ir::StmtId loop) {
    if (event.call.action == GradientAction::Add || !event.call.object || !(event.here == event.call.site)) return false;
    return module[loop].kind == ir::StmtKind::For && IsSameChain(module, ir::ValueOf(module[loop]), event.call.object);
  };
  for (const ir::StmtId loop : index_.LoopsAround(event.here)) {
    if (!goes_over_objects(loop)) return loop;
  }
  return {};
}

// The n of a remainder by n. Every number is a multiple of one.
ValueId Accumulation::LengthOf(ValueId remainder) const {
  const ValueId length = facts_.values_store.OperandsOf(remainder).right;
  return values_.Int(length) == 1 ? ValueId::None() : length;
}

// The n of a remainder by n that must be a certain number for the value to be `holds`; none if it asks for none.
ValueId Accumulation::RemainderIn(ValueId id, bool holds, int depth) const {
  if (!id || depth > kDeepestTest) return {};
  const variation::Value& value = facts_.values_store[id];
  const auto kids = facts_.values_store.Kids(id);
  const auto first = [&](bool wanted) {
    for (const ValueId kid : kids) {
      if (const ValueId found = RemainderIn(kid, wanted, depth + 1)) return found;
    }
    return ValueId::None();
  };
  switch (value.kind) {
    case ValueKind::Binary:
      if (IsRemainder(value)) return holds ? ValueId::None() : LengthOf(id);
      return first(holds);
    case ValueKind::Compare: {
      const auto op = value.compare_op();
      const bool is_other = op == ir::CompareOp::NotEq || op == ir::CompareOp::Greater || op == ir::CompareOp::IsNot;
      // A remainder is truthy where it is not 0; compared, it is what it is compared with.
      for (const ValueId kid : kids) {
        if (kid && IsRemainder(facts_.values_store[kid])) return holds != is_other ? LengthOf(kid) : ValueId::None();
      }
      return first(holds != is_other);
    }
    case ValueKind::Unary:
      return first(value.unary_op() == ir::UnaryOp::Not ? !holds : holds);
    case ValueKind::And:
    case ValueKind::Or:
      return first(holds);
    case ValueKind::Select:
      if (const ValueId found = RemainderIn(kids[1], holds, depth + 1)) return found;
      return RemainderIn(kids[2], holds, depth + 1);
    case ValueKind::Param:
      return RemainderIn(facts_.param(value.function(), value.param_index()), holds, depth + 1);
    case ValueKind::Derived:
      return kids.size() == 1 ? RemainderIn(kids[0], holds, depth + 1) : ValueId::None();
    default:
      return {};
  }
}

std::optional<Period> Accumulation::PeriodOf(FuncId function, const GradientEvent& event) const {
  const ir::StmtId loop = LoopOf(event);
  for (const Condition& condition : event.conditions) {
    if (const std::optional<Period> period = PeriodOf(function, loop, condition)) return period;
  }
  return std::nullopt;
}

std::optional<Period> Accumulation::PeriodOf(FuncId function, ir::StmtId loop, const Condition& condition) const {
  if (const ValueId length = RemainderIn(condition.value, condition.guard.holds, 0)) {
    return Period{PeriodForm::Remainder, condition.guard, length};
  }
  if (const auto period = FieldPeriod(program_, facts_, index_, condition.guard)) return period;
  if (condition.guard.function != function || !loop || !condition.guard.holds) return std::nullopt;
  const ir::ExprId asked = AssignedInLoop(loop, condition.guard);
  if (const auto period = CounterPeriod(loop, condition.guard, asked)) return period;
  return LastRoundPeriod(loop, condition.guard, asked);
}

// `is_last = i == len(parts) - 1` and then `if is_last:`: what is asked for; the test itself if it is no such variable.
ir::ExprId Accumulation::AssignedInLoop(ir::StmtId loop, const Guard& guard) const {
  const ir::ModuleId module_id = program_.funcs[guard.function].module;
  if (program_.modules[module_id][guard.test].kind != ir::ExprKind::Name) return guard.test;
  const std::vector<Definition> assigned = Definitions(program_, index_).To(guard.function, guard.test);
  const bool is_one = assigned.size() == 1 && assigned[0].value && assigned[0].item == Definition::kWhole;
  return is_one && index_.tree(module_id).Holds(loop, assigned[0].stmt) ? assigned[0].value : guard.test;
}

// `if k == n:` with `k += 1` in the loop and `k = 0` in the branch; also as a part of `and` and `or`.
std::optional<Period> Accumulation::CounterPeriod(ir::StmtId loop, const Guard& guard, ir::ExprId test) const {
  const ir::ModuleId module_id = program_.funcs[guard.function].module;
  const ir::Module& module = program_.modules[module_id];
  if (module[test].kind == ir::ExprKind::Bool) {
    for (const ir::ExprId part : ir::Items(module, module[test])) {
      if (const auto period = CounterPeriod(loop, guard, part)) return period;
    }
    return std::nullopt;
  }
  if (module[test].kind != ir::ExprKind::Compare || ir::ComparisonCount(module, module[test]) != 1) return std::nullopt;
  const ir::Comparison comparison = ir::ComparisonAt(module, module[test], 0);
  const bool is_reached = comparison.op == ir::CompareOp::Eq || comparison.op == ir::CompareOp::GreaterEq || comparison.op == ir::CompareOp::Greater;
  if (!is_reached) return std::nullopt;
  const ir::Tree& tree = index_.tree(module_id);
  const ir::StmtId branch = tree.StatementOf(guard.test);
  const ir::ExprId counter = ir::CalleeOf(module[test]);
  bool is_raised = false, is_reset = false;
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::StmtId id{i};
    const ir::Stmt& stmt = module[id];
    if (!tree.Holds(loop, id) || stmt.begin < module[loop].begin || stmt.end > module[loop].end) continue;
    if (stmt.kind == ir::StmtKind::AugAssign && static_cast<ir::BinaryOp>(stmt.op) == ir::BinaryOp::Add) {
      is_raised = is_raised || IsSameChain(module, ir::ValueOf(stmt), counter);
    }
    if (stmt.kind != ir::StmtKind::Assign || id == branch || !tree.Holds(branch, id)) continue;
    const ir::Expr& assigned = module[ir::AssignedOf(stmt)];
    const bool is_number = assigned.kind == ir::ExprKind::Constant && ir::ConstantKindOf(assigned) == ir::ConstantKind::Int;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) is_reset = is_reset || (is_number && IsSameChain(module, target, counter));
  }
  if (!is_raised || !is_reset) return std::nullopt;
  return Period{PeriodForm::Counter, guard, facts_.value(module_id, comparison.operand)};
}

// `if i == len(parts) - 1:`, where `i` counts the rounds of the loop.
std::optional<Period> Accumulation::LastRoundPeriod(ir::StmtId loop, const Guard& guard, ir::ExprId test) const {
  const ir::ModuleId module_id = program_.funcs[guard.function].module;
  const ir::Module& module = program_.modules[module_id];
  if (module[loop].kind != ir::StmtKind::For || module[test].kind != ir::ExprKind::Compare) return std::nullopt;
  if (ir::ComparisonCount(module, module[test]) != 1) return std::nullopt;
  const ir::Comparison comparison = ir::ComparisonAt(module, module[test], 0);
  ir::ExprId round = ir::ValueOf(module[loop]);
  if (module[round].kind == ir::ExprKind::Tuple && ir::Items(module, module[round]).size() > 0) round = ir::Items(module, module[round])[0];
  const auto is_one_off = [&](ir::ExprId expr, ir::BinaryOp op) {
    const ir::Expr& sum = module[expr];
    return sum.kind == ir::ExprKind::Binary && static_cast<ir::BinaryOp>(sum.op) == op && values_.Int(facts_.value(module_id, ir::RightOf(sum))) == 1;
  };
  // `i == n - 1`, `i + 1 == n`
  ir::ExprId counted = ir::CalleeOf(module[test]), last = comparison.operand;
  if (is_one_off(last, ir::BinaryOp::Sub)) last = ir::LeftOf(module[last]);
  else if (is_one_off(counted, ir::BinaryOp::Add)) counted = ir::LeftOf(module[counted]);
  else return std::nullopt;
  const bool is_round = module[round].kind == ir::ExprKind::Name && IsSameChain(module, round, counted);
  if (comparison.op != ir::CompareOp::Eq || !is_round) return std::nullopt;
  return Period{PeriodForm::LastRound, guard, facts_.value(module_id, last)};
}

void Accumulation::FindWindows(FuncId function) {
  // Adding a window does not change the events.
  for (const GradientEvent& event : events_[function.index]) {
    if (event.call.action != GradientAction::Step || event.call.by_engine) continue;
    const bool is_of_inner_loop = event.call.site.function != function && !index_.LoopsAround(event.call.site).empty();
    if (is_of_inner_loop) continue;
    const std::optional<Period> period = PeriodOf(function, event);
    if (period) AddGuardedWindow(function, event, *period);
    else AddInnerWindow(function, event);
  }
}

void Accumulation::AddGuardedWindow(FuncId function, const GradientEvent& step, const Period& period) {
  AccumulationWindow window{.function = function, .loop = LoopOf(step), .period = period, .step = step};
  if (StepsEachTimeToo(function, step) || HasGradientsOfItsOwn(function, step, period)) return;
  for (const GradientEvent& event : events_[function.index]) {
    const bool is_here = event.call.action == GradientAction::Add && LoopOf(event) == window.loop;
    if (is_here && MeetOnOneWay(event, step) && !PeriodOf(function, event)) window.adds.push_back(event);
  }
  if (window.adds.empty()) return;
  AddEachRound(window);
  windows_.push_back(std::move(window));
}

// A step every n-th time beside one in each round is an extra one (a regularisation, a second network).
bool Accumulation::StepsEachTimeToo(FuncId function, const GradientEvent& step) const {
  return std::ranges::any_of(events_[function.index], [&](const GradientEvent& other) {
    const bool is_step = other.call.action == GradientAction::Step && LoopOf(other) == LoopOf(step) && MeetOnOneWay(other, step);
    return is_step && !PeriodOf(function, other) &&
           calls_.IsSameObject({other.call.site.function, other.call.object}, {step.call.site.function, step.call.object});
  });
}

// Gradients are made under the very test of the step, beside those that another optimizer steps by in each round: a
// generator that is trained every n-th time. What the other rounds add is not its.
bool Accumulation::HasGradientsOfItsOwn(FuncId function, const GradientEvent& step, const Period& period) const {
  const auto is_under_its_test = [&](const GradientEvent& event) {
    const std::optional<Period> other = PeriodOf(function, event);
    return other && other->guard && period.guard && other->guard->test == period.guard->test &&
           other->guard->holds == period.guard->holds && other->guard->function == period.guard->function;
  };
  bool has_own = false, has_other_optimizer = false;
  for (const GradientEvent& event : events_[function.index]) {
    if (LoopOf(event) != LoopOf(step) || !MeetOnOneWay(event, step)) continue;
    has_own = has_own || (event.call.action == GradientAction::Add && is_under_its_test(event));
    has_other_optimizer = has_other_optimizer || (event.call.action == GradientAction::Step && !PeriodOf(function, event));
  }
  return has_own && has_other_optimizer;
}

// The optimizer steps behind a loop that adds gradients in each of its rounds.
void Accumulation::AddInnerWindow(FuncId function, const GradientEvent& step) {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::StmtId outer = LoopOf(step);
  AccumulationWindow window{.function = function, .loop = {}, .period = {.form = PeriodForm::InnerLoop, .guard = {}, .length = {}}, .step = step};
  for (const GradientEvent& event : events_[function.index]) {
    if (event.call.action != GradientAction::Add) continue;
    const std::vector<ir::StmtId> loops = index_.LoopsAround(event.here);
    const bool is_inside = loops.size() > (outer ? 1u : 0u) && (outer ? loops[1] == outer : loops.size() == 1);
    if (!is_inside || (window.loop && window.loop != loops[0])) continue;
    const bool is_before = module[loops[0]].end <= module[step.here.expr].begin;
    if (!is_before || !MeetOnOneWay(event, step) || PeriodOf(function, event)) continue;
    if (!IsMicroLoop(function, loops[0]) || StepsInside(function, loops[0])) continue;
    window.loop = loops[0];
    window.adds.push_back(event);
  }
  if (window.adds.empty()) return;
  window.period.length = facts_.trip_count(function, ir::AssignedOf(module[window.loop]));
  AddEachRound(window);
  windows_.push_back(std::move(window));
}

bool Accumulation::StepsInside(FuncId function, ir::StmtId loop) const {
  return std::ranges::any_of(events_[function.index], [&](const GradientEvent& event) {
    const std::vector<ir::StmtId> loops = index_.LoopsAround(event.here);
    return event.call.action == GradientAction::Step && std::ranges::find(loops, loop) != loops.end();
  });
}

// Whether the rounds of a loop are micro-steps: a number of rounds, or the parts of a batch. A loop over models, tasks
// or whole epochs adds gradients of different things.
bool Accumulation::IsMicroLoop(FuncId function, ir::StmtId loop) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  if (module[loop].kind != ir::StmtKind::For) return false;
  const ir::ExprId iterable = ir::AssignedOf(module[loop]);
  if (!IsCallOf(module, iterable, "range")) return IsOfParts(module_id, iterable);
  // `tasks[i]` and `models[i]` tell rounds apart by more than their data, and `parts[i]` does not.
  const ir::ExprId round = ir::ValueOf(module[loop]);
  const ir::Tree& tree = index_.tree(module_id);
  return std::ranges::none_of(index_.ExprsOf(module_id, ir::ExprKind::Subscript), [&](ir::ExprId id) {
    const bool is_inside = module[id].begin > module[loop].begin && module[id].end < module[loop].end;
    return is_inside && tree.StatementOf(id) && IsSameChain(module, ir::RightOf(module[id]), round) && !IsOfParts(module_id, ir::LeftOf(module[id]));
  });
}

// The parts of a batch: `batch.chunk(n)`, also by way of a variable, numbered or side by side with others (`zip(x.chunk(n), y.chunk(n))`).
bool Accumulation::IsOfParts(ir::ModuleId module_id, ir::ExprId iterable) const {
  const ir::Module& module = program_.modules[module_id];
  const ir::Expr& expr = module[iterable];
  if (IsCallOf(module, iterable, "enumerate") || IsCallOf(module, iterable, "zip")) {
    const uint32_t count = ir::ArgCount(module, expr);
    for (uint32_t i = 0; i < count; ++i) {
      const ir::Arg arg = ir::ArgAt(module, expr, i);
      if (arg.kind == ir::ArgKind::Positional && IsOfParts(module_id, arg.value)) return true;
    }
    return false;
  }
  if (expr.kind == ir::ExprKind::Call) {
    const ir::Expr& callee = module[ir::CalleeOf(expr)];
    const std::string_view name = callee.kind == ir::ExprKind::Attribute ? program_.text(ir::AttrOf(callee)) : std::string_view();
    return name == "chunk" || name == "split" || name == "tensor_split";
  }
  const ValueId value = facts_.value(module_id, iterable);
  return value && values_.AnyPart(value, [&](ValueId part) {
    const variation::Value& node = facts_.values_store[part];
    return node.axes.has(knowledge::Axis::Data) && node.kind == ValueKind::Derived;
  });
}

bool Accumulation::IsCallOf(const ir::Module& module, ir::ExprId expr, std::string_view function) const {
  if (module[expr].kind != ir::ExprKind::Call || ir::ArgCount(module, module[expr]) == 0) return false;
  const ir::Expr& callee = module[ir::CalleeOf(module[expr])];
  return callee.kind == ir::ExprKind::Name && program_.text(ir::NameOf(callee)) == function;
}

void Accumulation::AddEachRound(AccumulationWindow& window) const {
  const GradientEvent& add = window.adds.front();
  const auto object_of = [](const GradientEvent& event) { return Site{event.call.site.function, event.call.object}; };
  const Site stepped = object_of(window.step);
  for (const GradientEvent& event : events_[window.function.index]) {
    if (LoopOf(event) != window.loop) continue;
    const bool each_round = IsDoneWith(event, add);
    const bool is_other = event.call.action == GradientAction::Step && !calls_.IsSameObject(object_of(event), stepped);
    if (is_other && MeetOnOneWay(event, add)) window.has_other_optimizers = true;
    // A setting decides whether gradients are clipped at all.
    const bool clips = event.call.action == GradientAction::Clip && MeetOnOneWay(event, add) && MeetOnOneWay(event, window.step);
    if (clips && !PeriodOf(window.function, event)) window.clips.push_back(event);
    if (!each_round) continue;
    const bool clears = event.call.action == GradientAction::Clear &&
                        (!event.call.of_optimizer || calls_.IsSameObject(object_of(event), stepped));
    if (clears) window.clears.push_back(event);
  }
  if (!window.has_other_optimizers) return;
  // A model's gradients may be those of any of them.
  std::erase_if(window.clears, [](const GradientEvent& event) { return !event.call.of_optimizer; });
}

}  // namespace allranks::objects
