#include "rules/optimisation/accumulation.h"

#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

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

// The wrapped model that is called in the rounds of the loop, as written; empty if none is seen.
std::string WrappedModelIn(const Context& context, const Site& backward) {
  const ir::ModuleId module_id = context.program.funcs[backward.function].module;
  const ir::Module& module = context.program.modules[module_id];
  for (const auto& [expr, fact] : context.facts.functions[backward.function].calls) {
    if (module[expr].kind != ir::ExprKind::Call || !ShareTheirLoop(context, {backward.function, expr}, backward)) continue;
    const ir::ExprId callee = ir::CalleeOf(module[expr]);
    const ir::ExprKind kind = module[callee].kind;
    if (kind != ir::ExprKind::Name && kind != ir::ExprKind::Attribute) continue;
    const std::vector<ValueId> leaves = context.values.Leaves(context.facts.value(module_id, callee));
    const bool is_wrapped = std::ranges::any_of(leaves, [&](ValueId leaf) {
      return context.values.IsA(leaf, "torch.nn.parallel.DistributedDataParallel");
    });
    if (is_wrapped) return std::string(TextOf(context, module_id, callee));
  }
  return {};
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

// DDP reads the flag in its forward: set to whether the optimizer steps in this round, first thing in the round.
std::optional<findings::Fix> ReduceWhereItSteps(const Context& context, const Site& backward, const Site& step) {
  const ir::ModuleId module_id = context.program.funcs[backward.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const std::vector<ir::StmtId> loops = context.index.LoopsAround(backward);
  const std::optional<Guard> guard = PeriodicGuard(context, step);
  const std::string model = WrappedModelIn(context, backward);
  if (loops.empty() || !guard || !guard->holds || guard->function != backward.function || model.empty()) return std::nullopt;
  // A test by a variable may be made only further down in the round.
  if (module[guard->test].kind != ir::ExprKind::Compare) return std::nullopt;
  const ir::StmtId first = module.statements(ir::BodyOf(module[loops.front()])).front();
  if (!BeginsLine(context, module_id, first)) return std::nullopt;
  const std::string line = model + ".require_backward_grad_sync = " + std::string(TextOf(context, module_id, guard->test));
  if (line.find('\n') != std::string::npos) return std::nullopt;
  return MakeFix("reduce gradients only where the optimizer steps", Applicability::Unsafe,
                 {InsertBefore(context, module_id, first, line)});
}

// So many micro-steps as the program says, and some where it does not.
witness::Witness AccumulationWitness(const Context& context, ValueId period, source::Span backward) {
  constexpr uint32_t kSomeSteps = 4, kMostSteps = 4096;
  const witness::Accumulation scenario{.micro_steps = NumberWithin(context, period, 2, kMostSteps, kSomeSteps)};
  witness::Witness witness = ScenarioWitness(OneNode(), witness::Effect::Semantic, scenario);
  AddOperation(context, "all_reduce", "backward of a DDP module", backward, &witness);
  return witness;
}

}  // namespace allranks::rules
