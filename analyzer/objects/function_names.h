// Whether anything speaks of a function: code that reads its name, an attribute or a text of that name where
// something may look it up: the file that defines it, or one that imports that as a module.
#pragma once

#include "analyzer/binding/program.h"

namespace allranks::objects {

// Somewhere in the program; a file that imports it and does nothing with it says nothing.
bool IsNamed(const binding::Program& program, binding::FuncId function);

}  // namespace allranks::objects
