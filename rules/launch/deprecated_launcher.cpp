#include <algorithm>

#include "rules/launch/job_facts.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;

constexpr std::string_view kAR905 = "AR905";

// `python -m torch.distributed.launch` as it stands; nothing: it is put together of variables.
std::optional<source::Span> WordsOf(const LaunchContext& context, const Layer& layer) {
  const std::vector<launch::Piece>& pieces = layer.word.pieces();
  if (pieces.empty()) return std::nullopt;
  const source::Span first = pieces.front().origin;
  const source::Span last = pieces.back().origin;
  if (first.file != last.file || last.end <= first.begin) return std::nullopt;
  const std::string_view text = std::string_view(context.files[first.file].text).substr(first.begin, last.end - first.begin);
  const bool is_plain = text.starts_with("python") && text.ends_with("-m torch.distributed.launch") && text.size() < 40 &&
                        text.find_first_of("$\n\\") == std::string_view::npos;
  return is_plain ? std::optional<source::Span>({first.file, first.begin, last.end}) : std::nullopt;
}

// Where a command names the launcher: the `python` before it may be the value of a variable, which is written elsewhere.
source::Span PlaceOf(const Layer& layer) {
  const source::Span whole = layer.word.span();
  const source::Span name = layer.word.From(layer.word.text().rfind("torch.distributed.launch")).span();
  const bool is_together = whole.file == name.file && whole.begin <= name.begin && whole.end >= name.end;
  return is_together ? whole : name;
}

// With `--use_env` it does what torchrun does; without, the script may count on the argument `--local_rank`.
std::optional<findings::Fix> FixOf(const LaunchContext& context, const Layer& layer) {
  const std::optional<source::Span> words = WordsOf(context, layer);
  if (!words) return std::nullopt;
  const Option* use_env = layer.Find("use_env");
  findings::Fix fix{.title = "start it with `torchrun`", .applicability = use_env ? Applicability::Safe : Applicability::Unsafe,
                    .edits = {{*words, "torchrun"}}};
  if (use_env == nullptr) return fix;
  source::Span option = use_env->word.span();
  const std::string& text = context.files[option.file].text;
  if (option.file != words->file || option.begin < words->end) return std::nullopt;
  while (option.end < text.size() && text[option.end] == ' ') ++option.end;
  fix.edits.push_back({option, ""});
  return fix;
}

// The project is run with a PyTorch that has no other launcher.
bool HasNoOther(const LaunchContext& context, const LaunchFile& file) {
  const launch::LauncherTable* other = context.launches.tables.Find("torchrun");
  const std::optional<launch::Version> newest = context.launches.pins.NewestFor(file.path);
  return newest && other->since && *newest < *other->since;
}

// The script imports what only older releases than this one have.
bool NeedsOlder(const LaunchContext& context, const Job& job, launch::Version version) {
  const objects::ScriptOptions* script = context.ScriptOf(job);
  return script != nullptr && std::ranges::any_of(context.launches.tables.torch_modules(), [&](const launch::TorchModule& module) {
    return module.last < version && script->torch_modules.contains(module.name);
  });
}

// The job is run with a PyTorch before 2.0, which hands the argument over by its old name.
bool IsOfOldRelease(const LaunchContext& context, const LaunchFile& file, const Job& job) {
  constexpr launch::Version kRenamed{2, 0};
  return context.launches.pins.AreOlderThan(file.path, kRenamed) || NeedsOlder(context, job, kRenamed);
}

bool RefusesRank(const LaunchContext& context, const LaunchFile& file, const Job& job, const Layer& layer) {
  const objects::ScriptOptions* script = context.ScriptOf(job);
  if (script == nullptr || !script->is_known || layer.Find("use_env") != nullptr || IsOfOldRelease(context, file, job)) return false;
  return script->Takes("--local_rank") && !script->Takes("--local-rank");
}

// The script starts with this launcher in the releases of today: it gets its rank from the environment, takes the new name, or passes over it.
bool StartsToday(const LaunchContext& context, const Job& job, const Layer& layer) {
  const objects::ScriptOptions* script = context.ScriptOf(job);
  // Whatever else its parsers take.
  const bool takes_new = script != nullptr && script->options.contains("--local-rank");
  const bool ignores_it = script != nullptr && script->ignores_local_rank;
  return layer.Find("use_env") != nullptr || takes_new || ignores_it;
}

// `if command -v torchrun ...; then torchrun ...; else python -m torch.distributed.launch ...; fi`
bool IsOtherArmOfTorchrun(const LaunchFile& file, const Job& job) {
  return std::ranges::any_of(file.jobs, [&](const Job& other) {
    return other.Find("torchrun") != nullptr && std::ranges::any_of(job.arms, [&](const auto& own) {
      return std::ranges::any_of(other.arms, [&](const auto& arm) { return arm.first == own.first && arm.second != own.second; });
    });
  });
}

// A page that starts the same by `torchrun`, too: which of both is for the reader to choose, by the release that he has.
bool IsBesideTorchrun(const LaunchFile& file, const Job& job) {
  return file.kind == launch::FileKind::Markdown && std::ranges::any_of(file.jobs, [&](const Job& other) {
    return other.Find("torchrun") != nullptr && !other.script.empty() && other.script.text() == job.script.text();
  });
}

// Which file it is hangs on a folder that is not known (`$CODE/train.py`), or there is none where it is looked for: whether its parser takes the
// argument is not known.
bool IsScriptUnseen(const Job& job) {
  return job.is_script_nowhere || (!job.script.IsKnown() && job.script.text().ends_with(".py"));
}

void CheckDeprecatedLauncher(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    if (HasNoOther(context, file)) continue;
    std::vector<Finding> of_file;
    for (const Job& job : file.jobs) {
      const Layer* layer = job.Find("torch.distributed.launch");
      if (layer == nullptr || IsOtherArmOfTorchrun(file, job)) continue;
      const bool is_doubtful = StartsToday(context, job, *layer) || IsOfOldRelease(context, file, job) || IsBesideTorchrun(file, job) || IsScriptUnseen(job) ||
                               context.FailsBeforeParsing(job);
      Finding finding = LaunchFinding(kAR905, Severity::Warning, is_doubtful ? Confidence::Possible : Confidence::Likely, PlaceOf(*layer),
                                      {"`torch.distributed.launch` is deprecated: since PyTorch 2.0 it passes `--local-rank` to the script, "
                                       "which breaks a parser that takes `--local_rank` alone",
                                       {}});
      if (RefusesRank(context, file, job, *layer)) {
        finding.severity = Severity::Error;
        finding.message = {"`torch.distributed.launch` hands `--local-rank` to `{}`, which takes `--local_rank` alone: since PyTorch 2.0 its parser refuses it",
                           {job.script.Shown()}};
      }
      finding.help = {"start it with `torchrun`, and read `LOCAL_RANK` from the environment in the script", {}};
      if (std::optional<findings::Fix> fix = FixOf(context, *layer)) finding.fixes.push_back(std::move(*fix));
      AddAlike(std::move(finding), of_file);
    }
    for (Finding& finding : of_file) sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule DeprecatedLauncher = {
    .code = kAR905,
    .name = "deprecated-launcher",
    .severity = Severity::Warning,
    .languages = "launch files",
    .summary = "job started by `torch.distributed.launch`",
    .explanation = R"md(
## What it finds

`python -m torch.distributed.launch` in scripts, Makefiles, Dockerfiles, workflows and fenced blocks
of documents. It is an error where the parser of the script takes `--local_rank` and not `--local-rank`,
unless the project says that it is run with an older PyTorch.
Commands of one file that are told the same are one finding.

## Why it hurts

The launcher is deprecated since PyTorch 1.9. It hands the local rank to the script as an argument,
and PyTorch 2.0 renamed that from `--local_rank` to `--local-rank`: a script whose parser knows the
old name only ends with `unrecognized arguments: --local-rank=0`. `torchrun` sets `LOCAL_RANK` in
the environment, in every version.

## Wrong

```sh
python -m torch.distributed.launch --nproc_per_node=8 train.py
```

## Right

```sh
torchrun --nproc_per_node=8 train.py
```

## When it is silent

* `torchrun` and `python -m torch.distributed.run`, also in another arm of the same `if`.
* A script that starts with the releases of today, as it gets its rank from the environment (`--use_env`),
  takes the new name, or refuses no option (`parse_known_args`, or no parser at all) and reads `LOCAL_RANK`
  or no local rank: then the finding is only *possible*.
  So it is where the project has no file of the script's name, or none in the folder that is meant
  (`$(dirname "$0")/train.py`); where that folder is not known (`$CODE/train.py`), or several files of the
  project have the name and none lies where it is looked for; where a page starts the
  same script by `torchrun` as well; where the script imports what is not there; and where only PyTorch before
  2.0 can run it: by what it says that it is run with (as below), by a version of Python that has no other, or
  by an import of what is gone since (`torch._six`).
* Projects that are pinned to a PyTorch before 1.10, which has no `torchrun`: by `torch==1.8.1`,
  `torch<1.10` or the like in requirements, packaging, conda environments, Dockerfiles, Makefiles, scripts of
  the shell or a page that tells how to install it, in the folder of the script or above; or by another
  package that only works with an older one (`torchvision==0.8.2`).

## Fix

With `--use_env`, which is what `torchrun` does, the fix is safe. Without, it is offered, and the
script must read `LOCAL_RANK` from the environment.

## Proof

There is nothing to replay: the launcher itself warns.
)md",
    .check_launch = CheckDeprecatedLauncher,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
