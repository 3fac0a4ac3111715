// Whether Lightning's validation loop comes to the hooks of a module.
//
// `Trainer.fit` validates only where it is given data to do so: loaders, a data module, or a module that has loaders of its
// own (`val_dataloader`). A trainer with `limit_val_batches=0` never does. The runs that are handed an object of the module's
// class are asked, and where none is seen to be (a model out of a settings file) all runs of the program. A trainer is known
// by the file that makes it and calls it. What is not understood may validate.
#pragma once

#include "analyzer/objects/lightning_calls.h"
#include "analyzer/objects/program_index.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

class LightningValidation {
 public:
  LightningValidation(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                      const ProgramIndex& index);

  // Of a hook that evaluates, a method of a module.
  bool MayRun(FuncId hook) const;

 private:
  bool IsOf(const KnownCall& run, binding::ClassId owner) const;
  bool Validates(const KnownCall& run, binding::ClassId owner) const;
  bool IsSwitchedOff(ir::ModuleId module) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  Values values_;
  LightningCalls calls_;
};

}  // namespace allranks::objects
