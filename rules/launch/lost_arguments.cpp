#include "rules/launch/job_facts.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;
using launch::LostArguments;
using launch::LostBy;

constexpr std::string_view kAR909 = "AR909";

findings::Text MessageOf(const LostArguments& lost) {
  const std::string name = lost.first.Shown();
  switch (lost.by) {
    case LostBy::NoBackslash: return {"`{}` is a command of its own here: the line before it does not end in a backslash", {name}};
    case LostBy::SpaceBehindBackslash: return {"`{}` is a command of its own here: a space follows the backslash of the line before it", {name}};
    case LostBy::Comment: return {"`{}` is a command of its own here: a comment inside a command ends it", {name}};
    case LostBy::NothingSet: return {"nothing sets `{}`: the option before it gets no value", {name}};
  }
  return {};
}

// A backslash and a space are a word: that space.
findings::Text WhatTheJobGets(const LostArguments& lost) {
  if (lost.by == LostBy::NothingSet) return {"this takes the next word for the value, or ends with a usage error", {}};
  if (lost.by == LostBy::SpaceBehindBackslash) return {"this gets a space as its last argument, and nothing of what stands there and below", {}};
  return {"the job starts without it and all that follows, with their defaults", {}};
}

std::optional<findings::Fix> FixOfLost(const LostArguments& lost) {
  if (!lost.mistake.file || lost.by == LostBy::Comment || lost.by == LostBy::NothingSet) return std::nullopt;
  const bool is_space = lost.by == LostBy::SpaceBehindBackslash;
  return findings::Fix{.title = is_space ? "remove the space behind the backslash" : "add the backslash",
                       .applicability = Applicability::Unsafe,
                       .edits = {{lost.mistake, is_space ? "" : " \\"}}};
}

void CheckLostArguments(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    for (const LostArguments& lost : file.lost) {
      const Job& job = file.jobs[lost.job];
      // Whoever starts the script may export it.
      const Confidence confidence = lost.by == LostBy::NothingSet ? Confidence::Likely : Confidence::Certain;
      Finding finding = LaunchFinding(kAR909, Severity::Error, confidence, lost.first.span(), MessageOf(lost));
      AddNote(finding, job.innermost().word.span(), WhatTheJobGets(lost));
      if (lost.by == LostBy::Comment) finding.help = {"put the comment above the command", {}};
      if (std::optional<findings::Fix> fix = FixOfLost(lost)) finding.fixes.push_back(std::move(*fix));
      sink.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Rule LostArgumentsRule = {
    .code = kAR909,
    .name = "lost-arguments",
    .severity = Severity::Error,
    .languages = "launch files",
    .summary = "arguments of a job that the shell takes for a command of their own",
    .explanation = R"md(
## What it finds

A line that begins with an option, right below the command of a launcher, which the shell does not
join with it: the line before has no backslash at its end, a space stands behind the backslash (with
a comment or without), or a comment stands between the two. Behind a backslash and a space the same is
said of settings, `trainer.devices=8`, and of programs of the project that plain `python` starts.

In a script also an option whose value is a variable that nothing sets, `--layers $model_layers`, where other
variables of the script have names in small letters as well.

## Why it hurts

The job starts without these arguments: with the default learning rate, the default batch size,
without the checkpoint to go on from. The shell says `--lr: command not found` when the job is over,
days later, or never if the script ends before.

## Wrong

```sh
torchrun --nproc_per_node=8 train.py \
    --data /data
    --lr 0.001
```

## Right

```sh
torchrun --nproc_per_node=8 train.py \
    --data /data \
    --lr 0.001
```

## When it is silent

* An empty line with nothing but comments after the command, and an option below an empty line where the
  command above ends without a backslash.
* Lines that do not begin with an option: they may be commands.
* A variable that the script, or a comment in it, names without a `$` or with a default, or that another file
  exports, or assigns where it names the script; a script that sources another file, or that sets none of
  three such variables or more, which are its parameters.
* A page that breaks a command into several lines without a single backslash: that is its layout; and one
  that leaves arguments out, with `...`.

## Fix

The backslash is added, or the space behind it removed. It is not applied without being asked for:
the job runs with other arguments afterwards.

## Proof

There is nothing to replay: `bash -n` accepts the file, and the shell does not find the command.
)md",
    .check_launch = CheckLostArguments};

}  // namespace allranks::rules
