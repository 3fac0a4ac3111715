#include "analyzer/variation/yields.h"

#include <algorithm>

namespace allranks::variation {

void Yields::Note(ValueId item, ValueId condition, ValueId how_often) {
  items_.push_back(item);
  if (condition) counts_.push_back(store_.Select(condition, store_.Int(1), store_.Int(0)));
  else are_all_counted_ = false;
  if (!how_often) return;
  hangs_on_arguments_ = hangs_on_arguments_ || store_.has_param(how_often);
  const bool is_known = std::ranges::find(as_often_, how_often) != as_often_.end();
  if (!store_.axes(how_often).empty() && !is_known) as_often_.push_back(how_often);
}

ValueId Yields::ItemValue() const {
  if (items_.empty()) return store_.NoneValue();
  const bool are_alike = std::ranges::all_of(items_, [&](ValueId item) { return item == items_[0]; });
  return are_alike ? items_[0] : store_.Derived(tables_.NameSymbol("yield"), items_);
}

ValueId Yields::Count(const Containers& containers, Axes leaving) const {
  constexpr size_t kMostPlaces = 8;
  Axes axes;
  for (const ValueId how_often : as_often_) axes = axes | store_.axes(how_often);
  if (as_often_.size() > kMostPlaces || !(axes & knowledge::kSoftAxes).empty()) return {};
  const bool is_counted = are_all_counted_ && !counts_.empty() && counts_.size() <= kMostPlaces && leaving.empty();
  if (is_counted && (hangs_on_arguments_ || !as_often_.empty())) {
    ValueId count = counts_.front();
    for (size_t i = 1; i < counts_.size(); ++i) count = store_.Binary(ir::BinaryOp::Add, count, counts_[i]);
    return count;
  }
  return as_often_.empty() ? ValueId() : containers.Count(as_often_);
}

}  // namespace allranks::variation
