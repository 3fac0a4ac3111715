#include "rules/launch/job_facts.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;

constexpr std::string_view kAR910 = "AR910";

// A file that an argument names, or a script that is handed to the shell.
Finding FindingOfPath(const launch::MissingPath& missing) {
  Finding finding = LaunchFinding(kAR910, Severity::Error, Confidence::Likely, missing.path.span(),
                                  {"`{}` does not exist in this project, but `{}` does: the command fails as soon as it opens the file", {missing.path.text(), missing.meant}});
  finding.help = {"name the file that is there", {}};
  return finding;
}

// What is known of the script of a job that is not there.
findings::Text MessageOf(const Job& job) {
  const std::string script = job.script.Shown();
  if (!job.nearest_script.empty()) {
    return {"`{}` does not exist in this project, but `{}` does: each process ends at once, with `can't open file`", {script, job.nearest_script}};
  }
  if (!job.sibling_script.empty()) {
    return {"no `{}` lies beside this script, where `{}` does: each process ends at once, with `can't open file`", {script, job.sibling_script}};
  }
  if (!job.missing_in.empty()) {
    return {"no file of the project is called `{}`, and `{}` has others: each process ends at once, with `can't open file`", {script, job.missing_in}};
  }
  return {"no `{}` lies in the folder from which the scripts of this folder are started, where `{}` does: each process ends at once, with `can't open file`",
          {script, job.root_script}};
}

findings::Text HelpFor(const Job& job) {
  if (!job.nearest_script.empty()) return {"name the script that is there", {}};
  if (!job.root_script.empty() && !job.script_path.empty()) return {"`{}` has this name", {job.script_path}};
  return {"add the script, or remove the command", {}};
}

bool IsMissing(const Job& job) {
  const bool is_missing = !job.nearest_script.empty() || !job.sibling_script.empty() || !job.missing_in.empty() || !job.root_script.empty();
  return is_missing && AgentOf(job) != nullptr;
}

void CheckMissingScript(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    std::vector<Finding> of_file;
    for (const launch::MissingPath& missing : file.missing) AddAlike(FindingOfPath(missing), of_file);
    for (const Job& job : file.jobs) {
      if (!IsMissing(job)) continue;
      Finding finding = LaunchFinding(kAR910, Severity::Error, Confidence::Likely, job.script.span(), MessageOf(job));
      finding.help = HelpFor(job);
      AddAlike(std::move(finding), of_file);
    }
    for (Finding& finding : of_file) sink.push_back(std::move(finding));
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

A launcher that is told to start a Python file that is not there:

* no file of the project has its name, and one with nearly this name lies in the folder that is meant;
* the only file of its name lies elsewhere below the folder that the path begins with:
  `pkg/train.py`, now `pkg/entry/train.py`;
* no file of the project has its name, and the folder that its path names is there, with other scripts
  (not on pages, which may tell of what is still to be written);
* a script starts `train.py`, which lies beside it, and `test.py`, which does not;
* the scripts of a folder start `train.py`, which lies in the root of the project, and none that lies beside
  them, and one of them starts `test.py`, which does not lie in the root.

Commands of one file that name the same are one finding.

The same of the files that arguments name, `--config configs/imagenet.yml`, and of scripts that a page or
another script hands to the shell, `bash scripts/train.sh`: no file of the project has this path, from
whichever folder the command is run, and the only file of the name lies further down in the folder that the
path begins with; or one beside it has nearly the name, the other ending of YAML, or, of a configuration, a
name that goes on where this one ends. `bash train.sh` where the only file of the name is
`scripts/train.sh`, which starts files of the root and so is to be run from there.

## Why it hurts

The script was renamed or moved, and the command was not: the job waits in the queue, and each process ends
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

* Several files of the project have the name, or the one lies below another folder.
* A configuration whose name another one goes on with, where the page speaks of it elsewhere than in commands.
* The commands fetch, copy or write files before. For files beside a script: it goes into another folder.
* Options such as `--output_path` name the file, or it is one of JSON and the option is for no configuration.
* The path names no folder of the project, or no folder at all and no file there has nearly its name.

## Fix

There is none: which file was meant is yours to say.

## Proof

There is nothing to replay.
)md",
    .check_launch = CheckMissingScript};

}  // namespace allranks::rules
