// Where a field is given its value: for whoever explains a value, not for computing it.
#pragma once

#include <vector>

#include "analyzer/variation/facts.h"

namespace allranks::variation {

struct FieldStore {
  FuncId function;
  ir::ExprId target;  // `self.rank`
  ir::ExprId value;
};

// The assignments to the field that an expression (`self.rank`, `conf.is_main`) reads, of objects of the same class, in order of files; those
// of the class's own methods first.
std::vector<FieldStore> StoresOfField(const binding::Program& program, const Facts& facts, FuncId function, ir::ExprId read);

}  // namespace allranks::variation
