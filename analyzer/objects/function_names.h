// Whether anything speaks of a function: code that reads its name, an attribute of that name, a text that holds it.
#pragma once

#include "analyzer/binding/program.h"

namespace allranks::objects {

// Somewhere in the program; a file that imports it and does nothing with it says nothing.
bool IsNamed(const binding::Program& program, binding::FuncId function);

}  // namespace allranks::objects
