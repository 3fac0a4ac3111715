#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "rules/launch/job_facts.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;

constexpr std::string_view kAR913 = "AR913";

// The value as it is written: two unknown ones are the same where they are computed by the same words.
std::string Written(const LaunchContext& context, const Option& option) {
  if (option.value.IsKnown()) return option.value.text();
  const source::Span span = option.value.span();
  return span.file ? context.files[span.file].text.substr(span.begin, span.end - span.begin) : std::string();
}

// In a shell the second one may be meant to take the place of what a variable holds.
Confidence HowSure(const LaunchFile& file, const Job& job, const Option& first, const Option& second) {
  const auto is_inside = [&](const Option& option) {
    const source::Span span = option.word.span();
    return span.file == job.span.file && span.begin >= job.span.begin && span.end <= job.span.end;
  };
  const bool is_written_twice = file.kind == launch::FileKind::Python || (is_inside(first) && is_inside(second));
  return is_written_twice ? Confidence::Likely : Confidence::Possible;
}

void CheckLayer(const LaunchContext& context, const LaunchFile& file, const Job& job, const Layer& layer, std::set<source::Span>& seen,
                FindingSink& sink) {
  std::map<const launch::OptionEntry*, const Option*> given;
  for (const Option& option : layer.options) {
    const launch::OptionEntry* entry = option.is_known ? launch::FindOption(*layer.launcher, option.name) : nullptr;
    if (entry == nullptr || entry->takes != "value") continue;
    const auto [first, is_new] = given.try_emplace(entry, &option);
    if (is_new || Written(context, *first->second) == Written(context, option)) continue;
    const Option& before = *std::exchange(first->second, &option);
    if (!seen.insert(option.word.span()).second) continue;
    Finding finding = LaunchFinding(kAR913, Severity::Warning, HowSure(file, job, before, option), option.word.span(),
                                    {"`{}` is given twice, with different values: `{}` takes the last one", {option.name, layer.launcher->name}});
    AddNote(finding, before.word.span(), {"this one has no effect", {}});
    sink.push_back(std::move(finding));
  }
}

// `trainer.devices=8 ... trainer.devices=4`, as Hydra and OmegaConf take settings.
std::string SettingOf(const Word& word) {
  const std::string& text = word.text();
  const size_t begin = std::min(text.find_first_not_of('+'), text.size());
  const size_t equals = text.find('=');
  const size_t dot = text.find('.', begin);
  if (equals == std::string::npos || dot >= equals || dot == begin || text[begin] == '-' || text.find_first_of("/ \"'") < equals) return {};
  return word.Between(0, equals).IsKnown() ? text.substr(begin, equals - begin) : std::string();
}

bool IsWithin(source::Span span, source::Span around) { return span.file == around.file && span.begin >= around.begin && span.end <= around.end; }

void CheckSettings(const Job& job, std::set<source::Span>& seen, FindingSink& sink) {
  std::map<std::string, const Word*> given;
  for (const Word& word : job.args) {
    // One of a variable may be there to be replaced.
    const std::string name = IsWithin(word.span(), job.span) && word.IsKnown() ? SettingOf(word) : std::string();
    if (name.empty()) continue;
    const auto [first, is_new] = given.try_emplace(name, &word);
    const Word& before = *std::exchange(first->second, &word);
    const auto value = [](const Word& each) { return each.text().substr(each.text().find('=')); };
    if (is_new || value(before) == value(word) || !seen.insert(word.span()).second) continue;
    Finding finding = LaunchFinding(kAR913, Severity::Warning, Confidence::Likely, word.span(),
                                    {"`{}` is given twice, with different values: `{}` takes the last one", {name, job.script.Shown()}});
    AddNote(finding, before.span(), {"this one has no effect", {}});
    sink.push_back(std::move(finding));
  }
}

bool IsSameValue(const std::string& a, const std::string& b) {
  char* end_a = nullptr;
  char* end_b = nullptr;
  const double number_a = std::strtod(a.c_str(), &end_a);
  const double number_b = std::strtod(b.c_str(), &end_b);
  const bool are_numbers = !a.empty() && !b.empty() && *end_a == '\0' && *end_b == '\0';
  return a == b || (are_numbers && number_a == number_b);
}

// `--lr 0.1 ... --lr 0.2` for a script whose parser keeps the last one.
void CheckArgumentsOf(const LaunchContext& context, const Job& job, std::set<source::Span>& seen, FindingSink& sink) {
  const objects::ScriptOptions* script = context.ScriptOf(job);
  if (script == nullptr || script->forms.empty()) return;
  std::map<std::string, std::pair<const Word*, std::string>> given;
  for (size_t i = 0; i < job.args.size(); ++i) {
    const Word& word = job.args[i];
    const size_t equals = word.text().find('=');
    const std::string name = word.text().substr(0, equals);
    if (name == "--") return;
    const auto form = script->forms.find(name);
    if (form == script->forms.end() || form->second.may_repeat || !IsWithin(word.span(), job.span)) continue;
    const Word value = launch::ValueOf(job.args, i);
    if (value.empty() || !value.IsKnown() || !IsWithin(value.span(), job.span)) continue;
    const auto [first, is_new] = given.try_emplace(name, &word, value.text());
    const auto before = std::exchange(first->second, std::pair(&word, value.text()));
    if (is_new || IsSameValue(before.second, value.text()) || !seen.insert(word.span()).second) continue;
    Finding finding = LaunchFinding(kAR913, Severity::Warning, Confidence::Likely, word.span(),
                                    {"`{}` is given twice, with different values: `{}` takes the last one", {name, job.script.Shown()}});
    AddNote(finding, before.first->span(), {"this one has no effect", {}});
    sink.push_back(std::move(finding));
  }
}

void CheckRepeatedOption(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    std::set<source::Span> seen;
    for (const Job& job : file.jobs) {
      CheckSettings(job, seen, sink);
      CheckArgumentsOf(context, job, seen, sink);
      for (const Layer& layer : job.layers) {
        if (layer.launcher->is_complete) CheckLayer(context, file, job, layer, seen, sink);
      }
    }
  }
}

}  // namespace

extern const Rule RepeatedOption = {
    .code = kAR913,
    .name = "repeated-option",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "launch files",
    .summary = "option of a launcher that one command gives twice, with different values",
    .explanation = R"md(
## What it finds

An option of `torchrun`, `torch.distributed.launch`, `accelerate launch` or `deepspeed` that stands
twice in one command with different values, in scripts and in lists that Python builds up for
`subprocess`; a setting of a script, as Hydra takes them (`trainer.devices=8`), that does; and an argument
of a script whose parser is known (argparse, or dataclasses with `HfArgumentParser`).

## Why it hurts

These launchers take the last value and say nothing. Most often the second one was to be another
option, such as the port under the name of the node's rank, and the one that was meant keeps its
default: nodes then never meet.

## Wrong

```python
cmd.extend(["--node_rank", str(rank), "--master_addr", address, "--node_rank", str(port)])
```

## Right

```python
cmd.extend(["--node_rank", str(rank), "--master_addr", address, "--master_port", str(port)])
```

## When it is silent

* Both values are the same.
* Options that may be given several times: those of `mpirun` and `srun`, and arguments with `append` or an
  action of their own.
* The two stand in different arms of an `if`.
* In a shell, one of them comes from a variable: it may be a default that the other one replaces. The
  finding is then only *possible*.

## Fix

There is none: which of the two is wrong is not known.

## Proof

There is nothing to replay.
)md",
    .check_launch = CheckRepeatedOption};

}  // namespace allranks::rules
