#include "rules/launch/job_facts.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;
using launch::MisreadAs;
using launch::MisreadLine;

constexpr std::string_view kAR914 = "AR914";

findings::Text MessageOfMisread(const MisreadLine& line) {
  const std::string& name = line.text;
  switch (line.as) {
    case MisreadAs::NamedProgram: return {"`${}=` starts the program that `{}` names: nothing is assigned", {name, name}};
    case MisreadAs::SpacedAssignment: return {"`{} =` starts a program `{}`, which is not there: nothing is assigned", {name, name}};
    case MisreadAs::EmptyAssignment: return {"a space behind `=` makes `{}` a program, which is not there: nothing is assigned", {name}};
    case MisreadAs::QuotedLines: return {"these lines between quotes are the name of one program, which is not there", {}};
    case MisreadAs::GluedBracket: return {"`[` needs a space behind it: the shell looks for a program of this name, and the test fails", {}};
    case MisreadAs::PythonWord: return {"the shell has no `{}`, as Python has: the command is not found, and fails", {name == "true" ? "True" : "False"}};
    case MisreadAs::HyphenDefault: return {"where `{}` is not set, it becomes a `-` with the default behind it", {name}};
    case MisreadAs::OneElement: return {"`{}` gets one element, with all hosts in it: the quotes keep their lines together", {name}};
    case MisreadAs::LateDirective: return {"this line stands behind a command: Slurm does not read it, and the shell takes it for a comment", {}};
    case MisreadAs::BareDirective: return {"`SBATCH` without `#` is a command, which is not there: Slurm does not read this line", {}};
    case MisreadAs::NoInterpreter: return {"`sbatch` refuses this file: its first line does not begin with `#!`", {}};
    case MisreadAs::EnvAlone: return {"`env` without a program starts this script again, which starts `env` again, without end", {}};
    case MisreadAs::CarriageReturn: return {"lines end as on Windows: the last word of each gets a carriage return, so that the files and options it names are not found", {}};
    case MisreadAs::DoubledSign: return {"the second `=` is part of the value of `{}`", {name}};
    case MisreadAs::DoubledProgram: return {"this `{}` is taken for the name of a script, which is not there", {name}};
    case MisreadAs::NoProgram: return {"no program has this name: the command is not found", {}};
  }
  return {};
}

findings::Text HelpForMisread(const MisreadLine& line) {
  const std::string& name = line.text;
  switch (line.as) {
    case MisreadAs::NamedProgram: return {"write `{}=`, without the dollar sign", {name}};
    case MisreadAs::SpacedAssignment: return {"write `{}=` and the value, without spaces", {name}};
    case MisreadAs::EmptyAssignment: return {"remove the space", {}};
    case MisreadAs::QuotedLines: return {"put `#` before each line", {}};
    case MisreadAs::GluedBracket: return {"add the space", {}};
    case MisreadAs::PythonWord: return {"write `{}`", {name}};
    case MisreadAs::HyphenDefault: return {"write `:-` in place of `=-`", {}};
    case MisreadAs::OneElement: return {"remove the quotes, or use `mapfile -t {}`", {name}};
    case MisreadAs::LateDirective: return {"move it above the first command", {}};
    case MisreadAs::BareDirective: return {"add the `#`, above the first command", {}};
    case MisreadAs::NoInterpreter:
      return name.empty() ? findings::Text{"begin the file with `#!/bin/bash`", {}} : findings::Text{"move the line with `#!` to the top", {}};
    case MisreadAs::EnvAlone: return {"write `#!/usr/bin/env bash`", {}};
    case MisreadAs::CarriageReturn:
      return {name.empty() ? "convert it: `sed -i 's/\\r$//' FILE`" : "convert it (`sed -i 's/\\r$//' FILE`): `sbatch` refuses it as it is", {}};
    case MisreadAs::DoubledSign: return {"write one `=`", {}};
    case MisreadAs::DoubledProgram: return {"remove the word before it", {}};
    case MisreadAs::NoProgram: return {"write `{}`", {name}};
  }
  return {};
}

// What only the scheduler refuses does no harm where somebody runs the file with a shell, which a name in `.sh` suggests.
Confidence HowSureOfMisread(MisreadAs as, std::string_view path) {
  const bool is_of_slurm = as == MisreadAs::LateDirective || as == MisreadAs::NoInterpreter;
  const bool is_guessed = as == MisreadAs::OneElement || as == MisreadAs::DoubledProgram;
  if (as == MisreadAs::NoInterpreter && path.ends_with(".sh")) return Confidence::Possible;
  return is_of_slurm || is_guessed ? Confidence::Likely : Confidence::Certain;
}

void CheckMisreadLine(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    for (const MisreadLine& line : file.misread) {
      Finding finding = LaunchFinding(kAR914, Severity::Error, HowSureOfMisread(line.as, file.path), line.span, MessageOfMisread(line));
      finding.help = HelpForMisread(line);
      if (line.more > 0) AddNote(finding, line.last, {"the last of {} such lines", {std::to_string(line.more + 1)}});
      sink.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Rule MisreadLineRule = {
    .code = kAR914,
    .name = "misread-line",
    .severity = Severity::Error,
    .languages = "launch files",
    .summary = "line of a script that the shell or Slurm takes for something else",
    .explanation = R"md(
## What it finds

In a script that starts jobs, a line that is right for the shell's parser and does something else than it
says; each kind once in a file, at its first place:

* `$NAME=value`, `NAME = value` and `NAME= 4`, which start programs and assign nothing;
* lines between `'''` or `"""`, as Python has comments, which are the name of one program;
* `[$N -eq 1]` without the space behind the bracket, and `|| True`, which fail always;
* `${NAME=-"default"}`, which puts a hyphen before the default;
* `hosts=("$lines")` with what `scontrol show hostnames` says, an array of one element;
* `NAME==value`, whose value begins with `=`, for a name in capital letters;
* `srun python python train.py` and `python torchrun train.py`, where a program is taken for the script, and
  `torch --nproc_per_node=8 train.py`, which is no program;
* `#SBATCH` behind a command, and `SBATCH` without its `#`, which Slurm does not read;
* a script with lines `#SBATCH` whose first line does not begin with `#!`, which `sbatch` refuses;
* `#!/usr/bin/env` with no program behind it, which starts the script without end;
* line ends of Windows.

## Why it hurts

The shell says `command not found` among the lines of the log and goes on. The job runs with the value that
was to be replaced: each node takes itself for the one where all meet, the job gets the time and the GPUs
that Slurm gives by default, the stages between the quotes never run.

## Wrong

```sh
MASTER_ADDR=localhost
if [ "$WORLD_SIZE" -gt 1 ]; then
  $MASTER_ADDR=$(scontrol show hostnames | head -n 1)
fi
torchrun --nnodes=2 --master_addr=$MASTER_ADDR train.py
```

## Right

```sh
MASTER_ADDR=localhost
if [ "$WORLD_SIZE" -gt 1 ]; then
  MASTER_ADDR=$(scontrol show hostnames | head -n 1)
fi
torchrun --nnodes=2 --master_addr=$MASTER_ADDR train.py
```

## When it is silent

* Blocks of pages, recipes and commands in YAML: they may be shortened.
* Lines of here-documents, which may be of another language.
* `##SBATCH` and `# SBATCH`: somebody switched the line off.
* Scripts that start nothing of a job, and sheets of notes that hold tables.

## Fix

There is none: the help says what to write, but a line that did nothing so far changes the job.

## Proof

There is nothing to replay: `bash` says it for the first kinds, `sbatch` for the others.
)md",
    .check_launch = CheckMisreadLine};

}  // namespace allranks::rules
