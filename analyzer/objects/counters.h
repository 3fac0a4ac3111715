// Attributes that hold something else in each round of a loop: a step that is counted up, an epoch that is noted.
//
// Known by their names alone, whatever object they are of. That is unsound where one class counts in a field that another
// keeps a setting in.
#pragma once

#include <unordered_set>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

std::unordered_set<base::NameId> CountersOf(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index);

}  // namespace allranks::objects
