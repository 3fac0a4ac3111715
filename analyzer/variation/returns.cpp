#include "analyzer/variation/returns.h"

#include <algorithm>
#include <utility>

namespace allranks::variation {

void Returns::Note(ValueId condition, ValueId value, std::vector<ValueId> held, Effects effects) {
  ways_.push_back({condition, value, std::move(held), std::move(effects)});
}

void Returns::Unless(ValueId failed, size_t first, size_t end) {
  for (size_t i = first; i < end; ++i) {
    const ValueId conditions[] = {ways_[i].condition, store_.Not(failed)};
    ways_[i].condition = store_.And(conditions);
  }
}

ValueId Returns::Value(ValueId at_end, Axes leaving) const {
  return OfAll([](const Way& way) { return way.value; }, at_end, leaving);
}

ValueId Returns::Held(uint32_t param, ValueId as_passed, ValueId at_end, Axes leaving) const {
  return OfAll([&](const Way& way) { return way.held[param] ? way.held[param] : as_passed; }, at_end, leaving);
}

bool Returns::IsStoredIn(uint32_t param) const {
  return std::ranges::any_of(ways_, [&](const Way& way) { return way.held[param].has_value(); });
}

// From the last one to the first, so that the first one decides before all others.
ValueId Returns::OfAll(const std::function<ValueId(const Way&)>& value_of, ValueId at_end, Axes leaving) const {
  if (ways_.empty()) return at_end;
  constexpr size_t kMostWays = 24;
  if (ways_.size() > kMostWays) {
    std::vector<ValueId> kids;
    for (const Way& way : ways_) kids.push_back(value_of(way));
    return store_.Derived(tables_.NameSymbol("return"), kids, leaving);
  }
  size_t rest = ways_.size();
  ValueId result = at_end ? at_end : value_of(ways_[--rest]);
  while (rest-- > 0) result = store_.Select(ways_[rest].condition, value_of(ways_[rest]), result);
  return result;
}

Effects Returns::LeftBehind(const Effects* at_end) const {
  if (ways_.empty()) return at_end == nullptr ? Effects() : *at_end;
  size_t rest = ways_.size();
  Effects effects = at_end != nullptr ? *at_end : ways_[--rest].effects;
  while (rest-- > 0) effects = EitherOf(store_, ways_[rest].condition, ways_[rest].effects, effects);
  return effects;
}

}  // namespace allranks::variation
