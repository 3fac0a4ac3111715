#include "rules/launch/lacking_arguments.h"

#include <algorithm>

#include "rules/launch/job_facts.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;

constexpr std::string_view kAR908OfLacking = "AR908";

void Report(source::Span span, Confidence confidence, bool is_in_preview, findings::Text message, FindingSink& of_file) {
  Finding finding = LaunchFinding(kAR908OfLacking, Severity::Error, confidence, span, std::move(message));
  finding.is_in_preview = is_in_preview;
  AddAlike(std::move(finding), of_file);
}

// `--pin_memory --lr 0.1` for `add_argument("--pin_memory", type=bool)`. On a page `<path>` may stand behind it, which the shell takes for a file.
void CheckValues(const objects::ScriptOptions& script, const Job& job, FindingSink& of_file) {
  for (size_t i = 0; i < job.args.size() && job.args[i].text() != "--"; ++i) {
    const std::string& name = job.args[i].text();
    const auto form = script.forms.find(std::string_view(name));
    const bool is_last = i + 1 == job.args.size() || (job.args[i + 1].IsKnown() && job.args[i + 1].text().starts_with("--"));
    if (form == script.forms.end() || !form->second.needs_value || !is_last || !job.args[i].IsKnown()) continue;
    Report(job.args[i].span(), Confidence::Likely, true, {"`{}` of `{}` needs a value and gets none: every rank ends with a usage error before it trains", {name, job.script.Shown()}}, of_file);
  }
}

// `...`, `[options]`, `<arguments>`: the command is not told in full.
bool StandsForOthers(const Word& word) {
  const std::string& text = word.text();
  const bool is_cut = text.find("..") != std::string::npos || text.find("\u2026") != std::string::npos;
  return is_cut || text.find_first_of("<>[]{}|") != std::string::npos;
}

// Whether nothing but what is written is handed to the script. What is behind the name of an argument is its value.
bool IsToldInFull(const Job& job) {
  for (size_t i = 0; i < job.args.size(); ++i) {
    const Word& word = job.args[i];
    const bool is_value = i > 0 && job.args[i - 1].IsKnown() && launch::IsArgumentName(job.args[i - 1].text());
    const bool is_named = launch::IsArgumentName(word.text()) && word.text().find('=') != std::string::npos;
    if (StandsForOthers(word) || (!word.IsKnown() && !is_value && !is_named)) return false;
  }
  return true;
}

// Whether a word is an option, or the beginning of its name.
bool IsGiven(const Job& job, const std::set<std::string>& names) {
  return std::ranges::any_of(job.args, [&](const Word& word) {
    const std::string given = word.text().substr(0, word.text().find('='));
    const auto is_it = [&](const std::string& name) {
      // `-n4`, with its value.
      const bool is_short = !name.starts_with("--") && given.starts_with(name) && !given.starts_with("--");
      return is_short || (given.size() > 2 && name.starts_with(given));
    };
    return std::ranges::any_of(names, is_it);
  });
}

bool AsksForHelp(const Job& job) {
  return std::ranges::any_of(job.args, [](const Word& word) { return word.text() == "-h" || word.text() == "--help"; });
}

// On a page a command may be told in full once, and in short where only one argument matters.
bool IsToldElsewhere(const LaunchFile& file, const Job& job, const std::set<std::string>& names) {
  return IsPage(file) && std::ranges::any_of(file.jobs, [&](const Job& other) { return other.script_path == job.script_path && IsGiven(other, names); });
}

// `torchrun train.py` for `add_argument("--config", required=True)`.
void CheckRequired(const objects::ScriptOptions& script, const LaunchFile& file, const Job& job, FindingSink& of_file) {
  for (const std::set<std::string>& names : script.required) {
    if (IsGiven(job, names)) continue;
    const auto longest = std::ranges::max_element(names, {}, &std::string::size);
    return Report(job.script.span(), IsToldElsewhere(file, job, names) ? Confidence::Possible : Confidence::Likely, IsPage(file), {"`{}` needs `{}`, and this command does not give it: every rank ends with a usage error before it trains", {job.script.Shown(), *longest}}, of_file);
  }
}

// `python train.py configs/base.yaml` for a parser that takes options alone.
void CheckWithoutName(const objects::ScriptOptions& script, const Job& job, FindingSink& of_file) {
  if (!script.is_known || script.has_positional || job.args.empty()) return;
  const Word& first = job.args.front();
  if (!first.IsKnown() || first.text().empty() || first.text().starts_with('-') || StandsForOthers(first)) return;
  Report(first.span(), Confidence::Likely, false, {"`{}` takes no argument without a name, and `{}` has none: every rank ends with a usage error before it trains", {job.script.Shown(), first.text()}}, of_file);
}

}  // namespace

void CheckLackingArguments(const LaunchContext& context, const LaunchFile& file, const Job& job, FindingSink& of_file) {
  const objects::ScriptOptions* script = context.ScriptOf(job);
  if (script == nullptr || AsksForHelp(job)) return;
  if (!IsPage(file)) CheckValues(*script, job, of_file);
  CheckWithoutName(*script, job, of_file);
  if (IsToldInFull(job)) CheckRequired(*script, file, job, of_file);
}

}  // namespace allranks::rules
