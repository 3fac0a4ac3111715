// What an expression is made of within its function, where the value analysis keeps no parts any more: values forget them
// beyond a depth, names do not.
#pragma once

#include <unordered_set>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

// The expressions whose results go into one of a function, through variables of that function. A tensor that was detached
// brings no gradient along and is not followed.
//
// Not sound: every assignment to a variable counts, those behind the expression too; fields and items are not followed.
class FlowInto {
 public:
  FlowInto(const binding::Program& program, const ProgramIndex& index, FuncId function, ir::ExprId into);

  bool Holds(ir::ExprId from) const { return from && found_.contains(from.index); }

 private:
  std::unordered_set<uint32_t> found_;  // by ExprId
};

}  // namespace allranks::objects
