// Classes that the program makes objects of without naming them at the place: those that are handed over as values, to be made into objects by
// whoever gets them (`trainer.add_callback(Saver)`), those that a decorator puts into a table (`@MODELS.register("small")`), and those that
// are left to code which loads classes by name (`importlib.import_module`, `hydra.utils.instantiate`).
//
// A question about a class (`isinstance(hook, Saver)`) makes none. Unsound: what else gets a class may keep it and make nothing of it, and
// of the classes that nobody is seen to make any may be one that is loaded by name.
#pragma once

#include <vector>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

struct HandedClass {
  FuncId by;
  binding::ClassId class_id;
  bool by_name = false;  // its maker finds it in a table or by a text
};

std::vector<HandedClass> FindHandedClasses(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                                           const ProgramIndex& index);

}  // namespace allranks::objects
