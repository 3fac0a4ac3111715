#include "analyzer/variation/path.h"

#include <algorithm>

#include "analyzer/variation/one_process.h"

namespace allranks::variation {

void Path::EnterOther() {
  const ValueId other = store_.Not(conditions_.back());
  Leave();
  Enter(other);
}

void Path::LeaveTo(size_t size) {
  conditions_.resize(size);
  together_.resize(std::min(together_.size(), size));
  axes_.resize(std::min(axes_.size(), size));
}

ValueId Path::Condition() {
  if (conditions_.empty()) return store_.And({});
  if (together_.empty()) together_.push_back(store_.And(std::span(conditions_).first(1)));
  while (together_.size() < conditions_.size()) {
    const ValueId both[] = {together_.back(), conditions_[together_.size()]};
    together_.push_back(store_.And(both));
  }
  return together_.back();
}

Axes Path::axes() {
  while (axes_.size() < conditions_.size()) {
    const Axes before = axes_.empty() ? Axes() : axes_.back();
    axes_.push_back(before | store_.axes(conditions_[axes_.size()]));
  }
  return axes_.empty() ? Axes() : axes_.back();
}

bool Path::IsAlone(Tables& tables, FuncId function) {
  return std::ranges::any_of(conditions_, [&](ValueId condition) {
    const auto [known, is_new] = of_one_process_.try_emplace(condition, false);
    if (is_new) known->second = IsOfOneProcess(store_, tables.Close(condition, function));
    return known->second;
  });
}

}  // namespace allranks::variation
