#include "rules/launch/trainer_devices.h"

#include <algorithm>

#include "analyzer/launch/job.h"
#include "analyzer/objects/lightning_calls.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR907 = "AR907";

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

// The number that stands in the call; where the argument is missing, what the library takes then.
std::optional<int64_t> TrainerNumber(const Context& context, const objects::KnownCall& trainer, std::string_view param, std::optional<int64_t> otherwise) {
  const variation::ValueId value = context.index.Arg(trainer, param);
  if (!value) return context.index.ArgExpr(trainer, param) ? std::nullopt : otherwise;
  return context.values.Int(value);
}

void VisitTrainer(const Context& context, const objects::KnownCall& trainer, FindingSink& sink) {
  const std::optional<int64_t> devices = TrainerNumber(context, trainer, "devices", std::nullopt);
  const std::optional<int64_t> nodes = TrainerNumber(context, trainer, "num_nodes", 1);
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
  const objects::Site site{trainer.function, context.index.ArgExpr(trainer, "devices")};
  Finding finding = FindingAt(context, kAR907, Severity::Error, Confidence::Likely, site,
                              {"{} ranks are wanted here{}, and `{}` starts {}: Lightning refuses to start, or waits for ranks that never come",
                               {std::to_string(ranks), *nodes == 1 ? "" : " (" + std::to_string(*nodes) + " nodes)", launcher->launcher->name, std::to_string(other->ranks)}});
  AddLabel(finding, finding.span, LabelRole::Primary, {"devices of a node", {}});
  AddLabel(finding, other->place, LabelRole::Why, {"the command that starts it", {}});
  finding.help = {"let the trainer take what the launcher starts: `devices=\"auto\"`, and the number of nodes from the command", {}};
  sink.push_back(std::move(finding));
}

}  // namespace

void CheckTrainerDevices(const Context& context, FindingSink& sink) {
  for (const objects::KnownCall& trainer : objects::FindLightningCalls(context.program, context.index).trainers) VisitTrainer(context, trainer, sink);
}

}  // namespace allranks::rules
