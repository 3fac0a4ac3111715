// From the IR and the facts of a function to its trace, over its parameters.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/traces/analysis.h"
#include "analyzer/traces/demands.h"
#include "analyzer/traces/loop_ends.h"
#include "analyzer/traces/mesh_layouts.h"
#include "analyzer/traces/module_mode.h"
#include "analyzer/traces/only_methods.h"
#include "analyzer/traces/trace.h"
#include "analyzer/variation/watched.h"

namespace allranks::traces {

// A place of the program that issues an operation, or may: for the ledger.
struct OperationSite {
  SiteId site;
  knowledge::EntryId entry;   // none: an unresolved call
  std::string unresolved;     // what it is called
};

// What all parts of the analysis share.
struct State {
  State(const binding::Program& program, const knowledge::Knowledge& knowledge, variation::Facts& facts,
        const source::SourceFiles& files);

  const binding::Program& program;
  const knowledge::Knowledge& knowledge;
  variation::Facts& facts;
  const source::SourceFiles& files;
  variation::ValueStore& values;
  TraceStore traces;
  std::vector<TraceId> trace_of;   // by FuncId; none: not built, or not relevant
  std::vector<bool> is_relevant;
  std::vector<uint32_t> cycle;     // by FuncId, as CallGraph says it
  std::vector<bool> is_called;     // by FuncId: the project itself calls it
  std::vector<bool> is_used;       // by FuncId: its trace stands in that of another one, or of itself
  std::vector<TraceId> own_depth;  // recursive calls behind something that each rank decides by itself, as far as they were met
  // By FuncId: how many calls within its cycle its trace holds in one another. Functions of public repositories hold two.
  static constexpr uint32_t kDeepestInCycle = 16;
  std::vector<uint32_t> depth_in_cycle;
  FuncId at_work;                  // the function that is built or checked
  std::unordered_set<uint32_t> sets_up_own_job;  // FuncIds: somewhere in them, a job of other processes is set up
  std::unordered_set<uint32_t> open_conditions;  // SiteIds: what tells ranks of a function apart; judged with its callers
  std::unordered_set<uint32_t> open_operations;  // those of them that are operations: the roots or the members differ
  MadeOnce made_once;
  ModuleModes modes;
  LoopEnds loop_ends;
  JobSizes job_sizes;
  MeshLayouts meshes;
  OnlyMethods only_methods;
  GuessedClasses guessed_classes;
  std::vector<OperationSite> sites;
  std::vector<LimitHit> limits;
  base::Watch* watch = nullptr;    // over the analysis; none: it goes on to its end
  std::vector<variation::CutFunction> cut;   // what it made us give up, the first function of each file
  void Step() const {
    if (watch != nullptr) watch->Step();
  }
  // Nodes the store may hold while the function at hand is built or checked.
  static constexpr size_t kMostTracesOfFunction = 20'000;
  size_t most_traces = std::numeric_limits<size_t>::max();
  // Nodes made for the functions of a file, most of them copies of what they call; calls that come after this many are not
  // followed. Files of public repositories take 26,000 at most: where each of n functions calls two others, copies are n times n.
  static constexpr size_t kMostTracesOfFile = 300'000;
  static constexpr size_t kMostTracesOfFileByFunction = 100;
  std::vector<size_t> traces_of_file;    // by ModuleId
  bool is_near_bound_of_file = false;    // which leaves less to the function at hand than others may have
  void BeginTraces(FuncId func);
  // Why calls of the function at hand were not followed; empty: all were.
  std::string not_followed;
  // Steps spent on projecting the function at hand, and those of its file; what is compared after either bound counts as
  // unknown. Of the public repositories in docs/performance.md only tests that call a whole library come to it.
  static constexpr uint64_t kMostSteps = 100'000;
  static constexpr uint64_t kMostStepsOfFile = 600'000;
  mutable uint64_t projection_steps = 0;
  uint64_t most_steps = kMostSteps;
  std::vector<uint64_t> steps_of_file;   // by ModuleId
  void BeginSteps(uint32_t module) {
    projection_steps = 0;
    most_steps = std::min(kMostSteps, kMostStepsOfFile - std::min(kMostStepsOfFile, steps_of_file[module]));
  }
  // By the trace of a body and the function that it is of: whether it calls that function again.
  mutable std::unordered_map<uint64_t, bool> calls_itself;
  bool exhausted() const { return projection_steps > most_steps; }
  // Traces of others that the function at hand was built of; none: not noted. One that is not relevant counts as empty.
  std::vector<std::pair<FuncId, TraceId>>* uses = nullptr;
  bool asks_for_others = false;    // what the function at hand is found to do depends on operations of functions that it does not call
  bool follows_recursion = false;  // somebody looks for recursive calls in what is instantiated
  std::unordered_set<uint32_t> cut_recursion;   // TraceIds of recursive calls that a bound kept from being followed
  mutable bool meets_cut_recursion = false;     // a rank gets to one of them in the function at hand, whatever is not known
  uint32_t resolving = 0;          // calls that wait for one another to resolve: a callback may be handed to itself
  std::unordered_set<base::NameId> collective_names;  // last parts of names that always mean an operation
};

// The trace of `func` over its parameters; callees that are built already are bound in, others are Rec.
TraceId BuildTrace(State& state, FuncId func);

// What parameters stand for: those of a function and those of the functions around it, from the inside out.
struct Around {
  FuncId func;
  std::vector<ValueId> args;
};
struct Binding {
  FuncId func;
  std::vector<ValueId> args;
  std::vector<Around> around;
};

// `trace` with parameters replaced; calls that were waiting for them resolve. `origins`, if given, gets for every node
// of the result one node of `trace` that it came from.
using Origins = std::unordered_map<uint32_t, TraceId>;
TraceId Instantiate(State& state, TraceId trace, const Binding& binding, Origins* origins = nullptr);

// A call of a value: a function, a bound method, a library function, a choice of these.
TraceId ResolveCall(State& state, SiteId site, ValueId callee, std::vector<ValueId> args);

// The trace of a function that is called: none while it is not built, empty if nothing in it matters.
TraceId TraceOf(const State& state, FuncId func);

// What is made of the function at hand depends on this one.
void NoteUse(State& state, FuncId func);

// Notes recursive calls in a trace of the function at hand that ranks get to as each of them decides: State::own_depth.
void NoteOwnDepth(State& state, TraceId root);

// A value as it is seen from outside of a function: with what all callers pass for its parameters, and for those of functions around it.
ValueId WithPassed(const binding::Program& program, variation::Facts& facts, FuncId func, ValueId value);

// State::is_called.
std::vector<bool> CalledIn(const variation::Facts& facts);

// A call of `func`, whose value may be `callee` (with a receiver and captured variables): its trace in a scope.
TraceId CallTrace(State& state, SiteId site, FuncId func, ValueId callee, std::span<const ValueId> args);

// The arguments of a call of a function value, by parameter, from positional ones.
std::vector<ValueId> BindPositional(State& state, FuncId func, ValueId receiver, std::span<const ValueId> args);

// A trace of a generator-written context manager, cut at its `yield`.
struct SplitTrace {
  TraceId before;
  TraceId after;
};
SplitTrace SplitAtYield(TraceStore& traces, TraceId trace);

// What a loop over a generator that issues something comes to, `body` being what a round does: both in turns. None where the generator
// issues nothing, or where that is not known.
TraceId TakingTurns(TraceStore& traces, TraceId generator, TraceId body, ValueId one_round);

// What is passed for a parameter of an entry, `args` being in order of these; none if nothing is.
ValueId ParamOf(const knowledge::Entry& entry, std::span<const ValueId> args, base::NameId name);

// The operation of a known call, with its group; `args` in order of the entry's parameters. Of a batch the messages in it.
TraceId KnownOperation(State& state, SiteId site, knowledge::EntryId entry, ValueId receiver,
                       std::span<const ValueId> args, Batched batched = Batched::Alone);

// Whether a call that does not resolve may be an operation: it bears the name of one, or is given a group.
bool CouldIssue(const State& state, SiteId site, std::span<const ValueId> args);

// A predicate over coordinates that holds no parameters, as a value.
ValueId ValueOfFormula(State& state, knowledge::FormulaId formula);

}  // namespace allranks::traces
