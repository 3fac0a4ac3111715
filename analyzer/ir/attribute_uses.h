// What the text of a module does with attributes, regardless of which objects they belong to.
#pragma once

#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/ir/program.h"

namespace allranks::ir {

struct AttributeUses {
  std::unordered_set<NameId> stored;  // by assignments, of any object
  bool stores_by_text = false;        // `setattr(object, name, value)`: any may be stored
  // Variables whose items, keys or values are asked for (`outputs.items()`), and where that is.
  std::vector<std::pair<NameId, uint32_t>> mappings;

  bool Stores(NameId attribute) const { return stores_by_text || stored.contains(attribute); }
};

AttributeUses AttributeUsesIn(const Module& module, const base::Interner& names);

}  // namespace allranks::ir
