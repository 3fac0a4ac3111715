// Statements of Python that fail whenever they run, so that no run gets to what stands behind them.
//
// These are: a read of a name that nothing binds, neither the function, nor those around it, nor the file, nor Python, or that is bound only later
// (late_names.h); an import that finds nothing (missing_imports.h); an environment variable that is set to a number or None; a loop over
// `enumerate(...)` that takes more than two parts of what it gets, and an assignment that takes another number of values than the function or method
// of the project returns anywhere; a call that lacks an argument, has one too many or one twice, of a function, a method or a class of the project, by
// its name, behind its file (`helpers.save`), behind its object or by the only other name that its file gives a class, or as a function that processes
// are started with, or of a function of a library of which the knowledge base has all that it takes; an option that a parser of argparse has already, or a read of one that none has (missing_options.h);
// an attribute of a dictionary that no dictionary has, a field or method that nothing gives an object of the project (missing_fields.h), and one of the
// model inside a DDP wrapper that is asked of the wrapper (wrapped_members.h); `init_process_group` in a process that has its group, or with the
// address of a store that does not say what it is; a loader that gets a sampler and `shuffle=True`; and a call of a function, or an import of a file, in which one of these stands where each run
// comes by, or a loop that trains, of which each round does. So is an `if rank == 0:` in one arm of which each run does, a sampler that is told
// of one rank and given that of the job, and a member of a model that is wrapped in some runs only, as those of several ranks are: of a job of
// several, some ranks fail there, and with them the job.
//
// A statement counts only for what is evaluated whenever it runs, and a name as bound if anything in its scope binds it, be it in an arm
// that is not taken. Nothing is said of files that make names as they run (`exec`, `globals()`, `from x import *` of what was not read),
// of notebooks, whose cells run in any order, and of files with errors of syntax.
//
// Not sound where names are put into a module from outside (`builtins.log = print`, `settings.rank = 0` of a module), where a function is handed
// over and run by others than its callers here, or where the import is of another file than was found: what stands behind is possible, not
// wrong.
#pragma once

#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/objects/late_names.h"
#include "analyzer/objects/missing_fields.h"
#include "analyzer/objects/missing_imports.h"
#include "analyzer/objects/missing_options.h"
#include "analyzer/objects/program_index.h"
#include "analyzer/objects/training.h"
#include "analyzer/objects/wrapped_members.h"

namespace allranks::objects {

enum class FailureKind : uint8_t {
  None,
  UnboundName,         // nothing binds it
  LateName,            // it is bound later
  MissingImport,
  NumberInEnvironment,
  UnpackedPairs,       // another number of parts is taken of what `enumerate` yields
  UnpackedResult,      // the same of what a function returns
  WrongArguments,      // a function or class of the project does not take them
  RefusedArgument,     // a library does not
  OptionAgain,         // a parser has it already
  MissingOption,       // no parser takes it
  MemberOfDictionary,
  MissingField,        // of an object of the project
  SecondGroup,         // the process group is there already
  MemberOfWrapped,     // of the model inside a DDP wrapper
  NoScheme,            // an address without `tcp://` or the like
  SamplerAndShuffle,   // a loader that is given a sampler is told to shuffle as well
  // Not in the statement itself, or not however the program is started.
  InCalled,            // a function that it calls fails whenever it runs
  InImported,          // a file that it imports does
  InRounds,            // of a loop that trains
  OnSomeRanks,         // one arm of a test of the rank does, or it is so where there are several
  ImportFromElsewhere, // what is imported is there, and not found as scripts are started by their path
};

// How arguments do not fit the parameters of what is called.
struct Misfit {
  enum class Kind : uint8_t { None, Lacks, Unknown, Twice, TooMany };
  Kind kind = Kind::None;
  base::NameId name = {};  // of the parameter; none of too many

  explicit operator bool() const { return kind != Kind::None; }
};

struct Failure {
  FailureKind kind = FailureKind::None;
  ir::ExprId expr = {};      // what fails; none of an import, and of what the statement does as a whole
  ir::ImportId import = {};
  FuncId called = {};        // of a call, or what returns another number of values
  Misfit misfit = {};        // of WrongArguments and RefusedArgument

  explicit operator bool() const { return kind != FailureKind::None; }
  // It is the cause, and not only a way to it.
  bool IsCause() const { return kind != FailureKind::None && kind < FailureKind::InCalled; }
};

class SureFailures {
 public:
  SureFailures(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const ProgramIndex& index,
               const Training& training, const OtherFiles& others)
      : program_(program), knowledge_(knowledge), facts_(facts), index_(index), training_(training), options_(program, knowledge, facts, index),
        imports_(program, knowledge, index, others), fields_(program, facts, index), late_(program, index), wrapped_(program, knowledge, facts),
        values_(program, knowledge, facts) {}

  // Whether each run that would get to a position of a module has failed before, or fails at a call on the way, or at that place, since what is
  // called is given something else than it takes.
  // `is_aside`: a function that is not of the runs in question, as one process alone runs it; it is no way to what it calls then.
  bool AreBefore(ir::ModuleId module, uint32_t position, const std::function<bool(FuncId)>& is_aside = nullptr) const;
  // The same of a run that got into the function: at a statement above in the blocks around this one, or where the file is read.
  bool AreBefore(FuncId function, ir::StmtId stmt) const { return AreBefore(function, stmt, true); }
  // What fails in a statement whenever it runs.
  Failure At(FuncId function, ir::StmtId stmt) const;
  // Whether an import at the top of a file fails, so that nothing else of the file is run.
  bool FailsAtImports(ir::ModuleId module) const;
  // Whether a function that a script comes to adds an option to a parser that has it, so that none is ever read.
  bool AddsOptionsTwice(ir::ModuleId script) const;
  // Whether runs get to a statement at all, so that what fails there is what ends them.
  bool IsFirst(FuncId function, ir::StmtId stmt) const;

 private:
  // How far the statements of a block were looked at from its beginning, up to the first one that fails or leaves the block.
  struct Looked {
    uint32_t count = 0;
    bool fails = false;   // the one behind these
    bool leaves = false;  // the last of these
  };

  bool AreBefore(FuncId function, ir::StmtId stmt, bool of_loop_itself) const;
  bool Fails(FuncId function, ir::StmtId stmt) const { return static_cast<bool>(At(function, stmt)); }
  bool FailBefore(FuncId function, ir::BlockId block, ir::StmtId stmt) const;
  Failure FailureOf(FuncId function, ir::StmtId stmt) const;
  Failure FailureAsAWhole(FuncId function, ir::StmtId stmt) const;
  bool FailsAbove(FuncId function) const;
  bool IsCalledWrongly(FuncId function) const;
  bool CallsWrongly(FuncId function, ir::StmtId stmt) const;
  bool HoldsWrongCall(FuncId function, ir::ExprId expr) const;
  Failure WrongCall(FuncId function, ir::ExprId expr) const;
  Failure WrongStart(FuncId function, ir::ExprId expr) const;
  bool FailsWhenRun(FuncId function) const;
  bool FailsInBlock(FuncId function, ir::BlockId block) const;
  bool FailsOnSomeRanks(FuncId function, const ir::Stmt& stmt) const;
  Failure FailureInside(FuncId function, ir::StmtId stmt, ir::ExprId expr) const;
  Failure FailureOfName(FuncId function, ir::StmtId stmt, ir::ExprId expr) const;
  Failure FailureOfCall(FuncId function, ir::ExprId expr) const;
  bool IsUnboundName(ir::ModuleId module, ir::ExprId expr) const;
  bool MayBeReplaced(std::string_view known, ir::ModuleId used_in) const;
  base::NameId RefusedArgument(FuncId function, ir::ExprId call) const;
  bool IsOfSeveral(variation::ValueId test) const;
  bool FailsInRounds(FuncId function, ir::StmtId stmt) const;
  Failure FailureOfKnown(FuncId function, ir::ExprId call) const;
  bool IsSamplerOfOneRank(ir::ModuleId module, ir::ExprId call) const;
  bool LacksScheme(const variation::CallFact& call) const;
  bool ShufflesBesideSampler(const variation::CallFact& call) const;
  variation::ValueId ArgumentOf(const variation::CallFact& call, std::string_view param) const;
  FailureKind MemberOfWrapped(ir::ModuleId module, ir::ExprId expr) const;
  std::vector<variation::ValueId> LeavesOfOneWay(variation::ValueId value) const;
  bool ReadsMemberOfDictionary(ir::ModuleId module, ir::ExprId expr) const;
  bool IsFieldThatMayBeReplaced(ir::ModuleId module, ir::ExprId expr) const;
  FuncId PlainFunctionOf(FuncId function, ir::ExprId call) const;
  FuncId MethodOf(FuncId function, ir::ExprId call) const;
  bool IsOfSeveralClasses(base::NameId method) const;
  bool MakesGroupAgain(FuncId function, ir::StmtId stmt) const;
  bool MakesGroup(FuncId function, ir::StmtId stmt) const;
  bool MakesGroup(FuncId function, ir::ExprId expr) const;
  bool MakesGroupWhenRun(FuncId function) const;
  bool MayEndGroup(FuncId function) const;
  bool MayEndGroup(FuncId function, uint32_t begin, uint32_t end) const;
  bool Names(ir::ModuleId module, ir::ExprId callee, FuncId function) const;
  bool IsOnlyOtherNameOf(ir::ModuleId module, base::NameId other, base::NameId name) const;
  FuncId ConstructorOf(ir::ModuleId module, ir::ExprId call) const;
  static Misfit MisfitOf(const ir::Module& module, const ir::Expr& call, std::span<const ir::Param> params);
  static Misfit MisfitOf(uint32_t positional, std::vector<base::NameId> keywords, std::span<const ir::Param> params);
  bool AddsOptionAgain(FuncId function, ir::StmtId stmt) const;
  std::pair<base::NameId, std::vector<base::NameId>> OptionsOf(const ir::Module& module, ir::StmtId stmt) const;
  bool IsStrictParser(ir::ModuleId module, ir::StmtId stmt) const;
  bool IsTakenFrom(ir::ModuleId module, ir::ModuleId from) const;
  bool IsTakenThrough(ir::ModuleId module, FuncId function) const;
  bool HandsOn(ir::ModuleId file, FuncId function) const;
  Failure FailureOfImport(ir::ModuleId module, ir::ImportId import) const;
  bool UnpacksOtherNumber(ir::ModuleId module, const ir::Stmt& loop) const;
  FuncId ReturnsOtherNumber(FuncId function, const ir::Stmt& stmt) const;
  bool SetsVariableToNumber(ir::ModuleId module, const ir::Stmt& stmt) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Training& training_;
  const MissingOptions options_;
  const MissingImports imports_;
  const MissingFields fields_;
  const LateNames late_;
  const WrappedMembers wrapped_;
  const Values values_;
  mutable std::unordered_map<uint32_t, bool> functions_;  // by FuncId: whether it fails whenever it is run
  mutable std::unordered_map<uint64_t, Failure> statements_;  // by function and StmtId
  mutable std::unordered_map<uint64_t, Looked> blocks_;    // by function and BlockId
  mutable std::unordered_map<uint32_t, Looked> tops_;      // by ModuleId: the top level of a file
  mutable std::unordered_map<uint32_t, bool> makes_group_;   // by FuncId
  mutable std::unordered_map<base::NameId, uint32_t> method_names_;  // how many classes have a method of that name; empty: not counted yet
};

}  // namespace allranks::objects
