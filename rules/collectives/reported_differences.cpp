#include "rules/collectives/reported_differences.h"

#include <algorithm>
#include <optional>

#include "analyzer/objects/module_buffers.h"
#include "rules/collectives/difference_finding.h"
#include "rules/collectives/file_tests.h"

namespace allranks::rules {
namespace {

using traces::DifferenceKind;

// Of the others, ranks are told apart by more than what they find, or the disk says nothing about who comes.
bool MayBeFileTest(DifferenceKind kind) {
  return kind == DifferenceKind::DataBranch || kind == DifferenceKind::TripCount || kind == DifferenceKind::GroupCreation;
}

void AddTo(std::vector<FileLook>& looks, const objects::Site& site, const traces::Difference& difference) {
  const auto known = std::ranges::find(looks, site, &FileLook::site);
  if (known != looks.end()) known->differences.push_back(&difference);
  else looks.push_back({site, {&difference}});
}

// Whether a forward through DDP sends anything: the buffers of the model inside, unless the wrapper was told not to.
objects::StrategyUse UseOfBuffers(const Context& context, const traces::OpPlace& forward) {
  const objects::ModuleBuffers buffers(context.program, context.knowledge, context.facts);
  const ir::ModuleId module_id = context.program.funcs[forward.function].module;
  const ir::Expr& call = context.program.modules[module_id][forward.expr];
  if (call.kind != ir::ExprKind::Call) return objects::StrategyUse::Unseen;
  std::optional<objects::HasBuffers> has;
  bool is_told = false;
  for (const variation::ValueId model : context.values.Leaves(context.facts.value(module_id, ir::CalleeOf(call)))) {
    if (!context.values.IsA(model, "torch.nn.parallel.DistributedDataParallel")) continue;
    has = std::max(has.value_or(objects::HasBuffers::No), buffers.Of(context.values.MadeWith(model, "module")));
    const variation::ValueId sends = context.values.MadeWith(model, "broadcast_buffers");
    is_told = is_told || (sends && !context.values.IsTrue(sends));
  }
  if (has == objects::HasBuffers::No) return objects::StrategyUse::RuledOut;
  return has == objects::HasBuffers::Yes && !is_told ? objects::StrategyUse::Seen : objects::StrategyUse::Unseen;
}

objects::StrategyUse UseOfStrategies(const Context& context, const traces::Difference& difference) {
  if (difference.strategies.empty()) return objects::StrategyUse::Seen;
  if (difference.culprit.kind == "buffer_broadcast") return UseOfBuffers(context, difference.culprit);
  const ir::ModuleId module = context.program.funcs[FunctionOf(context, difference)].module;
  return context.strategies.Of(module, difference.strategies);
}

}  // namespace

ReportedDifferences ReportedDifferencesOf(const Context& context) {
  const FileTests file_tests(context);
  ReportedDifferences reported;
  for (const traces::Difference& difference : context.analysis.differences) {
    const objects::StrategyUse use = UseOfStrategies(context, difference);
    if (use == objects::StrategyUse::RuledOut) continue;
    if (use == objects::StrategyUse::Unseen) reported.of_unseen_strategies.insert(&difference);
    const std::optional<objects::Site> look = MayBeFileTest(difference.kind) ? file_tests.Of(difference) : std::nullopt;
    if (look) AddTo(reported.of_files, *look, difference);
    else reported.each.push_back(difference);
    if (difference.axes.has(knowledge::Axis::Files) && file_tests.AnswersChange(difference)) reported.of_changing_files.insert(&difference);
  }
  return reported;
}

}  // namespace allranks::rules
