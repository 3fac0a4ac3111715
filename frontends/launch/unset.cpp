#include "frontends/launch/unset.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <vector>

namespace allranks::launch_files {
namespace {

bool IsOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsSmall(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool IsLarge(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

// Names in capitals are those of the environment.
bool IsOfScript(std::string_view name) { return std::ranges::any_of(name, IsSmall) && std::ranges::none_of(name, IsLarge); }

// Whether any of the places where a text has a name, and no longer one, is wanted.
template <class IsWanted>
bool AnyWhole(std::string_view text, std::string_view name, IsWanted is_wanted) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool is_whole = (at == 0 || !IsOfName(text[at - 1])) && (end == text.size() || !IsOfName(text[end]));
    if (is_whole && is_wanted(at)) return true;
  }
  return false;
}

// Whether a place of a text begins `$name` or `${name}`, or is in an option of that name.
bool IsPlainUse(std::string_view text, size_t at, size_t length) {
  if (at >= 1 && (text[at - 1] == '$' || text[at - 1] == '-')) return true;
  return at >= 2 && text.substr(at - 2, 2) == "${" && text.substr(at + length).starts_with('}');
}

// What it reads sets variables that nobody sees here.
bool ReadsOthers(std::string_view text) {
  for (const std::string_view word : {"source ", "\n. ", "eval ", "set -a", "envsubst"}) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

// The variable that is the value of an option as it stands, in this file; an empty word: it is something else.
Word VariableBehind(const Word& option, const Word& value, const launch::LaunchFile& file) {
  const bool is_of_option = launch::IsArgumentName(option.text()) || option.text().find('=') != std::string::npos;
  const bool is_variable = is_of_option && IsOfScript(value.Variable()) && value.span().file == file.file;
  return is_variable ? value : Word();
}

std::vector<Word> VariablesOf(const launch::Job& job, const launch::LaunchFile& file) {
  std::vector<Word> all;
  for (const launch::Layer& layer : job.layers) {
    for (const launch::Option& option : layer.options) all.push_back(VariableBehind(option.word, option.value, file));
  }
  for (size_t i = 0; i < job.args.size(); ++i) all.push_back(VariableBehind(job.args[i], launch::ValueOf(job.args, i), file));
  std::erase_if(all, [](const Word& word) { return word.empty(); });
  return all;
}

}  // namespace

bool MayGive(std::string_view text, std::string_view name) {
  return AnyWhole(text, name, [&](size_t at) { return !IsPlainUse(text, at, name.size()); });
}

bool Assigns(std::string_view text, std::string_view name) {
  return AnyWhole(text, name, [&](size_t at) { return text.substr(at + name.size()).starts_with('='); });
}

void AddUnset(const std::map<std::string, ShellVariable>& variables, const Word& text, launch::LaunchFile& file) {
  // Of several that nothing sets the caller sets all.
  constexpr size_t kMostSlips = 2;
  const bool sets_any = std::ranges::any_of(variables, [](const auto& variable) { return IsOfScript(variable.first); });
  if (!sets_any || ReadsOthers(text.text())) return;
  std::vector<launch::LostArguments> found;
  std::set<std::string_view> names;
  for (uint32_t job = 0; job < file.jobs.size(); ++job) {
    for (Word& word : VariablesOf(file.jobs[job], file)) {
      if (names.contains(word.Variable()) || MayGive(text.text(), word.Variable())) continue;
      found.push_back({.job = job, .first = std::move(word), .by = launch::LostBy::NothingSet, .mistake = {}});
      names.insert(found.back().first.Variable());
    }
  }
  if (found.size() <= kMostSlips) std::ranges::move(found, std::back_inserter(file.lost));
}

}  // namespace allranks::launch_files
