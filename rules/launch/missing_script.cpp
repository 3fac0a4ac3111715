#include "rules/launch/job_facts.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;

constexpr std::string_view kAR910 = "AR910";

void CheckMissingScript(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    for (const Job& job : file.jobs) {
      if (AgentOf(job) == nullptr || job.nearest_script.empty()) continue;
      sink.push_back(LaunchFinding(kAR910, Severity::Error, Confidence::Likely, job.script.span(),
                                   {"no file of the project is called `{}`: did you mean `{}`?", {job.script.Shown(), job.nearest_script}}));
    }
  }
}

}  // namespace

extern const Rule MissingScript = {
    .code = kAR910,
    .name = "missing-script",
    .severity = Severity::Error,
    .languages = "launch files",
    .summary = "job that starts a script which is not there",
    .explanation = R"md(
## What it finds

A launcher that is told to start a Python file of a name that no file of the project has, while a
file with nearly this name lies in the folder that is meant.

## Why it hurts

The script was renamed, and the command was not: the job waits in the queue, and each process ends
with `can't open file`.

## Wrong

```sh
# the folder holds evaluation.py
torchrun --nproc_per_node=8 examples/evaluate.py
```

## Right

```sh
torchrun --nproc_per_node=8 examples/evaluation.py
```

## When it is silent

* Some file of the project has the name, in whatever folder.
* The commands fetch, copy or write files before.
* No file there has a name that is nearly the same.

## Fix

There is none: which file was meant is yours to say.

## Proof

There is nothing to replay.
)md",
    .check_launch = CheckMissingScript};

}  // namespace allranks::rules
