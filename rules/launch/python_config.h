// Configurations that a program writes down itself: a dict handed to a library instead of the name of a file.
//
// What stands in the dict as it is written counts. A dict that the program changes afterwards is not taken for one.
#pragma once

#include <optional>

#include "analyzer/launch/job.h"
#include "rules/rule.h"

namespace allranks::rules {

// The dict that a value is, as a tree with the places of its keys and values. What is no constant is there as a null, of which
// nothing is known. None: the value is no dict that is seen, or its contents are not known.
std::optional<launch::ConfigTree> DictConfig(const Context& context, ir::ModuleId module, variation::ValueId value);

// The configuration file that a program names by a constant; nullptr: it names none that is known.
const launch::LaunchFile* NamedConfig(const Context& context, ir::ModuleId module, variation::ValueId value);

}  // namespace allranks::rules
