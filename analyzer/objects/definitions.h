// What was assigned last to a variable or a field of `self` before a place of its function is reached, on each way to it.
//
// An assignment in the block of the place, or in one around it, hides those before; one in the other arm of a branch does not
// count; one further down does where a loop comes back to the place.
//
// Not sound: `break`, `continue` and exceptions are not followed.
#pragma once

#include <vector>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

// A statement that assigns to a target, and the value, or an item of it.
struct Definition {
  static constexpr uint32_t kWhole = UINT32_MAX;
  ir::StmtId stmt;
  ir::ExprId value;   // none: bound in another way, as by a loop
  uint32_t item = kWhole;
};

// The field that an expression of a method names of its object, `rows` of `self.rows`; none: something else.
base::NameId FieldOfSelf(const binding::Program& program, const Site& place);

class Definitions {
 public:
  Definitions(const binding::Program& program, const ProgramIndex& index) : program_(program), index_(index) {}

  // All those of a function, in order of the text.
  std::vector<Definition> To(FuncId function, ir::ExprId target) const { return To(function, target, function); }
  // `of`: the function in which the target is written as it is.
  std::vector<Definition> To(FuncId function, ir::ExprId target, FuncId of) const;
  // Of these the ones that a place may see. `is_set_before`: one of them stands on every way to it.
  std::vector<Definition> Reaching(const Site& place, std::vector<Definition> assigned, bool& is_set_before) const;
  // Whether it is the first parameter of a method.
  bool IsSelf(const Site& place) const;

 private:
  const binding::Program& program_;
  const ProgramIndex& index_;
};

}  // namespace allranks::objects
