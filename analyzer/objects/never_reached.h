// Places that no run of the program on several ranks gets to: the tests on the way to them cannot all come out as they would have to.
//
// A test is never passed where it asks an option for a value that is not among its choices (`args.data == "CIFAR"` of
// `choices=["IMNET"]`), or where another test or an `assert` before it says the opposite of the same setting. Settings are
// parameters and options of the command line, which do not change while a function runs; of all other values two tests in a
// row may come out differently. Nor does a run get to a function that no file of the project names, except in another such function, where all who may call it are
// seen: because it is one of a script, or of a file that others of the project import while nobody installs it. The same goes
// for a method, unless a class it is in has a base outside of the project, for all methods of a class that no file names, and for a file that no
// program reads (left_behind.h). What a test
// of the number of ranks leaves to a single one (`if world_size != 1: raise`) says nothing of a job.
//
// Not sound where a function that is called in between changes an option, or where a name is put together (`"init_" + mode`).
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/claims.h"
#include "analyzer/objects/launched_options.h"
#include "analyzer/objects/left_behind.h"
#include "analyzer/objects/main_guard.h"
#include "analyzer/objects/other_files.h"

namespace allranks::objects {

class NeverReached {
 public:
  NeverReached(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Guards& guards,
               const Values& values, const LaunchedOptions& options, OtherFiles others)
      : program_(program), facts_(facts), index_(index), guards_(guards), values_(values), options_(options), others_(std::move(others)),
        neighbourhood_(program), left_behind_(program, index, others_) {
    for (uint32_t m = 0; m < program.modules.size(); ++m) has_main_.push_back(static_cast<bool>(MainOf(program, ir::ModuleId{m})));
  }

  // Whether no run gets to the innermost statement that holds a position of a module. A function that is only called at such
  // places is one as a whole.
  bool IsAt(ir::ModuleId module, uint32_t position) const;

 private:
  bool IsExcluded(FuncId function, ir::StmtId stmt) const;
  bool IsUnused(FuncId function) const;
  std::vector<bool> UnnamedIn(ir::ModuleId module) const;
  bool IsUncalledFunction(FuncId function) const;
  bool IsUncalledMethod(FuncId function) const;
  bool IsOfUnusedClass(FuncId function) const;
  bool AreCallersSeen(ir::ModuleId module) const;
  bool IsImpossible(ir::ModuleId module, const Claim& claim) const;
  bool IsOfOneProcess(const Claim& claim) const;
  bool Exclude(ir::ModuleId module, const Claim& a, const Claim& b) const;
  bool IsSetting(ir::ModuleId module, ValueId value, int depth = 0) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Guards& guards_;
  const Values& values_;
  const LaunchedOptions& options_;
  const OtherFiles others_;
  const binding::Neighbourhood neighbourhood_;
  const LeftBehind left_behind_;
  mutable std::unordered_map<uint32_t, std::vector<bool>> unnamed_;  // by ModuleId, and FunctionId
  mutable std::unordered_map<uint32_t, bool> unused_classes_;  // by ClassId
  std::vector<bool> has_main_;  // by module
};

}  // namespace allranks::objects
