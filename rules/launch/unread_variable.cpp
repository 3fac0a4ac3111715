#include <algorithm>
#include <array>
#include <set>

#include "analyzer/knowledge/spelling.h"
#include "rules/launch/job_facts.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;

constexpr std::string_view kAR912 = "AR912";

// A variable as a job is given it.
struct Given {
  std::string name;
  source::Span span;
};

std::vector<Given> GivenTo(const Job& job) {
  std::vector<Given> given;
  for (const launch::Setting& setting : job.environment) given.push_back({setting.name, setting.span});
  for (const Layer& layer : job.layers) {
    for (const Option& option : layer.options) {
      const bool is_name = option.means == "export" && option.value.IsKnown() && !option.value.empty();
      if (is_name) given.push_back({option.value.text().substr(0, option.value.text().find('=')), option.value.span()});
    }
  }
  return given;
}

bool IsOfName(char c) { return c == '_' || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool IsInComment(const LaunchFile& file, size_t at) {
  return std::ranges::any_of(file.syntax.comments, [&](const findings::Extent& comment) { return comment.begin <= at && at < comment.end; });
}

Given NameAt(const LaunchFile& file, const std::string& text, size_t begin) {
  size_t end = begin;
  while (end < text.size() && IsOfName(text[end])) ++end;
  return {text.substr(begin, end - begin), {file.file, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}};
}

// `$NAME`, `${NAME}`
bool IsReadAt(std::string_view text, size_t name) {
  const std::string_view before = text.substr(0, name);
  return before.ends_with('$') || before.ends_with("${");
}

// What a file reads itself is a variable of its own, whatever its name looks like.
bool Reads(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (IsReadAt(text, at) && (end == text.size() || !IsOfName(text[end]))) return true;
  }
  return false;
}

// `$SLURM_JOB_ID`: what a script reads of Slurm's, but for what it sets itself.
std::vector<Given> ReadIn(const LaunchFile& file, const std::string& text) {
  constexpr std::string_view kPrefix = "SLURM_";
  std::vector<Given> read;
  for (size_t at = text.find(kPrefix); at != std::string::npos; at = text.find(kPrefix, at + 1)) {
    if (!IsReadAt(text, at) || IsInComment(file, at)) continue;
    Given given = NameAt(file, text, at);
    const bool is_own = std::ranges::any_of(std::array{given.name + "=", given.name + ":", "read " + given.name},
                                            [&](const std::string& made) { return text.find(made) != std::string::npos; });
    if (!is_own) read.push_back(std::move(given));
  }
  return read;
}

// `unset NCCL_DEBUG NCCL_ALGO`
std::vector<Given> UnsetIn(const LaunchFile& file, const std::string& text) {
  constexpr std::string_view kUnset = "unset ";
  std::vector<Given> unset;
  for (size_t at = text.find(kUnset); at != std::string::npos; at = text.find(kUnset, at + 1)) {
    const bool is_word = at == 0 || std::string_view(" \t\n;").find(text[at - 1]) != std::string_view::npos;
    if (!is_word || IsInComment(file, at)) continue;
    const size_t end = std::min(text.find_first_of(";#&|\n", at), text.size());
    for (size_t begin = at + kUnset.size(); begin < end; ++begin) {
      if (!IsOfName(text[begin]) || IsOfName(text[begin - 1]) || text[begin - 1] == '$') continue;
      Given given = NameAt(file, text, begin);
      begin = given.span.end;
      unset.push_back(std::move(given));
    }
  }
  return unset;
}

// The variable of a family that a name is a slip of. Other vendors have HCCL, RCCL and more, with variables of the same names.
std::string SlipOf(const launch::VariableNames& names, std::string_view name) {
  if (names.FamilyOf(name) != nullptr || name.substr(std::min<size_t>(1, name.size())).starts_with("CCL_")) return {};
  for (const launch::VariableFamily& family : names.families()) {
    for (const auto& [known, since] : family.since) {
      if (knowledge::IsSlip(name, known)) return known;
    }
  }
  return {};
}

// The variable that a name most likely means which nobody reads: the prefix is another library's, or one letter is wrong.
std::string MeantBy(const launch::VariableNames& names, std::string_view name) {
  const auto own = std::ranges::find_if(names.families(), [&](const launch::VariableFamily& family) { return name.starts_with(family.prefix); });
  if (own == names.families().end()) return {};
  const std::string rest(name.substr(own->prefix.size()));
  for (const launch::VariableFamily& family : names.families()) {
    const bool may_have_moved = own->shares_names && family.shares_names;
    if (may_have_moved && family.since.contains(family.prefix + rest)) return family.prefix + rest;
  }
  for (const launch::VariableFamily& family : names.families()) {
    for (const auto& [known, since] : family.since) {
      if (knowledge::IsSlip(name, known)) return known;
    }
  }
  return {};
}

Finding FindingAt(const Given& given, Confidence confidence, findings::Text message) {
  return LaunchFinding(kAR912, Severity::Warning, confidence, given.span, std::move(message));
}

// A variable that the installed PyTorch does not read yet.
std::optional<Finding> TooNew(const LaunchContext& context, const LaunchFile& file, const Job& job, const Given& given, const launch::VariableFamily& family) {
  if (family.library != "PyTorch") return std::nullopt;
  const std::optional<launch::Version> newest = context.launches.pins.NewestFor(file.path);
  const launch::Version since = family.since.find(given.name)->second;
  const std::string old = given.name.substr(given.name.find('_') + 1);
  if (!newest || *newest >= since || context.launches.tables.variable_names().FamilyOf(old) == nullptr || job.Env(old) != nullptr) return std::nullopt;
  const std::string release = std::to_string(since.major) + "." + std::to_string(since.minor);
  return FindingAt(given, Confidence::Likely, {"`{}` is read since PyTorch {}: this project is pinned to an older one, which reads `{}`",
                                              {given.name, release, old}});
}

std::optional<Finding> FindingFor(const LaunchContext& context, const LaunchFile& file, const Job& job, const Given& given) {
  const objects::ScriptOptions* script = context.ScriptOf(job);
  const bool is_own = script != nullptr && script->variables.contains(given.name);
  if (is_own || IsOfNcclUnused(context, job, given.name)) return std::nullopt;
  const launch::VariableNames& names = context.launches.tables.variable_names();
  if (const launch::VariableFamily* family = names.FamilyOf(given.name)) return TooNew(context, file, job, given, *family);
  if (const launch::UnreadVariable* unread = names.FindUnread(given.name)) {
    Finding finding = unread->in.empty() ? FindingAt(given, Confidence::Likely, {"neither NCCL nor PyTorch reads `{}`", {given.name}})
                                         : FindingAt(given, Confidence::Likely, {"`{}` is no longer read since NCCL {}", {given.name, unread->in}});
    finding.help = {"delete this line, which does nothing, and use {}", {unread->instead}};
    finding.labels.push_back({given.span, findings::LabelRole::Primary, {"nobody reads this", {}}});
    return finding;
  }
  const std::string meant = MeantBy(names, given.name);
  // Set beside it, it is the name of another release of PyTorch.
  if (meant.empty() || job.Env(meant) != nullptr || Reads(context.files[file.file].text, given.name)) return std::nullopt;
  const std::string& library = names.FamilyOf(meant)->library;
  const bool is_of_communication = library == "NCCL" || library == "PyTorch";
  return FindingAt(given, is_of_communication ? Confidence::Certain : Confidence::Likely,
                   {is_of_communication ? "neither NCCL nor PyTorch reads `{}`: did you mean `{}`?" : "`{}` is no variable of {}: did you mean `{}`?",
                    is_of_communication ? std::vector<std::string>{given.name, meant} : std::vector<std::string>{given.name, library, meant}});
}

// `export MASTER_PORT=29501` before `torchrun train.py`: the launcher has an option for it and overwrites the variable. Releases of today take
// a free port where the option is missing, older ones its default: it does harm where two jobs share a machine, and hardly elsewhere.
std::optional<Finding> Overwritten(const LaunchContext& context, const LaunchFile& file, const Job& job, const Given& given) {
  const Layer* agent = AgentOf(job);
  const launch::Setting* setting = job.Env(given.name);
  if (agent == nullptr || setting == nullptr || agent->HidesOptions()) return std::nullopt;
  const auto& options = agent->launcher->options;
  const auto option = std::ranges::find(options, given.name, &launch::OptionEntry::sets);
  if (option == options.end() || setting->value.text() == option->default_value) return std::nullopt;
  const bool is_told = std::ranges::any_of(std::array{std::string_view(option->means), std::string_view("rendezvous_endpoint"), std::string_view("rendezvous_backend"),
                                                      std::string_view("standalone")},
                                           [&](std::string_view means) { return agent->Find(means) != nullptr; });
  if (is_told || Reads(context.files[file.file].text, given.name)) return std::nullopt;
  Finding finding = FindingAt(given, Confidence::Possible, {"{} does not read `{}`: it takes `{}`, and overwrites the variable",
                                                           {agent->launcher->name, given.name, option->names.front()}});
  finding.help = {"hand it to the launcher: `{}=...`", {option->names.front()}};
  finding.labels.push_back({given.span, findings::LabelRole::Primary, {"the launcher overwrites this", {}}});
  return finding;
}

// What a script reads, or ends, of the environment by a name that nobody sets. Each name once.
void CheckNames(const LaunchContext& context, const LaunchFile& file, FindingSink& sink) {
  const launch::VariableNames& names = context.launches.tables.variable_names();
  const std::string& text = context.files[file.file].text;
  std::vector<Given> all = ReadIn(file, text);
  for (Given& given : UnsetIn(file, text)) all.push_back(std::move(given));
  std::set<std::string> seen;
  for (const Given& given : all) {
    if (!seen.insert(given.name).second) continue;
    const std::string meant = SlipOf(names, given.name);
    if (meant.empty()) continue;
    sink.push_back(FindingAt(given, Confidence::Likely, {"`{}` is no variable of {}: did you mean `{}`?", {given.name, names.FamilyOf(meant)->library, meant}}));
  }
}

// What a file sets though no job of it is seen to get it: here only a slip counts.
void CheckSlipsIn(const LaunchContext& context, const LaunchFile& file, std::set<source::Span>& seen, FindingSink& sink) {
  const launch::VariableNames& names = context.launches.tables.variable_names();
  for (const launch::Setting& setting : file.settings) {
    const std::string meant = seen.contains(setting.span) ? std::string() : SlipOf(names, setting.name);
    if (meant.empty() || !setting.span.file || names.FindUnread(setting.name) != nullptr) continue;
    if (Reads(context.files[setting.span.file].text, setting.name) || Reads(context.files[file.file].text, setting.name)) continue;
    if (!seen.insert(setting.span).second) continue;
    sink.push_back(FindingAt({setting.name, setting.span}, Confidence::Likely,
                             {"`{}` is no variable of {}: did you mean `{}`?", {setting.name, names.FamilyOf(meant)->library, meant}}));
  }
}

void CheckUnreadVariable(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    if (file.kind == launch::FileKind::Shell) CheckNames(context, file, sink);
    std::set<source::Span> seen;
    for (const Job& job : file.jobs) {
      for (const Given& given : GivenTo(job)) {
        std::optional<Finding> finding = Overwritten(context, file, job, given);
        if (!finding) finding = FindingFor(context, file, job, given);
        if (!finding || !seen.insert(given.span).second) continue;
        AddNote(*finding, job.innermost().word.span(), {"the job that it is set for", {}});
        sink.push_back(std::move(*finding));
      }
    }
    CheckSlipsIn(context, file, seen, sink);
  }
}

}  // namespace

extern const Rule UnreadVariableRule = {
    .code = kAR912,
    .name = "unread-variable",
    .severity = Severity::Warning,
    .languages = "launch files",
    .summary = "variable of NCCL or PyTorch that neither of them reads",
    .explanation = R"md(
## What it finds

A variable that is set for a job and changes nothing:

* a name that is one letter away from a variable of NCCL, PyTorch, Gloo or CUDA: `CUDA_VISIBLE_DEVICE`;
* the name with the prefix of the other library: `NCCL_AVOID_RECORD_STREAMS` for
  `TORCH_NCCL_AVOID_RECORD_STREAMS`;
* a variable that NCCL stopped reading, such as `NCCL_IB_CUDA_SUPPORT`, or that nobody ever read,
  such as `NCCL_TIMEOUT`;
* a name that PyTorch reads since a release that the project does not allow yet;
* `MASTER_PORT` for a job that `torchrun` or `torch.distributed.launch` starts without `--master_port`: the
  launcher hands a port of its own to the ranks. In older releases that is 29500, as in all other jobs on the
  machine, in newer ones a free one, so that the finding is only *possible*.

In a script also a name that it reads of Slurm, `$SLURM_JOB_NODELIS`, or that it names in `unset`, which is
one letter away from a variable of these.

Which variables there are, and since when, stands in `knowledge/launch/nccl_variables.toml`; it comes
from the sources of each release of NCCL.

## Why it hurts

Nobody warns of a variable that nobody reads. The job runs without the setting: with the wrong
network interface, the wrong algorithm, or without the timeout that was to end it.

## Wrong

```sh
export NCCL_SOCKET_IFNAM=eth0
torchrun --nproc_per_node=8 train.py
```

## Right

```sh
export NCCL_SOCKET_IFNAME=eth0
torchrun --nproc_per_node=8 train.py
```

## When it is silent

* Names that are not close to a known one: plugins for other networks read variables of their own.
* Variables that are set where no job is started, but for names that are one letter away from a known one.
* Variables that the script, or a file that it imports, names itself: it may read them. One that the launcher
  sets anew it reads with the launcher's value.
* `MASTER_PORT` that is the port anyway, or that the file hands on: `--master_port=$MASTER_PORT`.
* An old name beside the one of today (`NCCL_AVOID_RECORD_STREAMS` and
  `TORCH_NCCL_AVOID_RECORD_STREAMS`): each release of PyTorch reads one of the two.
* Variables of NCCL for a program that communicates by another backend alone, or on devices of another kind.

## Fix

There is none: which variable was meant is not certain.

## Proof

There is nothing to replay.
)md",
    .check_launch = CheckUnreadVariable};

}  // namespace allranks::rules
