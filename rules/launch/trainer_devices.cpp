#include "rules/launch/trainer_devices.h"

#include <algorithm>

#include "analyzer/launch/job.h"
#include "analyzer/objects/lightning_trainers.h"
#include "rules/finding_parts.h"
#include "rules/launch/job_facts.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR907OfTrainers = "AR907";
constexpr int64_t kMostOfTrainer = 1 << 20;

// Lightning takes ranks and their number from these.
bool IsTorchLauncher(std::string_view name) { return name == "torchrun" || name == "torch.distributed.launch"; }

// What a line starts, and by which launcher; no ranks: that is not known, or Lightning does not compare it.
struct StartedRanks {
  std::string launcher;
  int64_t ranks = 0;
};

// Of Slurm's tasks each is a rank where no other launcher stands between.
StartedRanks StartedBySteps(const launch::Job& job) {
  if (AgentOf(job) != nullptr || job.Find("srun") == nullptr) return {};
  const int64_t nodes = NodesOfStep(job).value.value_or(0);
  const int64_t tasks = TasksPerNodeOfStep(job).value.value_or(0);
  const bool is_counted = nodes > 0 && tasks > 0 && nodes <= kMostOfTrainer && tasks <= kMostOfTrainer;
  return is_counted ? StartedRanks{"srun", nodes * tasks} : StartedRanks{};
}

StartedRanks StartedBy(const Context& context, const objects::LaunchLine& line) {
  const launch::LaunchFile* file = context.launches.Find(line.place.file);
  if (file == nullptr) return {};
  for (const launch::Job& job : file->jobs) {
    if (job.innermost().span != line.place) continue;
    const std::string& name = job.innermost().launcher->name;
    return IsTorchLauncher(name) ? StartedRanks{name, line.ranks} : StartedBySteps(job);
  }
  return {};
}

void VisitTrainer(const Context& context, const objects::LightningTrainers& trainers, const objects::LightningTrainer& trainer, FindingSink& sink) {
  const objects::Told told_devices = trainers.Of(trainer, "devices");
  const objects::Told told_nodes = trainers.Of(trainer, "num_nodes");
  const std::optional<int64_t> devices = told_devices.number;
  const std::optional<int64_t> nodes = told_nodes.is_given ? told_nodes.number : 1;
  if (!devices || !nodes || *devices < 1 || *nodes < 1 || *devices > kMostOfTrainer || *nodes > kMostOfTrainer) return;
  const int64_t ranks = *devices * *nodes;
  // On one device there is no strategy to ask.
  if (ranks == 1) return;
  const objects::LaunchLine* other = nullptr;
  StartedRanks other_start;
  for (const objects::LaunchLine* line : context.launch.LinesFor(context.program.funcs[trainer.function].module)) {
    StartedRanks start = StartedBy(context, *line);
    if (start.ranks == 0 || start.ranks == ranks) return;
    if (other != nullptr) continue;
    other = line;
    other_start = std::move(start);
  }
  if (other == nullptr) return;
  const ir::ExprId written = trainer.call ? context.index.ArgExpr(*trainer.call, "devices") : ir::ExprId();
  const objects::Site site{trainer.function, written ? written : trainer.expr};
  Finding finding = FindingAt(context, kAR907OfTrainers, Severity::Error, Confidence::Likely, site,
                              {"{} ranks are wanted here{}, and `{}` starts {}: Lightning refuses to start, or waits for ranks that never come",
                               {std::to_string(ranks), *nodes == 1 ? "" : " (" + std::to_string(*nodes) + " nodes)", other_start.launcher, std::to_string(other_start.ranks)}});
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
