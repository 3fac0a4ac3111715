#include "analyzer/variation/facts.h"

#include <algorithm>

namespace allranks::variation {
namespace {

template <class List>
auto* Find(const List& list, ir::ExprId expr) {
  const auto found =
      std::ranges::lower_bound(list, expr, {}, [](const auto& item) { return item.first; });
  return found != list.end() && found->first == expr ? &found->second : nullptr;
}

}  // namespace

const CallFact* Facts::call(FuncId function, ir::ExprId expr) const { return Find(functions[function].calls, expr); }
const CallFact* Facts::enter(FuncId function, ir::ExprId expr) const { return Find(functions[function].enters, expr); }
const CallFact* Facts::leave(FuncId function, ir::ExprId expr) const { return Find(functions[function].leaves, expr); }
const CallFact* Facts::iteration(FuncId function, ir::ExprId expr) const {
  return Find(functions[function].iterations, expr);
}
ValueId Facts::trip_count(FuncId function, ir::ExprId expr) const {
  const ValueId* found = Find(functions[function].trip_counts, expr);
  return found == nullptr ? ValueId::None() : *found;
}

}  // namespace allranks::variation
