// Classes that are handed over as values, to be made into objects by whoever gets them: `trainer.add_callback(Saver)`.
//
// A question about a class (`isinstance(hook, Saver)`) makes none. Unsound: what else gets a class may keep it and make nothing of it.
#pragma once

#include <vector>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

struct HandedClass {
  FuncId by;
  binding::ClassId class_id;
};

std::vector<HandedClass> FindHandedClasses(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index);

}  // namespace allranks::objects
