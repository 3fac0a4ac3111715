// Places that a run gets to only if a caller passes what no call here passes: behind `if s3_config is not None:`, where each call
// leaves `s3_config` at None; or only if a command gives an option that all commands here leave out (launched_options.h).
//
// A test fails where what it asks is a parameter, and each call gives the parameter a constant for which it fails, or hands on a
// parameter of its own of which the same is true; or where it is a field of the own object that is such a constant. A function that
// is only called at such places is one as a whole.
//
// Not sound where a function is handed over as a value, or called from elsewhere: what stands at such a place is possible, not wrong.
#pragma once

#include "analyzer/objects/claims.h"
#include "analyzer/objects/launched_options.h"

namespace allranks::objects {

class UnpassedArguments {
 public:
  UnpassedArguments(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Reach& reach,
                    const LaunchedOptions& options)
      : program_(program), facts_(facts), index_(index), reach_(reach), options_(options) {}

  // Of the innermost statement that holds a position of a module.
  bool AreNeededAt(ir::ModuleId module, uint32_t position) const { return AreNeededAt(module, position, false); }
  // The same of arguments and options together.
  bool OptionsAreNeededAt(ir::ModuleId module, uint32_t position) const { return AreNeededAt(module, position, true); }

 private:
  bool AreNeededAt(ir::ModuleId module, uint32_t position, bool asks_options) const;
  bool IsOfOwnField(FuncId function, ir::ExprId test) const;
  bool Fails(const Claim& claim, ir::ModuleId module, ValueId value, bool asks_options, int depth) const;
  bool IsFalseFor(const Claim& claim, ValueId constant) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Reach& reach_;
  const LaunchedOptions& options_;
};

}  // namespace allranks::objects
