#include <algorithm>

#include "rules/launch/job_facts.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;

constexpr std::string_view kAR911 = "AR911";

// The launcher leaves the local rank in the environment only.
bool LeavesItInEnvironment(const Layer& agent) {
  const std::string& name = agent.launcher->name;
  const bool is_old = name == "torch.distributed.launch";
  return name == "torchrun" || name == "accelerate" || (is_old && agent.Find("use_env") != nullptr);
}

bool Gives(const Job& job, std::string_view name) {
  return std::ranges::any_of(job.args, [&](const Word& word) { return word.text().starts_with(name); });
}

void CheckJob(const LaunchContext& context, const Job& job, FindingSink& sink) {
  const Layer* agent = AgentOf(job);
  const objects::ScriptOptions* script = context.ScriptOf(job);
  if (agent == nullptr || script == nullptr || !script->has_local_rank_of_option || !LeavesItInEnvironment(*agent)) return;
  const bool is_one = ProcessesPerNode(job).value.value_or(agent->launcher->name == "torchrun" ? 1 : 0) == 1;
  if (is_one || Gives(job, "--local_rank") || Gives(job, "--local-rank")) return;
  Finding finding = LaunchFinding(kAR911, Severity::Error, Confidence::Likely, agent->word.span(),
                                  {"`{}` hands no `--local_rank` to `{}`, which takes its local rank from nowhere else: all processes have the default",
                                   {agent->launcher->name, job.script.Shown()}});
  finding.help = {"read it in the script: `int(os.environ[\"LOCAL_RANK\"])`", {}};
  sink.push_back(std::move(finding));
}

void CheckLocalRankNotHanded(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    for (const Job& job : file.jobs) CheckJob(context, job, sink);
  }
}

}  // namespace

extern const Rule LocalRankNotHanded = {
    .code = kAR911,
    .name = "local-rank-not-handed",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "launch files",
    .summary = "script that waits for `--local_rank`, under a launcher that does not hand it over",
    .explanation = R"md(
## What it finds

`torchrun`, `accelerate launch` or `torch.distributed.launch --use_env` starting a script whose
parser has `--local_rank`, whose code reads `args.local_rank`, and that names `LOCAL_RANK` nowhere.

## Why it hurts

Only `torch.distributed.launch` and `deepspeed` hand the local rank over as an argument. Under
torchrun every process keeps the default. With 0 all of them take the first GPU, which runs out of
memory or does the work of all; with -1 most scripts go on as if there were one process, and each
trains a model of its own.

## Wrong

```sh
# train.py: parser.add_argument("--local_rank", type=int, default=0)
torchrun --nproc_per_node=8 train.py
```

## Right

```sh
# train.py: local_rank = int(os.environ["LOCAL_RANK"])
torchrun --nproc_per_node=8 train.py
```

## When it is silent

* The script, or a file that it imports, names `LOCAL_RANK` or sets `args.local_rank`.
* The command gives `--local_rank` itself, or starts one process.
* The script is not known: several files have its name, or none.

## Fix

There is none here: the script is to be changed.

## Proof

There is nothing to replay.
)md",
    .check_launch = CheckLocalRankNotHanded};

}  // namespace allranks::rules
