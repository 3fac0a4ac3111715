// Objects of libraries that stand for a group: `get_tp_group()` of vLLM.
#pragma once

#include "analyzer/knowledge/knowledge.h"
#include "analyzer/variation/value.h"

namespace allranks::variation {

// An object of a class that lies along an axis is the group along it; others are what they are.
ValueId GroupBehind(const knowledge::Knowledge& knowledge, ValueStore& store, ValueId value);

}  // namespace allranks::variation
