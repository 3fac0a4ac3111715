#include "frontends/launch/shell_memory.h"

#include <algorithm>
#include <set>

namespace allranks::launch_files {
namespace {

using launch::kUnknownPart;
using launch::Piece;

bool SameWords(const ShellVariable& a, const ShellVariable& b) {
  return std::ranges::equal(a.words, b.words, {}, &Word::text, &Word::text);
}

void MakeDefault(ShellVariable& variable) {
  for (Word& word : variable.words) {
    Word weaker;
    for (Piece piece : word.pieces()) {
      piece.sureness = std::min(piece.sureness, Sureness::Default);
      weaker.Add(std::move(piece));
    }
    word = std::move(weaker);
  }
}

ShellVariable Joined(const std::string& name, const ShellVariable& a, const ShellVariable& b) {
  const auto is_empty = [](const ShellVariable& variable) {
    return !variable.is_disputed && std::ranges::all_of(variable.words, [](const Word& word) { return !word.IsKnown() && word.Variable() != ""; });
  };
  if (is_empty(a) != is_empty(b)) {
    ShellVariable known = is_empty(a) ? b : a;
    MakeDefault(known);
    return known;
  }
  ShellVariable unknown = a;
  unknown.is_disputed = true;
  unknown.words = {Word(Piece{.text = std::string(1, kUnknownPart), .origin = a.span, .sureness = Sureness::Unknown, .variable = name})};
  return unknown;
}

// Adds what one more arm leaves in a variable.
void Merge(const std::string& name, std::optional<ShellVariable>& joined, const std::optional<ShellVariable>& arm) {
  const bool is_new = !joined && arm;
  if (is_new) joined = arm;
  else if (joined && arm && !SameWords(*joined, *arm)) joined = Joined(name, *joined, *arm);
  const bool is_of_one = is_new || (joined && !arm);
  if (is_of_one) MakeDefault(*joined);
}

}  // namespace

void ShellMemory::Set(const std::string& name, ShellVariable variable) {
  const auto [place, is_new] = all_.try_emplace(name);
  if (variable.is_exported || (!is_new && place->second.is_exported)) ++export_changes_;
  Note(name, is_new ? std::nullopt : std::optional(std::move(place->second)));
  place->second = std::move(variable);
}

void ShellMemory::Erase(const std::string& name) {
  const auto known = all_.find(name);
  if (known == all_.end()) return;
  if (known->second.is_exported) ++export_changes_;
  Note(name, std::move(known->second));
  all_.erase(known);
}

ShellMemory::Changes ShellMemory::TakeBack() {
  Changes changes;
  const size_t mark = marks_.back();
  marks_.pop_back();
  while (journal_.size() > mark) {
    auto& [name, before] = journal_.back();
    const auto known = all_.find(name);
    const bool is_set = known != all_.end();
    if ((is_set && known->second.is_exported) || (before && before->is_exported)) ++export_changes_;
    if (!changes.contains(name)) changes.emplace(name, is_set ? std::optional(std::move(known->second)) : std::nullopt);
    if (before) all_[name] = std::move(*before);
    else if (is_set) all_.erase(known);
    journal_.pop_back();
  }
  return changes;
}

void ShellMemory::Join(const std::vector<Changes>& arms) {
  std::set<std::string> names;
  for (const Changes& arm : arms) {
    for (const auto& [name, variable] : arm) names.insert(name);
  }
  for (const std::string& name : names) {
    const ShellVariable* known = Find(name);
    const std::optional<ShellVariable> before = known == nullptr ? std::nullopt : std::optional(*known);
    const auto after = [&](const Changes& arm) -> const std::optional<ShellVariable>& {
      const auto changed = arm.find(name);
      return changed == arm.end() ? before : changed->second;
    };
    std::optional<ShellVariable> joined = after(arms[0]);
    for (size_t i = 1; i < arms.size(); ++i) Merge(name, joined, after(arms[i]));
    if (joined) Set(name, std::move(*joined));
    else Erase(name);
  }
}

}  // namespace allranks::launch_files
