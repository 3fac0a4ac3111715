#include <vector>

#include "analyzer/knowledge/spelling.h"
#include "rules/launch/job_facts.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;

constexpr std::string_view kCode = "AR908";

std::string Nearest(const launch::LauncherTable& launcher, const std::string& name) {
  std::vector<std::string_view> names;
  for (const launch::OptionEntry& option : launcher.options) {
    for (const std::string& one : option.names) {
      if (one.starts_with("--")) names.push_back(one);
    }
  }
  return knowledge::DidYouMean(name, names);
}

// `torchrun train.py --nproc_per_node 8`: what stands behind the script is the script's.
void CheckBehindScript(const Job& job, const Layer& agent, FindingSink& sink) {
  if (agent.Find("processes_per_node") != nullptr || HidesOptions(agent)) return;
  for (const Word& word : job.args) {
    const std::string name = word.text().substr(0, word.text().find('='));
    const bool is_own = name == "--nproc_per_node" || name == "--nproc-per-node";
    if (!is_own || agent.launcher->name != "torchrun") continue;
    Finding finding = LaunchFinding(kCode, Severity::Error, Confidence::Likely, word.span(),
                                    {"`{}` comes after the script, so the script gets it and `torchrun` starts one process", {name}});
    AddNote(finding, job.script.span(), {"options of `torchrun` must come before this", {}});
    sink.push_back(std::move(finding));
  }
}

void Check(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    for (const Job& job : file.jobs) {
      for (const Layer& layer : job.layers) {
        if (!layer.launcher->is_complete) continue;
        for (const Option& option : layer.options) {
          if (option.is_known) continue;
          const std::string nearest = Nearest(*layer.launcher, option.name);
          sink.push_back(LaunchFinding(kCode, Severity::Error, nearest.empty() ? Confidence::Likely : Confidence::Certain, option.word.span(),
                                       {"`{}` has no option `{}`{}", {layer.launcher->name, option.name, nearest}}));
        }
      }
      if (const Layer* agent = AgentOf(job)) CheckBehindScript(job, *agent, sink);
    }
  }
}

}  // namespace

extern const Rule UnknownLaunchOption = {
    .code = kCode,
    .name = "unknown-launch-option",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kReadBeforeItsFixes,
    .languages = "launch files",
    .summary = "option that the launcher does not have",
    .explanation = R"md(
## What it finds

An option of `torchrun`, `torch.distributed.launch`, `accelerate launch` or `deepspeed` that the
launcher does not have, and `--nproc_per_node` behind the script. Which options there are stands in
`knowledge/launch/launchers.toml`.

## Why it hurts

The launcher prints its usage and ends, after the job waited in the queue. Behind the script it is
worse: the script gets the option, and one process trains.

## Wrong

```sh
torchrun --nproc_per_nod=8 train.py
```

## Right

```sh
torchrun --nproc_per_node=8 train.py
```

## When it is silent

* Options of the script.
* Beginnings of options that are unique, which argparse takes.

## Fix

There is none: which option was meant is not known.

## Proof

There is nothing to replay.
)md",
    .check_launch = Check};

}  // namespace allranks::rules
