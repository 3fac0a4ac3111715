// Objects of which no more is known than their class, as an annotation says it (`def evaluate(loader: DataLoader)`): what callers hand over says
// more.
#pragma once

#include "analyzer/variation/value.h"

namespace allranks::objects {

inline bool IsOnlyDeclared(const variation::Value& value) {
  return value.kind == variation::ValueKind::Object && value.kid_count == 0 && value.site() == 0;
}

}  // namespace allranks::objects
