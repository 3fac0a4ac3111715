#include "analyzer/knowledge/words.h"

#include <algorithm>

namespace allranks::knowledge {
namespace {

constexpr std::string_view kConstructor = ".__init__";
constexpr std::string_view kWrapped = "@gradient_synced.";

}  // namespace

bool IsOwnName(std::string_view name) {
  return !name.empty() && name.find("__") == std::string_view::npos && !name.starts_with('@') && !name.starts_with('*');
}

std::string WordsOfKind(std::string_view kind, OpClass op_class) {
  std::string words(kind);
  if (op_class == OpClass::Implicit) std::ranges::replace(words, '_', ' ');
  return words;
}

std::string WordsOfCall(std::string_view name, std::string_view kind, OpClass op_class) {
  if (name.starts_with(kWrapped)) return std::string(name.substr(kWrapped.size())) + " of a wrapped model";
  if (name.ends_with(kConstructor)) return std::string(name.substr(0, name.size() - kConstructor.size()));
  // Of operators what happens says more.
  if (name.ends_with("__") && !kind.empty()) return WordsOfKind(kind, op_class);
  const bool is_of_any_object = name.starts_with('@') || name.starts_with('*');
  return std::string(is_of_any_object ? name.substr(name.find('.') + 1) : name);
}

std::string WordsOfAlternatives(std::span<const NameId> names, const base::Interner& interner) {
  std::string words;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) words += i + 1 == names.size() ? " or " : ", ";
    words += interner.View(names[i]);
  }
  return words;
}

std::string AsCode(std::string_view words) {
  // "backward of `model`" has its own backticks.
  const bool is_name = words.find_first_of(" `") == std::string_view::npos;
  return is_name ? "`" + std::string(words) + "`" : std::string(words);
}

}  // namespace allranks::knowledge
