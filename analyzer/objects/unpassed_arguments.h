// Places that a run gets to only if a caller passes what no call here passes: behind `if s3_config is not None:`, where each call
// leaves `s3_config` at None.
//
// A test fails where what it asks is a parameter, and each call gives the parameter a constant for which it fails, or hands on a
// parameter of its own of which the same is true; or where it is a field of the own object that is such a constant. A function that
// is only called at such places is one as a whole. Of a function that processes are started with, what they are given counts.
//
// Not sound where a function is handed over as a value in another way, or called from elsewhere: what stands at such a place is possible, not wrong.
#pragma once

#include "analyzer/objects/claims.h"

namespace allranks::objects {

class UnpassedArguments {
 public:
  UnpassedArguments(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Guards& guards)
      : program_(program), facts_(facts), index_(index), guards_(guards) {}

  // Of the innermost statement that holds a position of a module.
  bool AreNeededAt(ir::ModuleId module, uint32_t position) const;

 private:
  bool IsOfOwnField(FuncId function, ir::ExprId test) const;
  bool Fails(const Claim& claim, ValueId value, int depth) const;
  bool IsFalseFor(const Claim& claim, ValueId constant) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Guards& guards_;
};

}  // namespace allranks::objects
