// What comes of going over a share of the data: each rank walks its own part of a set, and what it counts there is shown, or
// decides something, before ranks have put their results together. Of evaluations, and of loops that train.
//
// A loop is such an evaluation if what it walks over is dealt out by rank, by a distributed sampler, a framework that
// prepared the loader, or a slice by the rank, if several ranks run it, and if it does not train: it makes no gradients, and
// no model was put into training mode before. Where no sampler speaks for an evaluation, it has to be shown that gradients
// are switched off there or in the functions around it, or that a model was put into evaluation mode.
//
// What becomes of the result behind the loop counts, and what each round shows of it where nothing does. The result is followed through variables, returns and callers, up to the first operation that puts values of several
// ranks together and may be given some of it, or a file of the rank that is read in the same function; behind that only what is made of variables
// of which no such operation is given anything (`meters.synchronize()`, and `auc = roc_auc_score(labels, found)` beside it). An operation on
// other values (`lr = broadcast(lr)`, an evaluation that reduces its own) ends nothing. Pictures and sounds
// that are logged are samples, not results. A value counts only if it differs with the data of a rank: lengths and
// numbers of rounds do not, and what is computed of the clock is a duration or a speed.
//
// An object that is given the result (`meter.update(loss)`) holds it for the rest of the function, and for callers to which
// what is read of it is returned.
//
// Not sound: results that are kept in fields and read by other methods are not followed.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/displays.h"
#include "analyzer/objects/evaluation_loops.h"
#include "analyzer/objects/flow_from.h"
#include "analyzer/objects/job_runs.h"
#include "analyzer/objects/loading.h"
#include "analyzer/objects/share_choices.h"
#include "analyzer/objects/training.h"

namespace allranks::objects {

// A loop over the share of a rank.
struct ShareLoop {
  Site iterable;
  ir::StmtId loop;
  ValueId loader;            // none: a slice by the rank
  bool is_prepared = false;  // by a framework
  bool may_be_whole = false; // another loader may stand there, which is the same for all ranks
  bool trains = false;       // no evaluation
  ValueId handed;            // the parameter for which callers pass several loaders; none: what it goes over is known where it stands
};

struct ShareUse {
  enum class Kind : uint8_t { Shown, Chosen, Stepped, Combined, Averaged };
  Kind kind{};
  Site place;            // the display, what decides about a file, `scheduler.step(loss)`, the call that puts shares together, or the score
                         // of a share that such a call is given
  ir::ExprId value;      // of it: what differs
  size_t loop = 0;       // in `loops`
  bool is_total = false; // Shown: rounds of the loop added to it
  bool is_running = false;  // Shown: in each round, and nothing is shown behind the loop
  bool is_cut = false;   // Combined: items are taken out of the result, or filed under what tells them apart
  bool is_cut_above = false;  // the same of Combined, in a function to which the result is returned
};

class ShareResults {
 public:
  ShareResults(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
               const ProgramIndex& index, const Loading& loading, const Training& training, const Launch& launch);

  // Evaluations first.
  const std::vector<ShareLoop>& loops() const { return loops_; }
  const std::vector<ShareUse>& uses() const { return uses_; }
  // Calls of a function that put values of several ranks together, or may.
  std::span<const ir::ExprId> CombinationsIn(FuncId function) const { return places_[function.index]; }
  // Whether an expression of a function is made of what was put together there: by a call of such a function, or of a library.
  bool IsOfAll(FuncId function, ir::ExprId expr) const;
  // Whether some way to a place begins elsewhere than in a function of a file that nothing here calls or hands over, in a program of
  // which some file is there to be started.
  bool IsCalled(const Site& site) const;

 private:
  using Places = std::vector<std::vector<ir::ExprId>>;  // by FuncId

  void FindCombiners();
  Places WithCallers(const std::vector<Site>& sites, const std::vector<std::vector<Site>>& applied) const;
  std::vector<base::NameId> MethodsAllOf(const Places& places) const;
  bool Calls(FuncId function, base::NameId method) const;
  std::vector<Site> CallsOfSome(std::span<const base::NameId> methods) const;
  bool Gathers(const KnownCall& call) const;
  bool IsCalledByNobody(FuncId function) const;
  std::vector<Site> WritesForOthers() const;
  std::vector<uint32_t> LastOf(const std::function<bool(const KnownCall&)>& is_it, const std::function<bool(const Site&)>& counts,
                               const std::vector<uint32_t>& before, std::vector<Site>* all = nullptr) const;
  bool NamesRank(const Site& call) const;
  bool IsSliceOfRank(ValueId value, int depth) const;
  bool IsOverWorkers(FuncId function, ir::StmtId loop) const;
  bool IsOperation(ValueId value, std::string_view operation) const;
  void AddEvaluation(const EvaluationLoops& evaluations, const EvaluationLoop& evaluation);
  void AddTraining(const EvaluationLoop& training);
  void AddLoop(ShareLoop loop, ValueId iterable, const EvaluationLoop& found);
  bool MayBeWhole(std::span<const ValueId> loaders, ValueId dealt) const;
  FuncId AppliedIn(FuncId function, ir::ExprId call) const;
  // How the result of a loop got to a function.
  struct Way {
    int depth = 0;          // so many callers up
    bool is_filed = false;     // under something that tells samples apart
    bool is_total = false;     // of the rounds of the loop
    bool is_of_given = false;  // read of an object to which the share was given
    std::vector<bool> items = {};  // which ones of what a call returns; none: all of it
    ValueId handed = {};           // as of the loop, in its own function
  };
  void Follow(size_t loop, const Site& from, uint32_t begin, uint32_t end, Way way);
  FlowFrom FlowOf(const Site& from, uint32_t begin, const Way& way, const std::vector<bool>& items,
                  const std::set<base::NameId>& left_out) const;
  static base::NameId NameBehind(const ir::Module& module, ir::ExprId expr);
  std::optional<std::set<base::NameId>> HandedOver(const Site& from, const FlowFrom& flow, uint32_t begin) const;
  bool IsPutTogether(const Site& from, const FlowFrom& flow, uint32_t begin) const;
  void AddUses(size_t loop, const Site& from, const FlowFrom& flow, uint32_t begin, uint32_t end, const Way& way);
  void AddAveraged(size_t loop, const Site& from, const FlowFrom& flow, uint32_t begin, uint32_t first);
  void AddCombined(size_t loop, const Site& from, const FlowFrom& flow, uint32_t begin, Way way);
  bool CutsItems(const Site& call) const;
  bool AsksForRepeats(const Site& call, FuncId helper) const;
  bool DropsRepeats(const Site& call, const FlowFrom& flow) const;
  bool IsCutAbove(FuncId function, const FlowFrom& flow, int depth) const;
  void AddShown(size_t loop, const Site& from, const FlowFrom& flow, uint32_t begin, uint32_t end, Way way);
  void AddRunning(size_t loop, const Site& from, const FlowFrom& flow, const Way& way);
  bool IsInOtherArm(const ShareLoop& loop, const Site& place) const;
  void AddChosen(size_t loop, const Site& from, const FlowFrom& flow, uint32_t begin, uint32_t end, Way way);
  void AddStepped(size_t loop, const Site& from, const FlowFrom& flow, uint32_t begin, uint32_t end, Way way);
  bool FollowReturns(size_t loop, FuncId function, const FlowFrom& flow, uint32_t end, Way way);
  bool ReturnsIn(FuncId function, const FlowFrom& flow, uint32_t end, Way* what = nullptr) const;
  static void AddItems(const ir::Expr& returned, const ir::Module& module, const FlowFrom& flow, bool is_first, std::vector<bool>& items);
  uint32_t FirstCombination(const Site& from, const FlowFrom& flow, uint32_t begin) const;
  bool MayTakeIn(const Site& call, const FlowFrom& flow) const;
  bool IsHandled(const ir::Module& module, ir::ExprId expr, const FlowFrom& flow) const;
  bool ReadsVariables(FuncId helper, FuncId outer, const FlowFrom& flow) const;
  bool IsShareOfRank(ValueId value) const;
  bool IsKnownAlike(FuncId function, ir::ExprId expr) const;
  static bool IsCut(const ir::Module& module, ir::ExprId subscript);
  bool Differs(FuncId function, ir::ExprId expr) const;
  bool DiffersBy(FuncId function, ir::ExprId expr, const FlowFrom& flow, Way way) const;
  bool IsMadeOf(FuncId function, ir::ExprId expr, ValueId handed) const;
  bool IsOfClock(FuncId function, ir::ExprId expr) const;
  bool IsOfClockOrPlain(ValueId part) const;
  std::vector<ValueId> PartsOf(ValueId value) const;
  bool DiffersWithShare(ValueId value) const;
  bool IsSize(FuncId function, ir::ExprId expr) const;
  bool IsSize(ValueId value) const;
  bool IsSharedStore(ValueId value) const;
  bool IsPath(ValueId value) const;
  bool IsMadeOfParts(const ir::Module& module, ir::ExprId expr) const;
  bool ShowsResult(FuncId function, ir::ExprId expr, const FlowFrom& flow, Way way) const;
  bool IsCutBehind(FuncId function, const FlowFrom& flow, uint32_t begin) const;
  bool SpeaksOfRanks(FuncId function, const Display& display, int depth = 0) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Loading& loading_;
  const Training& training_;
  Values values_;
  Displays displays_;
  JobRuns runs_;
  ShareChoices choices_;
  Places places_;  // calls that put values of several ranks together, or that may
  std::set<std::pair<uint32_t, uint32_t>> exchanges_;  // by FuncId and ExprId: calls of libraries that gather or reduce
  Places gathers_;  // of them those that gather or reduce values over ranks that have shares of the data
  binding::Neighbourhood neighbourhood_;
  std::set<ir::ModuleId> started_;  // files that call a function where they are run
  std::vector<ShareLoop> loops_;
  std::vector<ShareUse> uses_;
};

// Found out when the first rule asks for it.
class SharesOnDemand {
 public:
  SharesOnDemand(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                 const ProgramIndex& index, const Loading& loading, const Training& training, const Launch& launch)
      : program_(program), knowledge_(knowledge), facts_(facts), index_(index), loading_(loading), training_(training), launch_(launch) {}

  const ShareResults& Get() const;

 private:
  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Loading& loading_;
  const Training& training_;
  const Launch& launch_;
  mutable std::mutex mutex_;
  mutable std::optional<ShareResults> results_;
};

}  // namespace allranks::objects
