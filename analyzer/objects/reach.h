// Who executes a place: the conditions on the way to it, in its function and in those that call it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/base/memo.h"
#include "analyzer/objects/job_places.h"
#include "analyzer/objects/launch.h"
#include "analyzer/objects/program_index.h"
#include "analyzer/objects/rank_words.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

// A test that must come out so for a place to be reached.
struct Guard {
  FuncId function;
  ir::ExprId test;
  bool holds = true;
};

class Reach {
 public:
  // `launch`: callers that one process or a test runs then say nothing about ranks.
  Reach(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
        const ProgramIndex& index, const Launch* launch = nullptr);

  // The tests of its own function on the way to a place: branches around it, earlier ones that leave the function or
  // the loop, the operands of `and`, `or` and conditional expressions before it.
  std::vector<Guard> Guards(const Site& site) const;
  // Those around and before a statement.
  std::vector<Guard> Guards(FuncId function, ir::StmtId stmt) const;
  // The tests of the `assert` statements that stand before a statement, in its block and the blocks around it.
  std::vector<Guard> Assertions(FuncId function, ir::StmtId stmt) const;

  // The ranks of a world that may get to a place; those that a rank condition keeps away are left out, callers included.
  // A test that speaks of ranks and cannot be decided is taken to let the first one through.
  traces::RankSet Ranks(const Site& site, const traces::World& world) const;

  // The same for a way through the program: each site calls the function of the next one.
  traces::RankSet RanksOnWay(std::span<const Site> way, const traces::World& world) const;

  // The ranks that may call a function; all of them where nothing is seen to call it.
  traces::RankSet RanksThatCall(FuncId function, const traces::World& world) const;

  // Whether a place is part of another mode of the program than the one that makes the job.
  bool IsApartFromJob(std::span<const Site> way) const { return places_ && places_->IsApart(way); }

  // Whether the function, or one that calls it, runs in a loop: more than once in a job, as far as can be seen.
  bool IsRepeated(const Site& site) const;

 private:
  // A branch that some leave the function or the loop in.
  struct NestedExit {
    Guard outer, stays;
  };
  std::vector<NestedExit> NestedExits(const Site& site) const;
  std::vector<Guard> LoopEntries(const Site& site) const;
  traces::RankSet RanksThatMayEnter(const Guard& entry, const traces::World& world) const;
  // Somebody that calls a function, and the ranks that get to its calls.
  struct Comer {
    FuncId function;
    traces::RankSet ranks;
  };
  // What was worked out of a world.
  struct Known {
    explicit Known(traces::World of) : world(std::move(of)) {}
    const traces::World world;
    base::Memo<traces::RankSet> passing;           // by test, and how it comes out
    base::Memo<traces::RankSet> within;            // by site
    base::Memo<std::vector<Comer>> comers;         // by function
    base::Memo<traces::RankSet> callers, coming;   // by function
  };
  template <class Question>
  auto In(const traces::World& world, const Question& question) const;
  // One question, up through the callers: each function is looked at once, however many ways lead through it.
  struct Walk {
    std::vector<FuncId> on_way;
    std::map<uint32_t, traces::RankSet> callers_of;  // by FuncId
  };
  traces::RankSet Ranks(const Site& site, Known& known) const;
  traces::RankSet RanksWithin(const Site& site, Known& known) const;
  using Variable = std::pair<uint32_t, base::NameId>;  // by function and name
  traces::RankSet Passing(const Guard& guard, Known& known) const;
  traces::RankSet Passing(const Guard& guard, const traces::World& world, std::vector<Variable>& asked) const;
  traces::RankSet RanksOfCallers(FuncId function, Known& known, Walk& walk) const;
  std::vector<Comer> ComersTo(FuncId function, Known& known) const;
  bool IsOutsideJob(const Site& caller) const;
  bool IsLeftToOne(const Site& site) const;
  std::optional<bool> TruthInCalls(FuncId function, ValueId test) const;
  void NoteFunction(FuncId function);
  std::optional<traces::RankSet> RanksWhereSet(const Guard& guard, const traces::World& world, std::vector<Variable>& asked) const;
  std::optional<traces::RankSet> RanksThatSet(const Guard& guard, std::span<const ir::ExprId> stored, const traces::World& world,
                                              std::vector<Variable>& asked) const;
  traces::RankSet RanksOfMakers(FuncId function, Known& known, Walk& walk) const;
  bool IsRepeated(const Site& site, std::set<uint32_t>& seen) const;
  void AddExprGuards(const Site& site, std::vector<Guard>& guards) const;
  void AddStmtGuards(FuncId function, ir::StmtId stmt, std::vector<Guard>& guards) const;
  void AddEarlierExits(FuncId function, ir::StmtId stmt, std::vector<Guard>& guards) const;
  bool Leaves(const ir::Module& module, ir::BlockId block) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Launch* launch_;
  RankWords words_;
  Values values_;
  std::optional<JobPlaces> places_;
  // Where a variable of a function is set to something; not found: it is bound in other ways.
  std::map<Variable, std::vector<ir::ExprId>> set_;
  mutable Known known_;  // of the world that nearly all questions are about
};

}  // namespace allranks::objects
