#include "rules/optimisation/accumulation.h"

#include <algorithm>

#include "rules/program_calls.h"

namespace allranks::rules {

using objects::Guard;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

namespace {

bool IsRemainder(const Context& context, ValueId part) {
  const variation::Value& node = context.facts.values_store[part];
  return node.kind == ValueKind::Binary && static_cast<ir::BinaryOp>(node.op) == ir::BinaryOp::Mod && node.axes.empty();
}

}  // namespace

std::optional<Guard> PeriodicGuard(const Context& context, const Site& site) {
  for (const Guard& guard : context.reach.Guards(site)) {
    const ValueId value = context.facts.value(context.program.funcs[guard.function].module, guard.test);
    if (value && context.values.AnyPart(value, [&](ValueId part) { return IsRemainder(context, part); })) return guard;
  }
  return std::nullopt;
}

ValueId PeriodOf(const Context& context, const Site& site) {
  const std::optional<Guard> guard = PeriodicGuard(context, site);
  if (!guard) return {};
  ValueId period;
  context.values.AnyPart(context.facts.value(context.program.funcs[guard->function].module, guard->test), [&](ValueId part) {
    if (!IsRemainder(context, part)) return false;
    period = context.facts.values_store.Kids(part)[1];
    return true;
  });
  return period;
}

std::vector<Site> OptimizerSteps(const Context& context, binding::FuncId function) {
  std::vector<Site> steps = MethodCalls(context, function, "step", "optim");
  for (const Site& site : MethodCalls(context, function, "step", "scaler")) steps.push_back(site);
  return steps;
}

bool MeetOnOneWay(const Context& context, const Site& a, const Site& b) {
  const std::vector<Guard> left = context.reach.Guards(a);
  const std::vector<Guard> right = context.reach.Guards(b);
  return std::ranges::none_of(left, [&](const Guard& one) {
    return std::ranges::any_of(right, [&](const Guard& other) { return one.test == other.test && one.holds != other.holds; });
  });
}

bool ShareTheirLoop(const Context& context, const Site& a, const Site& b) {
  const std::vector<ir::StmtId> left = context.index.LoopsAround(a);
  const std::vector<ir::StmtId> right = context.index.LoopsAround(b);
  return left.empty() == right.empty() && (left.empty() || left.front() == right.front());
}

}  // namespace allranks::rules
