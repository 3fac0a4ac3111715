#include "analyzer/launch/variable_names.h"

#include <algorithm>

namespace allranks::launch {

const VariableFamily* VariableNames::FamilyOf(std::string_view name) const {
  const auto family = std::ranges::find_if(families_, [&](const VariableFamily& one) { return one.since.contains(name); });
  return family == families_.end() ? nullptr : &*family;
}

const UnreadVariable* VariableNames::FindUnread(std::string_view name) const {
  for (const VariableFamily& family : families_) {
    const auto found = std::ranges::find(family.unread, name, &UnreadVariable::name);
    if (found != family.unread.end()) return &*found;
  }
  return nullptr;
}

}  // namespace allranks::launch
