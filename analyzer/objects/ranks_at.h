// Which ranks of a job get to a place, whatever stands there: by the tests on the way to it (guards.h), what they come out as on each rank
// (rank_tests.h), and the same of those that call its function. Rules, messages, hovers and hints ask here and nowhere else.
//
// What ranks issue is compared by traces, which hold what leads to an operation and nothing else: a `print`, a write or a `set_device` stands
// in no trace. So this walks calls and tests of the program; conditions are decided as for traces, by one evaluator on the same small worlds.
#pragma once

#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/base/memo.h"
#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/guards.h"
#include "analyzer/objects/job_places.h"
#include "analyzer/objects/launch.h"
#include "analyzer/objects/program_index.h"
#include "analyzer/objects/rank_tests.h"

namespace allranks::objects {

class RanksAt {
 public:
  // `launch`: callers that one process or a test runs then say nothing about ranks; nor do those in `places` that are apart from the job.
  RanksAt(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const ProgramIndex& index,
          const Guards& guards, const Launch* launch = nullptr, const JobPlaces* places = nullptr);

  // The ranks of a world that may get to a place; those that a test keeps away are left out, callers included.
  traces::RankSet At(const Site& site, const traces::World& world) const;
  // The same for a way through the program: each site calls the function of the next one.
  traces::RankSet OnWay(std::span<const Site> way, const traces::World& world) const;
  // The ranks that may call a function; all of them where nothing is seen to call it.
  traces::RankSet ThatCall(FuncId function, const traces::World& world) const;

 private:
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
  traces::RankSet At(const Site& site, Known& known) const;
  traces::RankSet Within(const Site& site, Known& known) const;
  traces::RankSet Passing(const Guard& guard, Known& known) const;
  traces::RankSet OfCallers(FuncId function, Known& known, Walk& walk) const;
  std::vector<Comer> ComersTo(FuncId function, Known& known) const;
  bool IsOutsideJob(const Site& caller) const;
  void NoteNamedCalls();
  std::vector<Site> NamedCallsOf(FuncId function) const;
  bool IsLeftToOne(const Site& site) const;
  traces::RankSet OfMakers(FuncId function, Known& known, Walk& walk) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Guards& guards_;
  const Launch* launch_;
  const JobPlaces* places_;
  RankTests tests_;
  const binding::Neighbourhood neighbourhood_;
  std::unordered_map<base::NameId, std::vector<Site>> named_calls_;  // by the name of a method: calls of it of unknown objects
  mutable Known known_;  // of the world that nearly all questions are about
};

}  // namespace allranks::objects
