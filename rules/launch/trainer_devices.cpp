#include "rules/launch/trainer_devices.h"

#include <algorithm>

#include "analyzer/launch/job.h"
#include "analyzer/objects/lightning_trainers.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR907OfTrainers = "AR907";

// Lightning takes ranks and their number from these.
bool IsTorchLauncher(std::string_view name) { return name == "torchrun" || name == "torch.distributed.launch"; }

const launch::Layer* LauncherOf(const Context& context, const objects::LaunchLine& line) {
  const launch::LaunchFile* file = context.launches.Find(line.place.file);
  if (file == nullptr) return nullptr;
  for (const launch::Job& job : file->jobs) {
    if (job.innermost().span == line.place) return &job.innermost();
  }
  return nullptr;
}

void VisitTrainer(const Context& context, const objects::LightningTrainers& trainers, const objects::LightningTrainer& trainer, FindingSink& sink) {
  const objects::Told told_devices = trainers.Of(trainer, "devices");
  const objects::Told told_nodes = trainers.Of(trainer, "num_nodes");
  const std::optional<int64_t> devices = told_devices.number;
  const std::optional<int64_t> nodes = told_nodes.is_given ? told_nodes.number : 1;
  constexpr int64_t kMost = 1 << 20;
  if (!devices || !nodes || *devices < 1 || *nodes < 1 || *devices > kMost || *nodes > kMost) return;
  const int64_t ranks = *devices * *nodes;
  // On one device there is no strategy to ask.
  if (ranks == 1) return;
  const objects::LaunchLine* other = nullptr;
  const launch::Layer* launcher = nullptr;
  for (const objects::LaunchLine* line : context.launch.LinesFor(context.program.funcs[trainer.function].module)) {
    if (line->ranks == 0 || line->ranks == ranks) return;
    const launch::Layer* starts = LauncherOf(context, *line);
    if (starts == nullptr || !IsTorchLauncher(starts->launcher->name)) return;
    if (other != nullptr) continue;
    other = line;
    launcher = starts;
  }
  if (other == nullptr) return;
  const ir::ExprId written = trainer.call ? context.index.ArgExpr(*trainer.call, "devices") : ir::ExprId();
  const objects::Site site{trainer.function, written ? written : trainer.expr};
  Finding finding = FindingAt(context, kAR907OfTrainers, Severity::Error, Confidence::Likely, site,
                              {"{} ranks are wanted here{}, and `{}` starts {}: Lightning refuses to start, or waits for ranks that never come",
                               {std::to_string(ranks), *nodes == 1 ? "" : " (" + std::to_string(*nodes) + " nodes)", launcher->launcher->name, std::to_string(other->ranks)}});
  AddLabel(finding, finding.span, LabelRole::Primary, {told_devices.is_setting ? "from a file of settings" : "devices of a node", {}});
  if (told_devices.is_setting) AddLabel(finding, told_devices.span, LabelRole::Why, {"devices of a node", {}});
  if (told_devices.is_setting || told_nodes.is_setting) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::SettingKept));
  AddLabel(finding, other->place, LabelRole::Why, {"the command that starts it", {}});
  finding.help = {"let the trainer take what the launcher starts: `devices=\"auto\"`, and the number of nodes from the command", {}};
  sink.push_back(std::move(finding));
}

}  // namespace

void CheckTrainerDevices(const Context& context, FindingSink& sink) {
  const objects::LightningTrainers trainers(context.program, context.knowledge, context.facts, context.index, context.settings);
  for (const objects::LightningTrainer& trainer : trainers.all()) VisitTrainer(context, trainers, trainer, sink);
}

}  // namespace allranks::rules
