// The comparison of all ranks in one function. The member functions are spread over check.cpp (order of work,
// reporting), pairs.cpp (two ranks of a world), own_decisions.cpp (what each rank decides by its own values, handlers)
// and operations.cpp (operations that are wrong by themselves).
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/traces/check.h"
#include "analyzer/traces/difference.h"
#include "analyzer/traces/point_to_point.h"
#include "analyzer/traces/nodes.h"

namespace allranks::traces {

// Which ranks are worth a look of their own: those of a class that was not looked at since something was settled.
class ClassPasses {
 public:
  explicit ClassPasses(const Scene& scene) : scene_(scene) {}
  bool Needs(uint32_t rank, size_t settled) {
    const auto [pass, is_first] = settled_at_.try_emplace(scene_.ClassOf(rank), settled);
    return is_first || std::exchange(pass->second, settled) != settled;
  }

 private:
  const Scene& scene_;
  std::map<uint32_t, size_t> settled_at_;   // by class: how much was settled when one of it was last looked at
};

// The first operation of a list; none: it has none.
TraceId OpOf(const SequenceStore& sequences, SeqId list);

class FunctionCheck {
 public:
  FunctionCheck(State& state, FuncId func, CheckResult* result)
      : state_(state), traces_(state.traces), func_(func), result_(result), found_before_(result->found.size()) {}
  void Run();

 private:
  // check.cpp
  Binding OwnBinding() const;
  void Compare();
  Assignment History() const;
  std::vector<ValueId> Params(FuncId func) const;
  void FindGroups(Scene& scene);
  void Prepare(Scene& scene);
  SeqId ProjectFor(Scene& scene, SequenceStore& sequences, uint32_t rank, View view);
  std::optional<TraceId> FirstOpIn(TraceId id) const;
  Detail DetailOf(TraceId first, TraceId second) const;
  uint16_t ExitsPast(TraceId node, TraceId op) const;
  TraceId LeavingArm(TraceId node, TraceId first_arm, TraceId second_arm, TraceId first, TraceId second,
                     bool* first_has_it) const;
  void MarkSettled(TraceId node);
  void Report(Scene& scene, SequenceStore& sequences, Evidence evidence, TraceId cause);
  bool LeaveOpen();
  TraceId OriginOf(TraceId node) const;
  bool HangsOnCallers(TraceId parametric) const;
  bool IsOfPresence(const Evidence& evidence) const;
  std::vector<SiteId> FlaggedSites(const SequenceStore& sequences, const Evidence& evidence) const;
  void AssumeGroup(Scene& scene, Evidence* evidence) const;
  void NoteLimits();
  bool SinglesOut(const Evidence& evidence) const;
  bool AsksOtherGroup(Scene& scene, const Evidence& evidence) const;
  bool IsGuess(Scene& scene, TraceId op) const;
  bool AsksThisGroupOnly(ValueId group) const;
  static bool IsForCallers(const Evidence& evidence);
  bool full() const;

  // pairs.cpp
  void CheckPairs();
  std::vector<ValueId> UnknownParts(const World& world);
  bool IsAssertion(TraceId node) const;
  std::vector<Assignment> Assignments(const World& world);
  std::optional<int64_t> TellingNumber(const World& world, ValueId part, const Assignment& others);
  // Lists that tries of settings share: those of one world, while they agree on its groups and on what is settled.
  struct SharedLists {
    SequenceStore store;
    std::vector<uint64_t> groups;
    size_t settled = 0;
  };
  SequenceStore& ListsFor(Scene& scene, SharedLists& shared) const;
  void CheckScene(Scene& scene, SharedLists& shared);
  bool CheckOnce(Scene& scene, SequenceStore& sequences);
  bool AdmitsAll(const World& world, TraceId node) const;
  TraceId Blame(Scene& scene, SequenceStore& sequences, uint32_t i, uint32_t j, View view,
                const Parting& parting);
  TraceId InnermostAround(Scene& scene, const SequenceStore& sequences, uint32_t i, uint32_t j, const Parting& parting);
  bool ShowsThrough(const Evidence& evidence) const;
  bool PartsRanks(Scene& scene, TraceId node, uint32_t i, uint32_t j) const;
  // What the rank issues that has an operation, and what the one does that lacks it.
  struct Lists {
    SeqId with, without;
  };
  std::optional<Evidence> Explain(Scene& scene, SequenceStore& sequences, uint32_t i, uint32_t j, const View& view,
                                  const Parting& parting);
  bool HasOtherHalf(const Evidence& evidence) const;
  bool MayMeetInLoop(const Scene& scene, const SequenceStore& sequences, const Lists& lists, const Evidence& evidence) const;
  bool IsInOpenLoop(const World& world, TraceId operation, TraceId node) const;
  bool IsMadeUpElsewhere(TraceId loop, TraceId operation) const;
  bool ComesThere(Scene& scene, uint32_t rank, TraceId operation) const;
  bool BothOpen(Scene& scene, const SequenceStore& sequences, uint32_t i, uint32_t j, const Parting& parting) const;
  bool ClassifyPair(Scene& scene, uint32_t i, uint32_t j, TraceId first, TraceId second, Evidence* evidence) const;
  void SetRanks(Scene& scene, SequenceStore& sequences, const Lists& lists, const View& view, const Parting& parting, Evidence* evidence);
  static std::unordered_set<uint32_t> Paired(const SequenceStore& sequences, const Lists& lists, TraceId operation);
  void SetTwin(Scene& scene, uint32_t lacking, const std::unordered_set<uint32_t>& paired, Evidence* evidence) const;
  bool AlikeOps(TraceId a, TraceId b) const;
  Detail HowTheyDiffer(const SequenceStore& sequences, const Parting& parting) const;

  // own_decisions.cpp
  void CheckOwn();
  // What is known of answers to conditions that are asked at more than one place.
  struct Answers {
    SettingUses uses;
    SharedLists lists;
    std::map<std::tuple<ValueId, uint32_t, uint32_t, size_t>, bool> made_up;   // by condition, rank, groups and how much is settled
  };
  bool IsAskedAgain(TraceId node) const;
  std::vector<ValueId> AskedAgain() const;
  ValueId WithoutNot(ValueId condition) const;
  void CheckPresence();
  void CheckOwnAlong(Scene& scene, knowledge::Axes axes, FuncId handlers_of, Answers& answers, bool by_presence = false);
  std::pair<bool, uint64_t> IssuedIf(const World& world, ValueId asked, int64_t answer, const View& view, Answers& answers);
  bool StandsBeside(TraceId op, TraceId node) const;
  bool IsMadeUpLater(Scene& scene, TraceId node, View view, Answers& answers);
  std::unordered_set<uint32_t> ReachedByPeers(Scene& scene, uint32_t rank, uint32_t groups);
  std::vector<OwnDecision> OwnDecisions(Scene& scene, SequenceStore& sequences, const View& view, knowledge::Axes axes,
                                        FuncId handlers_of);
  void ReportOwn(Scene& scene, SequenceStore& sequences, const OwnDecision& whole, const OwnDecision& decision,
                 const View& view);
  RankSet KeptOutOf(Scene& scene, TraceId node) const;
  bool IsReachedBy(Scene& scene, RankSet ranks, TraceId node);
  bool IsPartOfReported(TraceId culprit, TraceId node) const;
  void ClassifyOwn(TraceId node, TraceId first, TraceId second, Evidence* evidence) const;

  // operations.cpp
  void CheckMembers();
  bool IsGivenByCallers(const Outsider& outsider) const;
  bool IsInHandler(TraceId op) const;
  void CheckNewGroups();
  void CheckShapes();
  void CheckCounts();
  void ReportShape(Scene& scene, TraceId op, knowledge::Axes axes);
  void CheckOrders();
  void CheckTypes();

  // check_point_to_point.cpp
  // Over: reported, or not known. Outside: a partner is named that the job has not.
  enum class WorldRun : uint8_t { EndsOrOpen, Outside, Over };
  void CheckPointToPoint();
  void CheckCircles();
  bool IsReached(Scene& scene, TraceId op) const;
  std::vector<std::vector<Step>> StepsOf(Scene& scene, SequenceStore& sequences, bool* is_outside);
  WorldRun RunWorld(const World& world, bool is_for_any, bool with_outside, bool* ends_well);
  bool IsWholeProgram() const;
  uint32_t LargestStep() const;
  bool MayBeElsewhere(bool sends, bool receives) const;
  bool HasAllMessages() const;
  bool ReportStuck(Scene& scene, SequenceStore& sequences, const std::vector<std::vector<Step>>& ranks, const MessagesRun& run,
                   bool sends_return, bool ends_well);
  bool ReportMessages(Scene& scene, SequenceStore& sequences, const std::vector<std::vector<Step>>& ranks, const MessagesRun& run,
                      bool ends_well);
  bool ReportMessage(Scene& scene, SequenceStore& sequences, Evidence evidence);
  Detail HowHalvesDiffer(Scene& scene, TraceId send, uint32_t from, TraceId receive, uint32_t to) const;

  State& state_;
  const TraceStore& traces_;
  FuncId func_;
  CheckResult* result_;
  size_t found_before_;                     // in `result_`, of other functions
  TraceId root_;
  Origins origins_;                         // of nodes of the instantiated trace, in the parametric one
  Origins before_history_;                  // of nodes of `root_`, in the instantiated trace
  VaryingNodes nodes_;
  std::unordered_set<uint32_t> settled_;    // nodes of root_ that are taken as agreed
  std::unordered_set<uint32_t> reported_;   // those of them that callers take as agreed as well
  std::unordered_set<uint32_t> open_;       // those of them that callers look at again
  std::unordered_map<uint32_t, std::vector<TraceId>> reported_culprits_;  // by operation: what keeps ranks from it
  bool is_first_arrival_ = false;           // what is made once and may be made is not made yet
  bool with_guesses_ = false;               // View::with_guesses of what is compared
  bool leaves_messages_ = false;            // halves of messages whose others a caller may issue
  int found_ = 0;
  bool has_unread_settings_ = false;   // more than there are tries for
};

// A difference rests on the surest operations in which it shows.
constexpr Issuing kSurestFirst[] = {Issuing::Always, Issuing::InPassing, Issuing::UnderStrategy};

// The operations that it is told with: what communicates in passing may come first, what needs a strategy is left out if it can be.
constexpr Issuing ToldWith(Issuing rests_on) { return std::max(rests_on, Issuing::InPassing); }

// The ranks of the scene's world that are not in `ranks`.
RankSet Complement(const Scene& scene, RankSet ranks);

}  // namespace allranks::traces
