// What one rank of a world issues: choices that the world decides are taken, what cannot be reached is dropped, exits
// lead where they lead. A trace is projected backwards: with what follows it already known, an early `return` is
// simply another thing that follows, so that `if a: return` before a collective and an arm without it look alike.
#pragma once

#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/traces/build.h"
#include "analyzer/traces/nodes.h"
#include "analyzer/traces/sequence.h"
#include "analyzer/traces/setting_uses.h"

namespace allranks::traces {

// What each rank of a world takes of a condition.
struct Decision {
  bool decided = false;   // on every rank
  RankSet truth;
  bool differs(uint32_t count) const { return decided && !truth.empty() && !(truth == RankSet::All(count)); }
};

constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

// A world with values for the unknowns, and what follows from them.
class Scene {
 public:
  Scene(const State& state, World world, Assignment assignment);
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  // `for_this_size`: what it is for a job of this size is not asked of larger ones.
  Decision Decide(ValueId condition, bool for_this_size = false);
  // How often a loop runs on a rank, if the world says so: kEndless where only what is in it ends it.
  std::optional<int64_t> Trips(const Trace& loop, uint32_t rank);
  Evaluator& evaluator() { return evaluator_; }
  const World& world() const { return world_; }

  // Finds the ranks that `nodes`, which must outlive the scene, leave no way to tell apart: a trace of these nodes looks
  // the same on them.
  void FindClasses(const TraceStore& traces, const VaryingNodes& nodes);
  // What of the same a projection needs that looks at one rank alone.
  void Follow(const VaryingNodes& nodes);
  // The first rank of the class of `rank`.
  uint32_t ClassOf(uint32_t rank) const { return class_of_.empty() ? rank : class_of_[rank]; }
  // Whether several choices ask this.
  bool Recurs(uint64_t asked) const { return recurring_ != nullptr && recurring_->contains(asked); }
  // Of two scenes of one world with equal fingerprints, each rank issues the same in both.
  std::vector<int64_t> Fingerprint() const;
  // The groups that were found before FindClasses or Follow, and their members on each rank. Put together where somebody compares them.
  const std::vector<uint64_t>& groups();
  // Says what parts ask of the settings that this scene is one try of. `other`: another try in the same world, if there is one. Both must live as long.
  void SetUses(SettingUses& uses, Scene* other = nullptr) {
    uses_ = &uses;
    other_ = other;
  }
  // A hash of the settings that a trace asks for: of two tries in one world with equal groups it issues the same where they are equal.
  uint64_t SettingsOf(TraceId trace) const { return uses_ != nullptr ? uses_->AskedOf(trace, assignment_) : 0; }

 private:
  std::optional<std::vector<int64_t>> Rounds(const Trace& loop);
  void DecideFor(const Trace& node);
  void TakeOver(size_t entries);
  void AddToSignatures(const TraceStore& traces, TraceId op);
  void AddToSignature(const TraceStore& traces, TraceId op, uint32_t rank);
  World world_;
  Assignment assignment_;
  Evaluator evaluator_;
  base::NumberMap<Decision> decisions_;   // by condition
  base::NumberMap<Decision> decisions_for_size_;
  std::vector<std::vector<int64_t>> signatures_;   // by rank: all that a projection asks about it
  std::vector<uint32_t> class_of_;   // by rank
  const std::unordered_set<uint64_t>* recurring_ = nullptr;   // of the nodes given to FindClasses or Follow
  size_t found_groups_ = 0;
  std::vector<uint64_t> groups_;   // empty: nobody asked yet, or there are none
  SettingUses* uses_ = nullptr;
  Scene* other_ = nullptr;   // in which what asks for nothing that is tried is decided alike
  const variation::ValueStore& values_;
};

// How surely a call issues its operation.
enum class Issuing : uint8_t {
  Always,         // a call made to communicate
  InPassing,      // a call of a library that communicates beside its work
  UnderStrategy,  // the same, under some strategies alone (FSDP, ZeRO-3)
};
Issuing IssuingOf(const knowledge::Operation& operation);

// Which operations are looked at: those of the groups in `groups` (a bit each), issued as surely as `issuing` or surer.
struct View {
  uint32_t rank = 0;
  uint32_t groups = ~0u;
  Issuing issuing = Issuing::UnderStrategy;
  bool with_p2p = false;
  bool with_waits = false;   // and what waits for one another, besides sending and receiving
  bool with_guesses = false;  // and what methods issue that are told by their names alone
  bool by_presence = false;  // choices that ask for parts of a batch are each rank's own, and no others
  TraceId agreed;   // a choice to be taken as agreed besides the settled ones
};

// Arms of a choice, or a loop, that a rank's own values decide and that do not agree.
struct OwnDecision {
  TraceId node;
  SeqId first;            // then-arm with what follows; the body of a loop
  SeqId second;
  bool needs_loop = false;  // parts by a `break` only: counts if the loop around issues something
  uint32_t handler = 0;     // of a Try: which one
};

// A rank that calls an operation of a group it is certainly not in, or names a root that is not in it.
struct Outsider {
  TraceId op;
  bool is_root = false;
};

class Projector {
 public:
  // `settled`: choices to be taken as agreed. `own_axes` not empty: compare the arms of choices along these axes.
  // `handlers_of`: compare the handlers of this function's `try` statements with what they handle.
  Projector(const State& state, Scene& scene, SequenceStore& sequences, View view,
            const std::unordered_set<uint32_t>& settled, knowledge::Axes own_axes = {}, FuncId handlers_of = {});
  SeqId Run(TraceId trace);
  const std::vector<OwnDecision>& own_decisions() const { return own_decisions_; }
  const std::vector<Outsider>& outsiders() const { return outsiders_; }

 private:
  struct Context {
    SeqId next = kNothing;
    SeqId returned = kNothing;
    SeqId broken = kNothing;
    SeqId continued = kNothing;
    SeqId raised = kRaised;
    SeqId ended = kNothing;   // the process is over
  };

  // The arm of a choice that is looked at; `decided`: by the world, not by a try of both.
  struct Way {
    ValueId condition;
    bool taken = false;
    bool decided = false;
  };
  struct Answer {
    Question question;
    bool truth = false;
    bool decided = false;
    bool is(const Answer& other) const {
      return question.key == other.question.key && truth == other.truth && decided == other.decided;
    }
  };

  SeqId Project(TraceId id, const Context& context);
  bool MeetsCutRecursion(SeqId list);
  bool IsRecursive(FuncId func);
  SeqId ProjectOp(TraceId id, const Trace& trace, SeqId next);
  void CheckMember(TraceId id, const GroupInfo& group, const Item& item);
  SeqId ProjectChoice(TraceId id, const Trace& trace, const Context& context);
  std::optional<bool> Assumed(const Trace& choice) const;
  void Assume(const Way& way);
  void NoteAgreed(TraceId node);
  SeqId ProjectArm(TraceId arm, const Way& way, const Context& context);
  SeqId Undecided(TraceId id, const Trace& trace, const Context& context, bool own);
  SeqId Unless(TraceId id, TraceId raising, SeqId calm, bool calm_is_first);
  SeqId ProjectLoop(TraceId id, const Trace& trace, const Context& context);
  SeqId WithoutIdleRounds(SeqId body, size_t recorded);
  bool IsWrittenOut(const Trace& trace, int64_t trips, SeqId body) const;
  SeqId LoopItem(TraceId id, const Trace& trace, SeqId body, std::optional<int64_t> trips, SeqId next);
  SeqId ProjectScope(TraceId id, const Trace& trace, const Context& context);
  SeqId ProjectCall(TraceId id, const Trace& trace, const Context& context);
  SeqId ProjectRecursive(TraceId body, uint32_t func, const Context& inner);
  bool CallsItself(TraceId body, uint32_t func);
  SeqId ProjectTry(TraceId id, const Trace& trace, const Context& context);
  SeqId LeaveLoop(SeqId target, const Context& outer);
  void Record(TraceId id, SeqId first, SeqId second);
  bool EndsInExit(SeqId list) const;
  bool IsAgreedOn(const HandlerInfo& handler, SeqId handled) const;
  void RecordHandlers(TraceId id, SeqId body, const Context& through);
  bool IsOwn(ValueId value) const;
  bool IsSettled(TraceId id, const Trace& trace) const;
  SequenceStore::Lists& KnownCalls(TraceId body);
  SequenceStore::Lists& CallsSeenBy(uint32_t rank, TraceId body, uint64_t assumed);
  uint64_t AssumedOf(TraceId body) const;
  bool FindAroundAgreed(TraceId id);

  const State& state_;
  Scene& scene_;
  SequenceStore& sequences_;
  View view_;
  const std::unordered_set<uint32_t>& settled_;
  knowledge::Axes own_axes_;
  FuncId handlers_of_;
  std::vector<Answer> assumed_;   // what choices around were taken to be
  std::unordered_map<uint64_t, SequenceStore::Lists> own_calls_;   // lists of calls that only this projection sees so, by AssumedOf
  std::unordered_set<uint64_t> agreed_questions_;   // what choices ask that are taken as agreed and are asked elsewhere
  std::vector<OwnDecision> own_decisions_;
  std::vector<Outsider> outsiders_;
  SequenceStore::Lists silent_calls_;   // lists of calls seen while `silent_` is not empty
  std::unordered_set<uint32_t> silent_;   // functions that issue nothing that is looked at, but for calling themselves
  int undecided_ = 0;   // choices around that nobody decides: what is inside may not be reached
  bool is_in_recursion_ = false;   // the innermost call around is one of a function that calls itself
};

}  // namespace allranks::traces
