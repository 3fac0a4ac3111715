// Whether a function changes which parameters of a model that it is given are trained: it sets `requires_grad` of some of them, or of
// those of one of its parts, itself or in a function that it calls.
//
// Not sound: what is changed through another variable than the parameter and the variable of a loop is not seen.
#pragma once

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

class ParameterChanges {
 public:
  ParameterChanges(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index)
      : program_(program), facts_(facts), index_(index) {}

  // The statement that does it to what is passed for a parameter; none: not seen.
  ir::StmtId In(FuncId function, uint32_t param) const { return In(function, param, false, 0); }
  // The same of some of the parameters that a loop goes over, as a test in it says: `if "adapter" not in name: p.requires_grad = False`.
  ir::StmtId OfSomeIn(FuncId function, uint32_t param) const { return In(function, param, true, 0); }

 private:
  ir::StmtId In(FuncId function, uint32_t param, bool of_some, int depth) const;
  bool HandsOn(FuncId function, ir::ExprId call, base::NameId model, bool of_some, int depth) const;
  bool IsOfSome(ir::ModuleId module, ir::StmtId change) const;
  base::NameId RootOf(const ir::Module& module, ir::ExprId chain) const;
  base::NameId ModelOfLoop(ir::ModuleId module, ir::StmtId inside, base::NameId variable) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
};

}  // namespace allranks::objects
