// Where the program trains: which functions and loops make gradients, which step an optimizer.
//
// A call of a function that trains in one mode only (`run_epoch(loader, train=False)`) does not train: what is passed decides
// the tests before each of its training calls. Arguments are followed through one call.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/objects/guards.h"
#include "analyzer/objects/loading.h"
#include "analyzer/objects/program_index.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

class Training {
 public:
  Training(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
           const ProgramIndex& index);

  // Calls that compute gradients (`loss.backward()`, `accelerator.backward(loss)`), by the name of the method.
  const std::vector<Site>& backwards() const { return backwards_; }
  const std::vector<Site>& steps() const { return steps_; }
  // Whether running a function, or a statement with all that it holds, computes gradients / steps an optimizer.
  bool Trains(FuncId function) const { return trains_[function.index]; }
  bool Trains(ir::ModuleId module, ir::StmtId stmt) const { return HoldsCall(module, stmt, trains_, made_); }
  bool Steps(ir::ModuleId module, ir::StmtId stmt) const { return HoldsCall(module, stmt, steps_in_, steps_); }
  // Whether a function is run by one that trains, itself or by a framework's trainer: somewhere above it gradients are made.
  bool IsForTraining(FuncId function) const { return for_training_[function.index]; }
  // Whether ranks communicate there: gradients, or any other operation of a group.
  bool Communicates(ir::ModuleId module, ir::StmtId stmt) const {
    return HoldsCall(module, stmt, communicates_, operations_);
  }
  // Whether gradients made there are reduced over ranks: they come from a wrapped model.
  bool Reduces(ir::ModuleId module, ir::StmtId stmt) const { return HoldsCall(module, stmt, reduces_, reductions_); }
  bool Reduces(FuncId function) const { return reduces_[function.index]; }
  // The same of what is done with the batches of a loop: where a generator hands them on, whoever called it, or another
  // method of that object, works on them.
  bool TrainsOn(const LoaderLoop& loop) const { return loop.hands_on ? AnyUser(loop, trains_) : Trains(ModuleOf(loop), loop.loop); }
  bool ReducesOn(const LoaderLoop& loop) const { return loop.hands_on ? AnyUser(loop, reduces_) : Reduces(ModuleOf(loop), loop.loop); }

 private:
  void FindCalls();
  void FindWhatTrainingRuns();
  ir::ModuleId ModuleOf(const LoaderLoop& loop) const { return program_.funcs[loop.iterable.function].module; }
  bool AnyUser(const LoaderLoop& loop, const std::vector<bool>& functions) const;
  void AddCall(FuncId function, ir::ExprId call);
  std::vector<bool> Closure(const std::vector<Site>& sites) const;
  bool HoldsCall(ir::ModuleId module, ir::StmtId stmt, const std::vector<bool>& functions,
                 const std::vector<Site>& sites) const;
  bool MayComeTo(const variation::CallFact& call, const std::vector<bool>& functions, const std::vector<Site>& sites) const;
  bool IsOneOf(const std::vector<Site>& sites, const Site& site) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  Values values_;
  Guards guards_;
  std::vector<Site> backwards_, fits_, steps_, reductions_, operations_;
  std::vector<Site> made_;  // gradients: computed, or reduced by what has made them, whatever it is called
  std::vector<bool> trains_, steps_in_, reduces_, communicates_;  // by FuncId, callees included
  std::vector<bool> for_training_;                                // by FuncId
};

}  // namespace allranks::objects
