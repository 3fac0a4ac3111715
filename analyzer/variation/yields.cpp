#include "analyzer/variation/yields.h"

#include <algorithm>

namespace allranks::variation {

void Yields::Note(const Yielded& yielded) {
  const auto [known, is_new] = place_of_.try_emplace(yielded.site.index, places_.size());
  if (is_new) places_.push_back(yielded);
  else places_[known->second] = yielded;
}

ValueId Yields::ItemValue() const {
  if (places_.empty()) return store_.NoneValue();
  std::vector<ValueId> items;
  for (const Yielded& place : places_) items.push_back(place.item);
  const bool are_alike = std::ranges::all_of(items, [&](ValueId item) { return item == items[0]; });
  return are_alike ? items[0] : store_.Derived(tables_.NameSymbol("yield"), items);
}

ValueId Yields::Count(const Containers& containers, Axes leaving) const {
  constexpr size_t kMostPlaces = 8;
  bool hangs_on_arguments = false;
  std::vector<ValueId> as_often;
  Axes axes;
  for (const Yielded& place : places_) {
    if (!place.how_often) continue;
    hangs_on_arguments = hangs_on_arguments || store_.has_param(place.how_often);
    axes = axes | store_.axes(place.how_often);
    const bool is_known = std::ranges::find(as_often, place.how_often) != as_often.end();
    if (!store_.axes(place.how_often).empty() && !is_known) as_often.push_back(place.how_often);
  }
  if (as_often.size() > kMostPlaces || !(axes & knowledge::kSoftAxes).empty()) return {};
  const bool are_counted = std::ranges::all_of(places_, [](const Yielded& place) { return place.condition.has_value(); });
  const bool is_counted = are_counted && !places_.empty() && places_.size() <= kMostPlaces && leaving.empty();
  if (!is_counted || (!hangs_on_arguments && as_often.empty())) return as_often.empty() ? ValueId() : containers.Count(as_often);
  ValueId count;
  for (const Yielded& place : places_) {
    const ValueId times = store_.Select(place.condition, place.count, store_.Int(0));
    count = count ? store_.Binary(ir::BinaryOp::Add, count, times) : times;
  }
  return count;
}

}  // namespace allranks::variation
