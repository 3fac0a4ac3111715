// Statements of Python that fail whenever they run, so that no run gets to what stands behind them.
//
// These are: a read of a name that nothing binds, neither the function, nor those around it, nor the file, nor Python; an import
// that finds nothing (missing_imports.h); an environment variable that is set to a number or None; a loop over
// `enumerate(...)` that takes more than two parts of what it gets, and an assignment that takes another number of values than the function of
// the project returns anywhere; a call that lacks an argument, has one too many or one twice, of a
// function or a class of the project, by its name, behind its file (`helpers.save`) or by the only other one that its file gives a class, or of one of a library of which the
// knowledge base has all that it takes; an option that a parser of argparse has already, or a read of one that none has
// (missing_options.h); an attribute of a dictionary that no dictionary has; and a call of a
// function, or an import of a file, in which one of these stands where each run comes by. So is an `if rank == 0:` in one arm of which each run
// does: of a job of several, some ranks fail there, and with them the job.
//
// A statement counts only for what is evaluated whenever it runs, and a name as bound if anything in its scope binds it, be it in an arm
// that is not taken. Nothing is said of files that make names as they run (`exec`, `globals()`, `from x import *` of what was not read),
// of notebooks, whose cells run in any order, and of files with errors of syntax.
//
// Not sound where names are put into a module from outside (`builtins.log = print`, `settings.rank = 0` of a module), where a function is handed
// over and run by others than its callers here, or where the import is of another file than was found: what stands behind is possible, not
// wrong.
#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/objects/missing_imports.h"
#include "analyzer/objects/missing_options.h"
#include "analyzer/objects/program_index.h"

namespace allranks::objects {

class SureFailures {
 public:
  SureFailures(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const ProgramIndex& index,
               const OtherFiles& others)
      : program_(program), knowledge_(knowledge), facts_(facts), index_(index), options_(program, knowledge, facts, index),
        imports_(program, index, others) {}

  // Whether each run that would get to a position of a module has failed before, or fails at a call on the way, or at that place, since what is
  // called is given something else than it takes.
  bool AreBefore(ir::ModuleId module, uint32_t position) const;
  // The same of a run that got into the function: at a statement above in the blocks around this one, or where the file is read.
  bool AreBefore(FuncId function, ir::StmtId stmt) const;

 private:
  // How far the statements of a block were looked at from its beginning, up to the first one that fails or leaves the block.
  struct Looked {
    uint32_t count = 0;
    bool fails = false;   // the one behind these
    bool leaves = false;  // the last of these
  };

  bool Fails(FuncId function, ir::StmtId stmt) const;
  bool FailBefore(FuncId function, ir::BlockId block, ir::StmtId stmt) const;
  bool FailsNew(FuncId function, ir::StmtId stmt) const;
  bool FailsAbove(FuncId function) const;
  bool IsCalledWrongly(FuncId function) const;
  bool CallsWrongly(FuncId function, ir::StmtId stmt) const;
  bool HoldsWrongCall(FuncId function, ir::ExprId expr) const;
  bool IsWrongCall(FuncId function, ir::ExprId expr) const;
  bool FailsWhenRun(FuncId function) const;
  bool FailsInBlock(FuncId function, ir::BlockId block) const;
  bool FailsOnSomeRanks(FuncId function, const ir::Stmt& stmt) const;
  bool FailsInside(FuncId function, ir::ExprId expr) const;
  bool IsUnboundName(ir::ModuleId module, ir::ExprId expr) const;
  bool RefusesArgument(FuncId function, ir::ExprId call) const;
  bool ReadsMemberOfDictionary(ir::ModuleId module, ir::ExprId expr) const;
  bool IsFieldThatMayBeReplaced(ir::ModuleId module, ir::ExprId expr) const;
  bool SetsFieldsByName(ir::ModuleId module) const;
  FuncId PlainFunctionOf(FuncId function, ir::ExprId call) const;
  bool Names(ir::ModuleId module, ir::ExprId callee, FuncId function) const;
  bool IsOnlyOtherNameOf(ir::ModuleId module, base::NameId other, base::NameId name) const;
  FuncId ConstructorOf(ir::ModuleId module, ir::ExprId call) const;
  static bool MisfitsParams(const ir::Module& module, const ir::Expr& call, std::span<const ir::Param> params);
  bool AddsOptionAgain(FuncId function, ir::StmtId stmt) const;
  std::pair<base::NameId, std::vector<base::NameId>> OptionsOf(const ir::Module& module, ir::StmtId stmt) const;
  bool IsStrictParser(ir::ModuleId module, ir::StmtId stmt) const;
  bool IsTakenFrom(ir::ModuleId module, ir::ModuleId from) const;
  bool IsTakenThrough(ir::ModuleId module, FuncId function) const;
  bool HandsOn(ir::ModuleId file, FuncId function) const;
  bool ImportFails(ir::ModuleId module, ir::ImportId import) const;
  bool UnpacksOtherNumber(ir::ModuleId module, const ir::Stmt& loop) const;
  bool UnpacksOtherResult(FuncId function, const ir::Stmt& stmt) const;
  bool SetsVariableToNumber(ir::ModuleId module, const ir::Stmt& stmt) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const MissingOptions options_;
  const MissingImports imports_;
  mutable std::unordered_map<uint32_t, bool> functions_;  // by FuncId: whether it fails whenever it is run
  mutable std::unordered_map<uint64_t, bool> statements_;  // by function and StmtId
  mutable std::unordered_map<uint64_t, Looked> blocks_;    // by function and BlockId
  mutable std::unordered_map<uint32_t, Looked> tops_;      // by ModuleId: the top level of a file
  mutable std::unordered_map<uint32_t, bool> sets_fields_;  // by ModuleId
};

}  // namespace allranks::objects
