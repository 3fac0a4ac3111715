#include "analyzer/variation/path.h"

#include <algorithm>

#include "analyzer/variation/one_process.h"

namespace allranks::variation {

Axes Path::axes() const {
  Axes axes;
  for (const ValueId condition : conditions_) axes = axes | store_.axes(condition);
  return axes;
}

bool Path::IsAlone(Tables& tables, FuncId function) {
  return std::ranges::any_of(conditions_, [&](ValueId condition) {
    const auto [known, is_new] = of_one_process_.try_emplace(condition, false);
    if (is_new) known->second = IsOfOneProcess(store_, tables.Close(condition, function));
    return known->second;
  });
}

}  // namespace allranks::variation
