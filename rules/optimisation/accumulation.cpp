#include "rules/optimisation/accumulation.h"

#include <algorithm>

#include "rules/program_calls.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

namespace allranks::rules {

using objects::AccumulationWindow;
using objects::Site;
using variation::ValueId;

namespace {

// The wrapped model that is called in the rounds of the loop, as written; empty if none is seen.
std::string WrappedModelIn(const Context& context, const AccumulationWindow& window) {
  const ir::ModuleId module_id = context.program.funcs[window.function].module;
  const ir::Module& module = context.program.modules[module_id];
  for (const auto& [expr, fact] : context.facts.functions[window.function].calls) {
    if (module[expr].kind != ir::ExprKind::Call) continue;
    const std::vector<ir::StmtId> loops = context.index.LoopsAround({window.function, expr});
    if (loops.empty() || loops.front() != window.loop) continue;
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

ir::ExprId LossOf(const Context& context, const Site& backward) {
  const ir::Module& module = context.program.module_of(backward.function);
  const ir::Expr& call = module[backward.expr];
  if (MethodOf(context, backward) != "backward" || ir::ArgCount(module, call) > 0) return {};
  const ir::ExprId loss = ir::ObjectOf(module[ir::CalleeOf(call)]);
  const bool is_scaled = module[loss].kind == ir::ExprKind::Call && MethodOf(context, {backward.function, loss}) == "scale" &&
                         ir::ArgCount(module, module[loss]) == 1;
  return is_scaled ? ir::ArgAt(module, module[loss], 0).value : loss;
}

std::string_view HowOften(const objects::Period& period) {
  switch (period.form) {
    case objects::PeriodForm::Remainder:
    case objects::PeriodForm::Counter: return "every n-th time";
    case objects::PeriodForm::LastRound: return "in the last round";
    case objects::PeriodForm::InnerLoop: return "after all rounds of the loop";
  }
  return "";
}

// DDP reads the flag in its forward: set to whether the optimizer steps in this round, first thing in the round.
std::optional<findings::Fix> ReduceWhereItSteps(const Context& context, const AccumulationWindow& window, const Site& backward) {
  const ir::ModuleId module_id = context.program.funcs[backward.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const std::optional<objects::Guard>& guard = window.period.guard;
  const std::string model = WrappedModelIn(context, window);
  const bool is_remainder = window.period.form == objects::PeriodForm::Remainder && guard && guard->holds;
  if (!window.loop || !is_remainder || guard->function != backward.function || window.function != backward.function || model.empty()) return std::nullopt;
  // A test by a variable may be made only further down in the round.
  if (module[guard->test].kind != ir::ExprKind::Compare) return std::nullopt;
  const ir::StmtId first = module.statements(ir::BodyOf(module[window.loop])).front();
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
  AddOperation(context, "all_reduce", "backward of a wrapped model", backward, &witness);
  return witness;
}

}  // namespace allranks::rules
