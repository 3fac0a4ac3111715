// Whether anything speaks of a function or a class: code that reads its name, an attribute or a text of that name where
// something may look it up: the file that defines it, or one that imports that as a module.
#pragma once

#include <span>

#include "analyzer/binding/program.h"
#include "analyzer/objects/program_index.h"

namespace allranks::objects {

// A part of a file, from one position to another.
struct Part {
  uint32_t begin = 0;
  uint32_t end = 0;
};

// Somewhere in the program, but for parts of its own file that do not count; a file that imports it and does nothing with it says nothing, nor
// does a class speak of itself.
bool IsNamed(const binding::Program& program, const ProgramIndex& index, binding::FuncId function, std::span<const Part> aside = {});
bool IsNamed(const binding::Program& program, const ProgramIndex& index, binding::ClassId class_id);
// Whether a file hands out all that it defines: `fire.Fire()` runs what its user names.
bool HandsOutAll(const binding::Program& program, const ProgramIndex& index, ir::ModuleId module);

}  // namespace allranks::objects
