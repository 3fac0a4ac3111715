// Whether anything speaks of a function or a class: code that reads its name, an attribute or a text of that name where
// something may look it up: the file that defines it, or one that imports that as a module.
#pragma once

#include "analyzer/binding/program.h"

namespace allranks::objects {

// Somewhere in the program; a file that imports it and does nothing with it says nothing, nor does a class speak of itself.
bool IsNamed(const binding::Program& program, binding::FuncId function);
bool IsNamed(const binding::Program& program, binding::ClassId class_id);

}  // namespace allranks::objects
