#include "analyzer/ir/name_places.h"

#include <algorithm>
#include <utility>

namespace allranks::ir {

NamePlaces::NamePlaces(const Module& module) : is_python_(module.language == Language::Python) {
  std::vector<std::pair<uint32_t, NameId>> places;
  for (const Expr& expr : module.exprs) {
    if (expr.kind == ExprKind::Name) places.emplace_back(expr.begin, NameOf(expr));
  }
  std::ranges::stable_sort(places, {}, &std::pair<uint32_t, NameId>::first);
  for (const auto& [begin, name] : places) {
    begins_.push_back(begin);
    names_.push_back(name);
  }
}

std::span<const NameId> NamePlaces::In(const Function& function) const {
  if (!is_python_) return names_;
  const auto first = std::ranges::lower_bound(begins_, function.begin) - begins_.begin();
  const auto last = std::ranges::lower_bound(begins_, function.end) - begins_.begin();
  return std::span(names_).subspan(static_cast<size_t>(first), static_cast<size_t>(last - first));
}

}  // namespace allranks::ir
