#include <algorithm>
#include <array>

#include "rules/launch/job_facts.h"
#include "rules/launch/spread_model.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;

constexpr std::string_view kAR904 = "AR904";

// The launcher that a launcher is told to start as its script; nullptr: it is a script.
const launch::LauncherTable* InnerLauncher(const LaunchContext& context, const Job& job) {
  if (!job.script.IsKnown()) return nullptr;
  const launch::LauncherTables& tables = context.launches.tables;
  if (job.is_module) return tables.FindModule(job.script.text());
  const std::string& word = job.script.text();
  const size_t slash = word.rfind('/');
  const std::string name = slash == std::string::npos ? word : word.substr(slash + 1);
  const launch::LauncherTable* inner = tables.FindCommand(name);
  if (inner == nullptr && !job.args.empty()) inner = tables.FindCommand(name + " " + job.args[0].text());
  return inner != nullptr && inner->is_job ? inner : nullptr;
}

void CheckNested(const LaunchContext& context, const Job& job, const Layer& agent, FindingSink& sink) {
  const launch::LauncherTable* inner = InnerLauncher(context, job);
  if (inner == nullptr) return;
  Finding finding = LaunchFinding(kAR904, Severity::Error, Confidence::Certain, job.script.span(),
                                  {"`{}` starts `{}` once per process: each of these starts all "
                                   "processes again", {agent.launcher->name, inner->name}});
  AddNote(finding, agent.word.span(), {"already starts the processes", {}});
  finding.help = {"use only one of the two launchers", {}};
  sink.push_back(std::move(finding));
}

// Each process of the launcher starts all ranks again.
void CheckSpawn(const LaunchContext& context, const Job& job, const Layer& agent, FindingSink& sink) {
  const objects::ScriptOptions* script = context.ScriptOf(job);
  if (script == nullptr || !script->starts_its_ranks || !ProcessesPerNode(job).IsMoreThan(1)) return;
  Finding finding = LaunchFinding(kAR904, Severity::Error, Confidence::Likely, agent.word.span(),
                                  {"`{}` starts `{}` {} times, and each of them starts all ranks by `mp.spawn`",
                                   {agent.launcher->name, job.script.Shown(), std::to_string(*ProcessesPerNode(job).value)}});
  finding.help = {"start it with `python`, or let the script take its rank from the launcher", {}};
  sink.push_back(std::move(finding));
}

// `srun python train.py` on two nodes, where the program starts the ranks of one node and never asks on which it is.
void CheckSpawnOnNodes(const LaunchContext& context, const Job& job, FindingSink& sink) {
  const objects::ScriptOptions* script = context.ScriptOf(job);
  const Layer* step = job.Find("srun");
  if (script == nullptr || step == nullptr || !script->starts_its_ranks || script->variables.contains("SLURM_NODEID")) return;
  const Said nodes = NodesOfStep(job);
  const bool may_be_told = std::ranges::any_of(job.args, [](const Word& word) { return !word.IsKnown() || word.text().find("rank") != std::string::npos; });
  if (!nodes.IsMoreThan(1) || nodes.sureness != Sureness::Written || may_be_told || job.in_background || job.is_repeated) return;
  Finding finding = LaunchFinding(kAR904, Severity::Error, Confidence::Likely, step->word.span(),
                                  {"`srun` starts `{}` on {} nodes, and on each it starts a job of its own by `mp.spawn`",
                                   {job.script.Shown(), std::to_string(*nodes.value)}});
  AddNote(finding, nodes.span, {"the nodes", {}});
  finding.help = {"let the script compute its ranks from `SLURM_NODEID` or `SLURM_PROCID`, or start it with `torchrun`", {}};
  sink.push_back(std::move(finding));
}

// DeepSpeed ends with `Cannot specify num_nodes/gpus with include/exclude`.
void CheckFilters(const Layer& agent, FindingSink& sink) {
  if (agent.launcher->name != "deepspeed") return;
  const Option* filter = agent.Find("include") != nullptr ? agent.Find("include") : agent.Find("exclude");
  const Option* count = agent.Find("processes_per_node") != nullptr ? agent.Find("processes_per_node") : agent.Find("nodes");
  if (filter == nullptr || count == nullptr || !count->value.Number().has_value() || *count->value.Number() < 0) return;
  Finding finding = LaunchFinding(kAR904, Severity::Error, Confidence::Certain, count->word.span(),
                                  {"`{}` beside `{}`: DeepSpeed refuses to start with both", {count->name, filter->name}});
  AddNote(finding, filter->word.span(), {"already says which GPUs to use", {}});
  finding.help = {"keep one of the two", {}};
  sink.push_back(std::move(finding));
}

// Accelerate ends with `You can only use one of ...`.
void CheckModes(const Layer& agent, FindingSink& sink) {
  if (agent.launcher->name != "accelerate") return;
  const Option* first = nullptr;
  for (const std::string_view mode : {"multi_gpu", "cpu", "use_deepspeed", "use_fsdp"}) {
    const Option* option = agent.Find(mode);
    if (option == nullptr) continue;
    if (first != nullptr) {
      Finding finding = LaunchFinding(kAR904, Severity::Error, Confidence::Certain, option->word.span(),
                                      {"`{}` beside `{}`: Accelerate takes only one of them and "
                                       "refuses to start", {option->name, first->name}});
      AddNote(finding, first->word.span(), {"the other one", {}});
      sink.push_back(std::move(finding));
      return;
    }
    first = option;
  }
}

// Accelerate and DeepSpeed end with `FileNotFoundError`, or with the same in other words.
void CheckConfig(const LaunchFile& file, const Job& job, FindingSink& sink) {
  const bool is_page = file.kind == launch::FileKind::Markdown || file.kind == launch::FileKind::Notebook;
  if (job.missing_config.empty() || (is_page && job.nearest_config.empty())) return;
  const bool is_of_launcher = job.missing_config_of.empty();
  const bool is_sure = !job.nearest_config.empty() || !is_of_launcher;
  const std::string meant = job.nearest_config.empty() ? "" : "; did you mean `" + job.nearest_config + "`?";
  const std::string& reader = is_of_launcher ? job.innermost().launcher->name : job.missing_config_of;
  sink.push_back(LaunchFinding(kAR904, Severity::Error, is_sure ? Confidence::Likely : Confidence::Possible, job.missing_config.span(),
                               {is_of_launcher ? "`{}` does not exist: `{}` cannot read its configuration, and nothing starts{}"
                                               : "`{}` does not exist: `{}` names it, and nothing starts{}",
                                {job.missing_config.text(), reader, meant}}));
}

void CheckMixedLaunchers(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    for (const Job& job : file.jobs) {
      CheckConfig(file, job, sink);
      const Layer* agent = AgentOf(job);
      if (agent == nullptr) CheckSpawnOnNodes(context, job, sink);
      if (agent == nullptr) continue;
      CheckNested(context, job, *agent, sink);
      CheckSpawn(context, job, *agent, sink);
      CheckFilters(*agent, sink);
      CheckModes(*agent, sink);
    }
  }
}

}  // namespace

extern const Rule MixedLaunchers = {
    .code = kAR904,
    .name = "mixed-launchers",
    .severity = Severity::Error,
    .languages = "launch files, Python",
    .summary = "launcher inside a launcher, or options of which a launcher takes only one",
    .explanation = R"md(
## What it finds

* `torchrun`, `accelerate launch` or `deepspeed` told to run another launcher as its script.
* The same around a script that starts its ranks itself, by `torch.multiprocessing.spawn`, and never
  asks the environment for a rank; and `srun` that starts such a script on several nodes.
* The same around a script that spreads a model over all GPUs (`device_map="auto"`) and trains it with a
  trainer.
* `deepspeed --include` or `--exclude` beside `--num_gpus` or `--num_nodes`.
* `accelerate launch --config_file` or `--deepspeed_config_file` with a file that is not there, and the same
  of the script's `--deepspeed`, `--deepspeed_config`, `--ds_config`, `--config`, `--config_file`,
  `--config_path` and `--cfg`.
* `accelerate launch` with two of `--multi_gpu`, `--cpu`, `--use_deepspeed`, `--use_fsdp`.

## Why it hurts

Eight processes of `torchrun` that are `deepspeed` each start eight more: 64 processes on eight
GPUs, which collide on the port or run out of memory. A model that each rank spreads over all GPUs is refused
by Accelerate (`You can't train a model that has been loaded with device_map='auto' in any distributed mode`)
or DDP, or does not fit. The other two end at once with an error, after
the wait in the queue.

## Wrong

```sh
torchrun --nproc_per_node=8 deepspeed train.py
```

## Right

```sh
deepspeed --num_gpus=8 train.py
```

## When it is silent

* `srun` or `mpirun` around a launcher, one a node.
* A map of devices under a test, which may ask for the number of ranks, and commands that do not say that they
  start several.
* `accelerate launch` without a configuration: it takes all GPUs, and DeepSpeed with its defaults.
* `deepspeed --hostfile` beside `--num_gpus`, which takes so many GPUs of each host.
* A configuration that is not there, in a script that fetches or writes files. Where no file beside it has a
  name like it, the finding is *possible*. Of a script's argument: where no file of nearly its name lies
  there, none of its name below the folder that the command is run in, and, for DeepSpeed, no such folder.

## Fix

There is none: which one is meant is yours to say.

## Proof

There is nothing to replay.
)md",
    .check = CheckSpreadModels,
    .check_launch = CheckMixedLaunchers};

}  // namespace allranks::rules
