#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <vector>

#include "analyzer/base/ports.h"
#include "analyzer/knowledge/spelling.h"
#include "rules/launch/config_keys.h"
#include "rules/launch/job_facts.h"
#include "rules/launch/lacking_arguments.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;

constexpr std::string_view kAR908 = "AR908";

std::string Nearest(const launch::LauncherTable& launcher, const std::string& name) {
  std::vector<std::string_view> names;
  for (const launch::OptionEntry& option : launcher.options) {
    for (const std::string& one : option.names) {
      if (one.starts_with("--")) names.push_back(one);
    }
  }
  return knowledge::DidYouMean(name, names);
}

bool HasNoDigit(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return c >= '0' && c <= '9'; });
}
// `--nproc_per_node num_gpus` on a page, where readers write a number.
bool IsForReader(const LaunchFile& file, std::string_view text) { return IsPage(file) && HasNoDigit(text); }

// `--OTHER_ARGUMENTS` on a page.
bool StandsForOthers(const LaunchFile& file, std::string_view name) {
  return IsPage(file) && std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
}

// What one command gives and nobody takes has one cause, unless a name that is near tells of a slip.
class OfOneCommand {
 public:
  explicit OfOneCommand(FindingSink& sink) : sink_(sink) {}
  // Whether the next name is worth comparing with all that there are: a command has a slip or two, and not dozens.
  bool MayBeSlip() {
    constexpr size_t kMostCompared = 50;
    return ++compared_ <= kMostCompared;
  }

  bool IsJoined(const std::string& nearest, source::Span span) {
    if (!nearest.empty() || !apart_) return false;
    // Nobody reads all of hundreds.
    constexpr size_t kMostNotes = 20;
    if (++joined_ <= kMostNotes) AddNote(*apart_, span, {"nor this one", {}});
    return true;
  }
  void Add(const std::string& nearest, Finding finding) {
    if (nearest.empty()) apart_ = std::move(finding);
    else sink_.push_back(std::move(finding));
  }
  std::optional<Finding>& apart() { return apart_; }

 private:
  FindingSink& sink_;
  std::optional<Finding> apart_;
  size_t compared_ = 0;
  size_t joined_ = 0;
};

// `--num_gpus=gpu` of DeepSpeed: what another launcher takes.
bool IsWordOfOther(const LaunchContext& context, const std::string& text) {
  return std::ranges::any_of(context.launches.tables.launchers(), [&](const launch::LauncherTable& launcher) {
    return std::ranges::any_of(launcher.options, [&](const launch::OptionEntry& entry) { return std::ranges::count(entry.words, text) > 0; });
  });
}

// `--master_port=2950O`: argparse prints its usage and ends.
void CheckValue(const LaunchContext& context, const LaunchFile& file, const Layer& layer, const Option& option, FindingSink& sink) {
  const launch::OptionEntry* entry = launch::FindOption(*layer.launcher, option.name);
  if (entry == nullptr || !entry->is_count || option.value.empty() || !option.value.IsKnown()) return;
  const std::string& text = option.value.text();
  const std::string_view digits = std::string_view(text).substr(text.starts_with('-') ? 1 : 0);
  const bool is_number = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (is_number || std::ranges::count(entry->words, text) > 0 || IsForReader(file, text)) return;
  // `--node_rank=x`: a script that is filled in before it is run.
  const bool is_filled_in = HasNoDigit(text) && !IsWordOfOther(context, text);
  Finding finding = LaunchFinding(kAR908, Severity::Error, is_filled_in ? Confidence::Possible : Confidence::Likely, option.value.span(),
                                  {"`{}` of `{}` takes a whole number, not `{}`", {option.name, layer.launcher->name, text}});
  finding.is_in_preview = true;
  sink.push_back(std::move(finding));
}

// Whoever is root in a container may listen at any port.
bool MayRunAsRoot(const LaunchFile& file, const Job& job) {
  return file.kind == launch::FileKind::Docker || job.has_cluster;
}

void CheckPort(const LaunchFile& file, const Job& job, const Word& port, FindingSink& sink) {
  constexpr int64_t kFirstOfUsers = 1024;
  const std::optional<int64_t> number = port.Number();
  // 0 is a free one.
  if (!number || *number == 0) return;
  if (*number > base::kLastPort) {
    sink.push_back(LaunchFinding(kAR908, Severity::Error, Confidence::Likely, port.span(),
                                 {"no port has the number {}: the highest is {}", {port.text(), std::to_string(base::kLastPort)}}));
  } else if (*number < kFirstOfUsers && !MayRunAsRoot(file, job)) {
    Finding finding = LaunchFinding(kAR908, Severity::Error, Confidence::Likely, port.span(),
                                    {"only root may listen at port {}: the job ends before its ranks meet", {std::to_string(*number)}});
    finding.help = {"take one from {} on", {std::to_string(kFirstOfUsers)}};
    sink.push_back(std::move(finding));
  }
}

void CheckPorts(const LaunchFile& file, const Job& job, const Layer& agent, FindingSink& sink) {
  if (const Option* option = agent.Find("master_port")) CheckPort(file, job, option->value, sink);
  if (const launch::Setting* setting = job.Env("MASTER_PORT")) CheckPort(file, job, setting->value, sink);
  const Option* endpoint = agent.Find("rendezvous_endpoint");
  const size_t colon = endpoint == nullptr ? std::string::npos : endpoint->value.text().rfind(':');
  if (colon != std::string::npos) CheckPort(file, job, endpoint->value.From(colon + 1), sink);
}

// `torchrun -m torch.distributed.launch --nproc_per_node 8`: the option is of the other launcher.
bool StartsLauncher(const LaunchContext& context, const Job& job) {
  return std::ranges::any_of(context.launches.tables.launchers(), [&](const launch::LauncherTable& launcher) { return launcher.name == job.script.text(); });
}

// `torchrun train.py --nproc_per_node 8`: what stands behind the script is the script's.
void CheckBehindScript(const LaunchContext& context, const Job& job, const Layer& agent, FindingSink& sink) {
  if (agent.Find("processes_per_node") != nullptr || agent.HidesOptions() || StartsLauncher(context, job)) return;
  for (const Word& word : job.args) {
    const std::string name = word.text().substr(0, word.text().find('='));
    const bool is_own = name == "--nproc_per_node" || name == "--nproc-per-node";
    if (!is_own || agent.launcher->name != "torchrun") continue;
    Finding finding = LaunchFinding(kAR908, Severity::Error, Confidence::Likely, word.span(),
                                    {"`{}` comes after the script, so the script gets it and `torchrun` starts one process", {name}});
    AddNote(finding, job.script.span(), {"options of `torchrun` must come before this", {}});
    sink.push_back(std::move(finding));
  }
}

// Sites add options to those of Slurm: of an unknown one only a slip counts.
void CheckSlips(const Layer& layer, std::set<source::Span>& seen, FindingSink& sink) {
  if (layer.launcher->name != "sbatch" && layer.launcher->name != "srun") return;
  for (const Option& option : layer.options) {
    if (option.is_known || !option.name.starts_with("--")) continue;
    const auto is_meant = [&](const std::string& name) { return name.starts_with("--") && knowledge::IsSlip(option.name, name); };
    const bool is_slip = std::ranges::any_of(layer.launcher->options, [&](const launch::OptionEntry& entry) { return std::ranges::any_of(entry.names, is_meant); });
    if (!is_slip || !seen.insert(option.word.span()).second) continue;
    sink.push_back(LaunchFinding(kAR908, Severity::Error, Confidence::Certain, option.word.span(),
                                 {"`{}` has no option `{}`{}", {layer.launcher->name, option.name, Nearest(*layer.launcher, option.name)}}));
  }
}

// `--learning_rate` for a parser that has `--lr`: argparse prints its usage and ends, on every rank.
void CheckArguments(const LaunchContext& context, const LaunchFile& file, const Job& job, FindingSink& sink) {
  const objects::ScriptOptions* script = context.ScriptOf(job);
  if (script == nullptr || !script->is_known) return;
  const std::vector<std::string_view> names(script->options.begin(), script->options.end());
  OfOneCommand found(sink);
  for (const Word& word : job.args) {
    const size_t equals = word.text().find('=');
    const std::string name = word.text().substr(0, equals);
    // What follows is handed on as it is.
    if (name == "--") break;
    const bool is_option = name.size() > 2 && name.starts_with("--") && word.Between(0, name.size()).IsKnown();
    if (!is_option || script->Takes(name) || StandsForOthers(file, name)) continue;
    const std::string nearest = found.MayBeSlip() ? knowledge::DidYouMean(name, names) : std::string();
    if (found.IsJoined(nearest, word.span())) continue;
    Finding finding = LaunchFinding(kAR908, Severity::Error, Confidence::Likely, word.span(),
                                    {"`{}` has no argument `{}`: every rank ends with a usage error before it trains{}", {job.script.Shown(), name, nearest}});
    if (nearest.empty()) finding.help = {"remove it, or add it to the parser of `{}`", {job.script.Shown()}};
    found.Add(nearest, std::move(finding));
  }
  if (found.apart()) sink.push_back(std::move(*found.apart()));
}

// `a|b`, `[a, b]`, `<a>` and `PATH` on a page; what the shell expands: `{1..4}`.
bool MayStandForOthers(const LaunchFile& file, std::string_view text) {
  if (text.starts_with('{') && text.ends_with('}')) return true;
  return IsPage(file) && (text.find_first_of("|[]{}<>.,/") != std::string_view::npos || StandsForOthers(file, text) || IsForReader(file, text));
}

std::string Listed(const std::set<std::string>& choices) {
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "`" : ", `") + choice + "`";
  return list;
}

// `--fps 1.0` for `type=int`: argparse prints its usage and ends.
void CheckArgumentValues(const LaunchContext& context, const LaunchFile& file, const Job& job, FindingSink& sink) {
  const objects::ScriptOptions* script = context.ScriptOf(job);
  if (script == nullptr || script->forms.empty()) return;
  for (size_t i = 0; i < job.args.size(); ++i) {
    const std::string& text = job.args[i].text();
    const auto form = script->forms.find(std::string_view(text).substr(0, text.find('=')));
    if (text == "--") return;
    if (form == script->forms.end()) continue;
    const Word value = launch::ValueOf(job.args, i);
    if (value.empty() || value.text().empty() || !value.IsKnown() || form->second.Takes(value.text()) || MayStandForOthers(file, value.text())) continue;
    const bool is_chosen = !form->second.choices.empty();
    const std::string kind = is_chosen ? "one of others" : form->second.type == objects::ArgumentType::Whole ? "a whole number" : "a number";
    Finding finding = LaunchFinding(kAR908, Severity::Error, Confidence::Likely, value.span(),
                                    {"`{}` of `{}` takes {}, not `{}`: its parser refuses it", {form->first, job.script.Shown(), kind, value.text()}});
    if (is_chosen) finding.help = {"it takes {}", {Listed(form->second.choices)}};
    finding.is_in_preview = true;
    sink.push_back(std::move(finding));
  }
}

// A launcher that hands the local rank over as an argument.
void CheckHandedRank(const LaunchContext& context, const Job& job, const Layer& agent, FindingSink& sink) {
  const objects::ScriptOptions* script = context.ScriptOf(job);
  if (script == nullptr || !script->is_known || agent.HidesOptions()) return;
  const bool is_deepspeed = agent.launcher->name == "deepspeed" && agent.Find("no_local_rank") == nullptr;
  const bool is_old = agent.launcher->name == "torch.distributed.launch" && agent.Find("use_env") == nullptr;
  const bool is_taken = script->Takes("--local_rank") || (is_old && script->Takes("--local-rank"));
  if ((!is_deepspeed && !is_old) || is_taken) return;
  Finding finding = LaunchFinding(kAR908, Severity::Error, Confidence::Likely, agent.word.span(),
                                  {"`{}` hands `{}` to `{}`, whose parser has no such argument and refuses it",
                                   {agent.launcher->name, is_old ? "--local-rank" : "--local_rank", job.script.Shown()}});
  finding.help = is_old ? findings::Text{"start it with `torchrun`, and read `LOCAL_RANK` from the environment", {}}
                        : findings::Text{"add the argument to the parser, or start it with `--no_local_rank`", {}};
  sink.push_back(std::move(finding));
}

// Whether a command gives a launcher a script: a word that is an argument of an option may stand where the script's name should.
bool HasScript(const Job& job) {
  const std::string& script = job.script.text();
  return job.is_module || !job.script.IsKnown() || !job.script_path.empty() || script.ends_with(".py") || script.find('/') != std::string::npos;
}

void CheckUnknownOptions(const Job& job, const Layer& layer, FindingSink& sink) {
  std::vector<const Option*> unknown;
  for (const Option& option : layer.options) {
    if (!option.is_known) unknown.push_back(&option);
  }
  const bool has_script = &layer != &job.innermost() || HasScript(job);
  const bool is_one = unknown.size() > 1 && !has_script;
  OfOneCommand found(sink);
  for (const Option* option : unknown) {
    const std::string nearest = is_one || !found.MayBeSlip() ? std::string() : Nearest(*layer.launcher, option->name);
    if (found.IsJoined(nearest, option->word.span())) continue;
    const findings::Text no_script{"`{}` is given no script, and has no option `{}`", {layer.launcher->name, option->name}};
    const findings::Text no_option{"`{}` has no option `{}`{}", {layer.launcher->name, option->name, nearest}};
    found.Add(nearest, LaunchFinding(kAR908, Severity::Error, nearest.empty() ? Confidence::Likely : Confidence::Certain, option->word.span(), is_one ? no_script : no_option));
  }
  if (found.apart() && is_one) found.apart()->help = {"give the script before its arguments", {}};
  if (found.apart()) sink.push_back(std::move(*found.apart()));
}

// Whether what a command starts works in several ranks, whoever starts these.
bool IsOfRanks(const LaunchContext& context, const Job& job) {
  const objects::ScriptOptions* script = context.ScriptOf(job);
  const std::optional<Devices> devices = DevicesOf(job);
  return (script != nullptr && script->works_in_ranks) || (devices && devices->numbers.size() > 1);
}

void CheckCommandOfScript(const LaunchContext& context, const LaunchFile& file, const Job& job, const Layer* agent, FindingSink& sink) {
  if (agent == nullptr && !IsOfRanks(context, job)) return;
  const size_t before = sink.size();
  if (agent != nullptr) CheckHandedRank(context, job, *agent, sink);
  CheckArguments(context, file, job, sink);
  CheckArgumentValues(context, file, job, sink);
  CheckLackingArguments(context, file, job, sink);
  if (!context.FailsBeforeParsing(job)) return;
  for (Finding& of_parser : std::span(sink).subspan(before)) findings::Assume(of_parser, findings::Assumptions::Of(findings::Assumption::RunsToHere));
}

void CheckUnknownLaunchOption(const LaunchContext& context, FindingSink& sink) {
  const size_t before = sink.size();
  CheckConfigKeys(context, sink);
  for (Finding& key : std::span(sink).subspan(before)) key.is_in_preview = true;
  CheckDeepSpeedKeys(context, sink);
  for (const LaunchFile& file : context.launches.files) {
    std::set<source::Span> seen;
    FindingSink of_scripts;
    for (const Job& job : file.jobs) {
      if (job.allocation) CheckSlips(*job.allocation, seen, sink);
      for (const Layer& layer : job.layers) CheckSlips(layer, seen, sink);
      for (const Layer& layer : job.layers) {
        if (!layer.launcher->is_complete) continue;
        for (const Option& option : layer.options) CheckValue(context, file, layer, option, sink);
        CheckUnknownOptions(job, layer, sink);
      }
      const Layer* agent = AgentOf(job);
      if (agent != nullptr) {
        CheckPorts(file, job, *agent, sink);
        CheckBehindScript(context, job, *agent, sink);
      }
      CheckCommandOfScript(context, file, job, agent, of_scripts);
    }
    std::ranges::move(of_scripts, std::back_inserter(sink));
  }
}

}  // namespace

extern const Rule UnknownLaunchOption = {
    .code = kAR908,
    .name = "unknown-launch-option",
    .severity = Severity::Error,
    .preview_in_part = "keys of configurations that are misspelt, values that are no number or none of the choices, and arguments that a command on a page lacks: of such findings on code that "
                       "was met for the first time too many were words for the reader to fill in, or are told in short; of the others 17 of 17 were right on 360 repositories",
    .languages = "launch files",
    .summary = "option that the launcher, or the script that it starts, does not have",
    .explanation = R"md(
## What it finds

* An option of `torchrun`, `torch.distributed.launch`, `accelerate launch` or `deepspeed` that the
  launcher does not have, and `--nproc_per_node` behind the script. Which options there are stands in
  `knowledge/launch/launchers.toml`. Those of one command are one finding, also where it gives no script,
  unless a name that is near tells of a slip.
* A value of theirs that is no number where one is wanted: `--master_port=2950O`; a port above 65535 or below
  1024, where only root may listen, in `MASTER_PORT` and `--rdzv_endpoint` as well.
* An argument that the script does not take: no `add_argument` in the script, or in a file of the
  project that it imports, has the name; no value where one is needed; a value that its `type` (`int`,
  `float`) or `choices` refuse, also of a field of a dataclass that `HfArgumentParser` makes arguments of;
  a word without a name for a parser that takes options alone. Also of a program that starts its ranks itself,
  or makes a process group, and that plain `python` starts.
* An argument that the script needs, `required=True`, and the command does not give.
* A key of a configuration of Accelerate or of the JSON that `--fsdp_config` of the Trainer names, or an
  option of `srun`, `sbatch` or a line `#SBATCH`, that is misspelt by one letter. A value of Accelerate that
  is no number or truth value where one is wanted; in the JSON `min_num_params` beside
  `transformer_layer_cls_to_wrap`.
* A key of DeepSpeed's own configuration, such as `zero_optimization`, under `deepspeed_config` of
  Accelerate, which reads its own keys there (`zero_stage`) and ignores all others.
* `deepspeed` or `torch.distributed.launch` starting a script that does not take the `--local_rank`
  which they hand over.

## Why it hurts

The launcher, or each process, prints its usage and ends, after the job waited in the queue. Behind the
script it is worse: the script gets the option, and one process trains.

## Wrong

```sh
torchrun --nproc_pre_node=8 train.py
```

## Right

```sh
torchrun --nproc_per_node=8 train.py
```

## When it is silent

* Beginnings of options, which argparse takes.
* A word without a digit on a page, where a number is wanted, and an option in capitals there: readers
  fill it in. In a script such a word is *possible*, and hidden by default, unless another launcher takes it.
* A script whose arguments do not all come from argparse in files of the project: parsers of libraries,
  `parse_known_args` without `parse_args` below, names that are computed, `sys.argv`.
* Required arguments of a script that makes several parsers, or adds them under a test, and commands with `$@`
  or `...`. On a page where another command of the script gives the argument they are *possible*.
* A script that imports what is not there, so that it does not come to its parser: *possible*.
* A port below 1024 in a Dockerfile or a job of Kubernetes, where most programs run as root.
* `main.py` on the page of a folder that has none itself, where the root has one and a folder below another.

## Fix

There is none: which option was meant is not known.

## Proof

There is nothing to replay.
)md",
    .check_launch = CheckUnknownLaunchOption};

}  // namespace allranks::rules
