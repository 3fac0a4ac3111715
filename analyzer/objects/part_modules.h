// Modules of Lightning that no trainer is given: files of settings name their class, and only as a part of another object, whose forward
// runs them. The hooks by which a trainer would train or validate them are run by nobody.
//
//   model: {target: ldm.Diffusion, params: {first_stage: {target: ldm.Autoencoder}}}
//
// Not sound where another file of settings trains the part by itself, or code does so.
#pragma once

#include <unordered_map>
#include <vector>

#include "analyzer/objects/lightning_calls.h"
#include "analyzer/objects/other_files.h"
#include "analyzer/objects/program_index.h"

namespace allranks::objects {

class PartModules {
 public:
  PartModules(const binding::Program& program, const knowledge::Knowledge& knowledge, const ProgramIndex& index, const OtherFiles& others)
      : program_(program), knowledge_(knowledge), index_(index), others_(others) {}

  // Whether a position stands in a hook of such a class.
  bool HaveHookAt(ir::ModuleId module, uint32_t position) const;

 private:
  // Those that lie in no other, in the order of the text.
  const std::vector<FuncId>& MethodsOf(ir::ModuleId module) const;
  bool IsRunByHooks(FuncId function, int depth) const;
  bool IsPart(binding::ClassId owner) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const ProgramIndex& index_;
  const OtherFiles& others_;
  mutable std::unordered_map<uint32_t, std::vector<FuncId>> methods_;  // by ModuleId
};

}  // namespace allranks::objects
