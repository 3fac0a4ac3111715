// Point-to-point operations of a function: ranks that wait for each other in a circle, or for a partner that never comes.
#include <algorithm>
#include <set>

#include "analyzer/traces/conditions.h"
#include "analyzer/traces/function_check.h"
#include "analyzer/traces/peer_loops.h"
#include "analyzer/traces/point_to_point.h"
#include "analyzer/traces/shapes.h"
#include "analyzer/variation/whole_job.h"

namespace allranks::traces {
namespace {

using knowledge::IsMessage;
using knowledge::IssuesNothing;
using knowledge::OpClass;

constexpr size_t kMostSteps = 400;

// What is left in a store for whoever asks, and what waits for it: `store.set(key, value)`, `store.wait([key])`. Neither has a partner.
bool LeavesInStore(const knowledge::Operation& operation) { return operation.op_class == OpClass::Send && !operation.peer_param && !operation.messages_param; }
bool AwaitsStore(const knowledge::Operation& operation) { return operation.op_class == OpClass::Probe && !operation.peer_param; }

// Whether the messages of torch.distributed go by their tags: NCCL looks at none. All places that join a job have to name another backend.
// Those of the file that sends, if there are any: other programs have other jobs.
bool GoByTags(State& state, ir::ModuleId sender) {
  const base::NameId param = state.program.names->Find("backend");
  const auto names_one_with_tags = [&](const OperationSite& place, const Site& site) {
    const variation::CallFact* call = state.facts.call(site.function, site.expr);
    const ValueId backend = call != nullptr && param ? ParamOf(state.knowledge[place.entry], state.facts.args(*call), param) : ValueId::None();
    if (!backend || state.values[backend].kind != variation::ValueKind::Str) return false;
    const std::string_view text = state.program.text(state.values[backend].name());
    return text == "gloo" || text == "mpi";
  };
  std::optional<bool> here, elsewhere;
  state.asks_for_others = true;
  for (const OperationSite& place : state.sites) {
    if (!place.entry || state.knowledge[place.entry].operation.op_class != OpClass::Init || state.knowledge[place.entry].bypasses_torch) continue;
    const Site& site = state.traces.site(place.site);
    std::optional<bool>& of_all = state.program.funcs[site.function].module == sender ? here : elsewhere;
    of_all = of_all.value_or(true) && names_one_with_tags(place, site);
  }
  return here ? *here : elsewhere.value_or(false);
}

// What one rank does, step by step; none where that is not known. `by_tags`: of the messages of torch.distributed.
class StepReader {
 public:
  StepReader(const State& state, Scene& scene, const SequenceStore& sequences, uint32_t rank, bool by_tags)
      : state_(state), scene_(scene), sequences_(sequences), rank_(rank), by_tags_(by_tags) {}

  std::optional<std::vector<Step>> Read(SeqId list) {
    if (!Append(list, 0) || steps_.size() > kMostSteps) return std::nullopt;
    return std::move(steps_);
  }
  // Whether a partner is named that the job has not.
  bool is_outside() const { return is_outside_; }

 private:
  bool Append(SeqId list, int depth) {
    constexpr int kDeepest = 50;
    if (depth > kDeepest || list == kRaised) return false;
    for (SeqId at = list; at != kNothing && steps_.size() <= kMostSteps; at = sequences_[at].next) {
      const Item& item = sequences_[at];
      if (item.next == kRaised) return false;
      switch (item.kind) {
        case ItemKind::Op:
          if (!AppendOp(at, item)) return false;
          break;
        case ItemKind::Sub:
        case ItemKind::Unless:
        case ItemKind::Alike:
          if (!Append(item.a, depth + 1)) return false;
          break;
        case ItemKind::Loop:
          if (!AppendRounds(item, depth + 1)) return false;
          break;
        case ItemKind::Choice:
          if (!AppendArm(item, depth + 1)) return false;
          break;
        default:
          return false;
      }
    }
    return true;
  }

  // Few rounds, or those that are each about another rank. Of more, or of an unknown number, one: after each all is as it was.
  bool AppendRounds(const Item& item, int depth) {
    constexpr int64_t kMostRounds = 8;
    const PeerLoop loop = PeerLoopOf(state_, item.origin);
    std::optional<std::vector<int64_t>> items = loop.items ? EvaluatorNow().ListOf(loop.items, rank_) : std::nullopt;
    std::optional<int64_t> rounds = scene_.Trips(state_.traces[item.origin], rank_);
    if (items) rounds = static_cast<int64_t>(items->size());
    // Where no round is about its own item they need not be told apart.
    if (!HangsOn(state_, sequences_, item.a, loop.element)) items.reset();
    if (!rounds || (!items && *rounds > kMostRounds)) rounds = 1;
    if (items) over_.push_back(loop);
    for (int64_t i = 0; i < *rounds; ++i) {
      if (items) Bind(loop.element, (*items)[static_cast<size_t>(i)]);
      if (!Append(item.a, depth) || steps_.size() > kMostSteps) return false;
    }
    if (!items) return true;
    Bind(loop.element, std::nullopt);
    over_.pop_back();
    return true;
  }

  void Bind(ValueId element, std::optional<int64_t> number) {
    if (number) bound_[element.index] = *number;
    else bound_.erase(element.index);
    evaluator_.reset();
  }

  // Of a choice that a round decides, the arm; of any other, only one that is about no messages.
  bool AppendArm(const Item& item, int depth) {
    const ValueId condition = state_.traces[item.origin].value;
    if (!bound_.empty() && condition) {
      if (const std::optional<bool> truth = EvaluatorNow().Truth(condition, rank_)) return Append(*truth ? item.a : item.b, depth);
    }
    return !HasPointToPoint(item.a) && !HasPointToPoint(item.b);
  }

  // Knows the items of the rounds that are being read.
  Evaluator& EvaluatorNow() {
    if (bound_.empty()) return scene_.evaluator();
    if (!evaluator_) evaluator_.emplace(state_.values, state_.knowledge, scene_.world(), bound_);
    return *evaluator_;
  }

  bool HasPointToPoint(SeqId list) const {
    std::vector<SeqId> ops;
    sequences_.Flatten(list, kMostSteps, &ops);
    return std::ranges::any_of(ops, [&](SeqId op) {
      const OpClass op_class = state_.traces.entry(sequences_[op].origin).operation.op_class;
      return IsMessage(op_class) || IssuesNothing(op_class) || op_class == OpClass::Start;
    });
  }

  bool AppendOp(SeqId id, const Item& item) {
    const knowledge::Operation& known = state_.traces.entry(item.origin).operation;
    const Operation& operation = state_.traces.operation(item.origin);
    const GroupInfo& group = scene_.evaluator().group(item.group);
    if (known.op_class == OpClass::Batch) {
      batches_ += known.opens_batch ? 1 : -1;
      return batches_ >= 0;
    }
    Step step{.kind = StepKind::Collective, .members = group.members[rank_], .group = item.group, .item = id.index};
    // It is not known what is started.
    if (known.op_class == OpClass::Start) return false;
    if (known.op_class == OpClass::Wait) {
      step.kind = StepKind::Wait;
      step.handle = HandleOf(operation);
      // What it waits for is not known: it may be over long since.
      if (step.handle != 0) steps_.push_back(step);
      return true;
    }
    if (known.op_class == OpClass::Cancel) {
      step.kind = StepKind::Cancel;
      step.handle = HandleOf(operation);
      steps_.push_back(step);
      // It is not known what is given up.
      return step.handle != 0;
    }
    if (LeavesInStore(known) || AwaitsStore(known)) {
      step.kind = LeavesInStore(known) ? StepKind::Leave : StepKind::Await;
      step.tag = KeyOf(operation.tag);
      steps_.push_back(step);
      return true;
    }
    if (!IsMessage(known.op_class) && known.op_class != OpClass::Probe) {
      if (!known.always_async) steps_.push_back(step);
      return true;
    }
    if (known.async_param) return false;
    if (known.op_class == OpClass::Exchange) return AppendExchange(step, operation, group);
    const bool waits = !known.always_async && batches_ == 0;
    const bool is_send = known.op_class == OpClass::Send;
    step.kind = is_send ? (waits ? StepKind::Send : StepKind::StartSend) : (waits ? StepKind::Recv : StepKind::StartRecv);
    if (known.op_class == OpClass::Probe) step.kind = StepKind::Probe;
    step.handle = waits ? 0 : HandleOf(operation);
    const bool by_tag = by_tags_ || state_.traces.entry(item.origin).bypasses_torch;
    return AppendHalf(step, operation.peer, by_tag ? operation.tag : ValueId::None(), group);
  }

  // A text that stands there, alone or in a list; any other key may be each.
  int64_t KeyOf(ValueId key) const {
    const auto is_kind = [&](ValueId value, variation::ValueKind kind) { return value && state_.values[value].kind == kind; };
    if (is_kind(key, variation::ValueKind::Tuple) && state_.values.Kids(key).size() == 1) key = state_.values.Kids(key)[0];
    return is_kind(key, variation::ValueKind::Str) ? key.index : kAnyTag;
  }

  // `handle` of a step, where it is one that a call made.
  uint32_t HandleOf(const Operation& operation) const {
    return operation.handle && state_.values[operation.handle].kind == variation::ValueKind::Object ? operation.handle.index : 0;
  }

  // Both halves are begun before either is waited for.
  bool AppendExchange(Step step, const Operation& operation, const GroupInfo& group) {
    // No call made this handle: those that calls made are values.
    step.handle = (uint32_t{1} << 31) | exchanges_++;
    step.kind = StepKind::StartSend;
    if (!AppendHalf(step, operation.peer, operation.tag, group)) return false;
    step.kind = StepKind::StartRecv;
    if (!AppendHalf(step, operation.from, operation.from_tag, group)) return false;
    step.kind = StepKind::Wait;
    steps_.push_back(step);
    return true;
  }

  // False where the partner is not known.
  bool AppendHalf(Step step, ValueId partner, ValueId tag, const GroupInfo& group) {
    const bool sends = step.kind == StepKind::Send || step.kind == StepKind::StartSend;
    const Outcome peer = partner ? EvaluatorNow().Evaluate(partner, rank_) : Outcome{};
    if (peer.kind != OutcomeKind::Number) return false;
    // MPI_PROC_NULL: nothing is sent.
    if (peer.number < kAnyPeer) return true;
    if (peer.number == kAnyPeer && sends) return false;
    step.peer = peer.number == kAnyPeer ? kAnyPeer : WorldRank(group.members[rank_], peer.number);
    // One that is named by a number says that the job is larger.
    if (step.peer == kNoPeer && !AsksForPlace(partner)) return false;
    is_outside_ = is_outside_ || step.peer == kNoPeer;
    // What has no tag has always the same.
    const Outcome tagged = tag ? EvaluatorNow().Evaluate(tag, rank_) : Outcome::Number(0);
    step.tag = tagged.kind == OutcomeKind::Number && tagged.number >= 0 ? tagged.number : kAnyTag;
    steps_.push_back(step);
    return true;
  }

  // Whether it is the rank itself, or the number of ranks, that says which partner it is.
  bool AsksForPlace(ValueId partner) const {
    const auto asks = [&](ValueId value) { return !state_.values.axes(value).empty() || AsksForSize(state_.values, value); };
    return asks(partner) || std::ranges::any_of(over_, [&](const PeerLoop& loop) {
             return IsMadeOf(state_.values, partner, loop.element) && asks(loop.items);
           });
  }

  // The rank of the world with this number in a group.
  static int64_t WorldRank(RankSet members, int64_t number) {
    for (uint32_t rank = 0; rank < kMostRanks; ++rank) {
      if (members.has(rank) && number-- == 0) return rank;
    }
    return kNoPeer;
  }

  const State& state_;
  Scene& scene_;
  const SequenceStore& sequences_;
  uint32_t rank_;
  bool by_tags_;
  int batches_ = 0;
  std::vector<Step> steps_;
  uint32_t exchanges_ = 0;
  std::vector<PeerLoop> over_;           // the loops whose rounds are being read
  Assignment bound_;                     // items of loops over peers, in the rounds that are being read
  std::optional<Evaluator> evaluator_;   // with these
  bool is_outside_ = false;
};

// Bytes and packed buffers may hold anything.
bool IsOfBytes(const State& state, ValueId type) {
  const std::string_view name = state.program.names->View(state.values[type].name());
  return name == "MPI_BYTE" || name == "MPI_PACKED";
}

}  // namespace

// What a caller does before or behind may be the missing half.
bool FunctionCheck::IsWholeProgram() const {
  return state_.program.text(state_.program.function(func_).name) == "main" || state_.program.funcs[func_].function == ir::kTopLevel;
}

// Whether no half of a message can be anywhere else: the function joins the job, all that it calls is followed, and no other function of the
// file sends or receives, as one that a thread runs.
bool FunctionCheck::HasAllMessages() const {
  const OperationsIn own(traces_, root_);
  if (!own.joins_job || own.has_unfollowed) return false;
  const ir::ModuleId module = state_.program.funcs[func_].module;
  state_.asks_for_others = true;
  return std::ranges::none_of(state_.sites, [&](const OperationSite& place) {
    const bool is_message = place.entry && knowledge::IsMessage(state_.knowledge[place.entry].operation.op_class);
    return is_message && !own.sites.contains(place.site.index) && state_.program.funcs[traces_.site(place.site).function].module == module;
  });
}

// Whether the other half may be in code of this file that is no part of the function: in a thread of its own.
bool FunctionCheck::MayBeElsewhere(bool sends, bool receives) const {
  if (sends && receives) return false;
  const std::unordered_set<uint32_t> own = OperationsIn(traces_, root_).sites;
  const ir::ModuleId module = state_.program.funcs[func_].module;
  state_.asks_for_others = true;
  return std::ranges::any_of(state_.sites, [&](const OperationSite& place) {
    if (!place.entry || own.contains(place.site.index)) return false;
    if (state_.program.funcs[traces_.site(place.site).function].module != module) return false;
    const OpClass op_class = state_.knowledge[place.entry].operation.op_class;
    return op_class == (sends ? OpClass::Recv : OpClass::Send) || op_class == OpClass::Exchange;
  });
}

void FunctionCheck::CheckPointToPoint() {
  bool sends = false;
  bool receives = false;
  for (const TraceId op : nodes_.ops) {
    const knowledge::Operation& known = traces_.entry(op).operation;
    const OpClass op_class = known.op_class;
    if ((traces_[op].flags & kSettled) != 0 && IsMessage(op_class)) return;
    sends = sends || op_class == OpClass::Send || op_class == OpClass::Exchange;
    receives = receives || op_class == OpClass::Recv || op_class == OpClass::Exchange || AwaitsStore(known);
  }
  if (!sends && !receives) return;
  const bool has_one_half = !sends || !receives;
  if (has_one_half && !IsWholeProgram()) leaves_messages_ = true;
  if (has_one_half && (!IsWholeProgram() || MayBeElsewhere(sends, receives))) return;
  // A program for two ranks may leave a third one alone. One whose partners follow from the number of ranks is for any number.
  const bool is_for_any = std::ranges::any_of(nodes_.ops, [&](TraceId op) {
    const Operation& operation = traces_.operation(op);
    const auto by_size = [&](ValueId peer) { return peer && traces_.conditions().AsksForSize(peer); };
    return by_size(operation.peer) || by_size(operation.from);
  });
  const uint32_t step = LargestStep();
  const bool says_size = !is_for_any && step > 0 && nodes_.mentions.divisor == step;
  bool ends_well = false;
  std::optional<World> outside;
  bool is_always_outside = true;
  uint32_t largest = 0;
  for (const World& world : WorldsFor(nodes_.mentions)) {
    // Partners that are named are there.
    if (static_cast<int64_t>(world.size()) <= nodes_.mentions.largest) continue;
    // `(rank + 8) % 16` is meant for sixteen.
    if (says_size && world.size() > nodes_.mentions.divisor) continue;
    largest = std::max(largest, world.size());
    switch (RunWorld(world, is_for_any, false, &ends_well)) {
      case WorldRun::Outside:
        if (!outside) outside = world;
        break;
      case WorldRun::EndsOrOpen:
        is_always_outside = false;
        break;
      case WorldRun::Over:
        return;
    }
  }
  // `recv(rank + 1)` of the last rank, whatever the size of the job: not a program for other sizes.
  constexpr uint32_t kTelling = 4;
  const bool is_large = largest >= kTelling && largest > 2 * step;
  if (outside && is_always_outside && is_large) static_cast<void>(RunWorld(*outside, is_for_any, true, &ends_well));
}

// The largest number that a partner is made of: `rank ^ 8` is meant for a job of sixteen.
uint32_t FunctionCheck::LargestStep() const {
  uint32_t largest = 0;
  const auto visit = [&](auto&& self, ValueId id, int depth) -> void {
    constexpr int kDeepest = 8;
    if (!id || depth > kDeepest) return;
    const variation::Value& value = state_.values[id];
    if (const auto count = value.count()) largest = std::max(largest, std::min(*count, kMostRanks));
    for (const ValueId kid : state_.values.Kids(id)) self(self, kid, depth + 1);
  };
  for (const TraceId op : nodes_.ops) {
    visit(visit, traces_.operation(op).peer, 0);
    visit(visit, traces_.operation(op).from, 0);
  }
  return largest;
}

// What each rank issues; nothing if that is not known of some. `is_outside`: a partner is named that the job has not.
std::vector<std::vector<Step>> FunctionCheck::StepsOf(Scene& scene, SequenceStore& sequences, bool* is_outside) {
  std::vector<std::vector<Step>> ranks;
  const bool by_tags = GoByTags(state_, state_.program.funcs[func_].module);
  for (uint32_t rank = 0; rank < scene.world().size(); ++rank) {
    const SeqId list = ProjectFor(scene, sequences, rank, {.with_p2p = true, .with_waits = true});
    StepReader reader(state_, scene, sequences, rank, by_tags);
    std::optional<std::vector<Step>> steps = reader.Read(list);
    if (!steps) return {};
    *is_outside = *is_outside || reader.is_outside();
    ranks.push_back(std::move(*steps));
  }
  return ranks;
}

// Any two ranks may agree on what they share, and three or more still wait for each other in a circle over groups: here some first meet
// their row of a mesh and then their column, and others do so the other way round. Where that is so nothing is proven.
void FunctionCheck::CheckCircles() {
  if (found_ > 0 || nodes_.choices.empty()) return;
  std::set<ValueId> groups;
  for (const TraceId op : nodes_.ops) {
    const ValueId group = traces_.operation(op).group;
    if (!variation::IsOfAllRanks(state_.values, group)) groups.insert(group);
  }
  if (groups.size() < 2) return;
  for (const World& world : WorldsFor(nodes_.mentions)) {
    Scene scene(state_, world, History());
    Prepare(scene);
    SequenceStore sequences;
    bool is_outside = false;
    const std::vector<std::vector<Step>> ranks = StepsOf(scene, sequences, &is_outside);
    if (ranks.empty() || is_outside) continue;
    const MessagesRun run = RunMessages(ranks, true);
    for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
      if (!run.stuck[rank]) continue;
      const TraceId op = sequences[SeqId{ranks[rank][run.stuck[rank]->of].item}].origin;
      result_->unexplained.push_back(traces_[op].site);
    }
  }
}

// One world: `with_outside`, a partner that is not there is waited for.
FunctionCheck::WorldRun FunctionCheck::RunWorld(const World& world, bool is_for_any, bool with_outside, bool* ends_well) {
  Scene scene(state_, world, {});
  Prepare(scene);
  SequenceStore sequences;
  bool is_outside = false;
  const std::vector<std::vector<Step>> ranks = StepsOf(scene, sequences, &is_outside);
  if (ranks.empty()) return WorldRun::Over;
  if (is_outside && !with_outside) return WorldRun::Outside;
  // Each of two neighbours is both: in a ring of two the circle is the same.
  for (const bool sends_return : {true, false}) {
    const MessagesRun run = RunMessages(ranks, sends_return);
    const bool all_end = std::ranges::none_of(run.stuck, [](const auto& stuck) { return stuck.has_value(); });
    if (!all_end && ReportStuck(scene, sequences, ranks, run, sends_return, *ends_well)) return WorldRun::Over;
    if (!sends_return || !all_end) continue;
    if (ReportMessages(scene, sequences, ranks, run, *ends_well)) return WorldRun::Over;
    *ends_well = !is_for_any;
  }
  return WorldRun::EndsOrOpen;
}

bool FunctionCheck::ReportStuck(Scene& scene, SequenceStore& sequences, const std::vector<std::vector<Step>>& ranks,
                                const MessagesRun& run, bool sends_return, bool ends_well) {
  Evidence evidence;
  evidence.kind = DifferenceKind::PointToPoint;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    if (!run.stuck[rank]) continue;
    const Step& step = ranks[rank][run.stuck[rank]->of];
    const TraceId op = sequences[SeqId{step.item}].origin;
    const bool waits_for_peer = step.kind != StepKind::Collective;
    // Keys are also set by other programs, and by what is not seen of this one.
    if (step.kind == StepKind::Await && !HasAllMessages()) return false;
    if (waits_for_peer && !evidence.culprit) {
      const bool is_order = IsMetLater(ranks, run.stuck, rank);
      if (!is_order && !IsWholeProgram()) leaves_messages_ = true;
      if (!is_order && (ends_well || !IsWholeProgram())) return false;
      evidence.culprit = op;
      evidence.reached = RankSet::Of(rank);
      // NCCL and its like never buffer.
      const bool may_buffer = step.kind == StepKind::Send && traces_.entry(op).operation.may_buffer;
      evidence.detail = !is_order ? Detail::Unmatched : !sends_return && may_buffer ? Detail::Buffered : Detail::Order;
    } else if (!evidence.victim || (evidence.culprit && traces_[evidence.victim].site == traces_[evidence.culprit].site)) {
      evidence.victim = op;
      evidence.not_reached = RankSet::Of(rank);
    }
  }
  return ReportMessage(scene, sequences, std::move(evidence));
}

// All ranks get to their end: of a message that nobody received, and of two halves that do not fit, the program is wrong all the same.
bool FunctionCheck::ReportMessages(Scene& scene, SequenceStore& sequences, const std::vector<std::vector<Step>>& ranks,
                                   const MessagesRun& run, bool ends_well) {
  const auto op_of = [&](StepOf place) { return sequences[SeqId{ranks[place.rank][place.step].item}].origin; };
  Evidence evidence;
  evidence.kind = DifferenceKind::PointToPoint;
  if (!run.alone.empty() && !IsWholeProgram()) leaves_messages_ = true;
  if (!run.alone.empty() && !ends_well && IsWholeProgram()) {
    evidence.culprit = op_of(run.alone.front());
    evidence.reached = RankSet::Of(run.alone.front().rank);
    evidence.detail = Detail::Unmatched;
    return ReportMessage(scene, sequences, std::move(evidence));
  }
  for (const auto& [send, receive] : run.messages) {
    const Detail detail = HowHalvesDiffer(scene, op_of(send), send.rank, op_of(receive), receive.rank);
    if (detail == Detail::None) continue;
    evidence.culprit = op_of(send);
    evidence.victim = op_of(receive);
    evidence.reached = RankSet::Of(send.rank);
    evidence.not_reached = RankSet::Of(receive.rank);
    evidence.detail = detail;
    return ReportMessage(scene, sequences, std::move(evidence));
  }
  return false;
}

bool FunctionCheck::ReportMessage(Scene& scene, SequenceStore& sequences, Evidence evidence) {
  if (!evidence.culprit || settled_.contains(evidence.culprit.index)) return false;
  const TraceId culprit = evidence.culprit;
  if (evidence.detail != Detail::Order && !HasAllMessages()) evidence.assumptions.Add(findings::Assumption::PartnerElsewhere);
  Report(scene, sequences, std::move(evidence), culprit);
  return true;
}

// By type, or by the number of elements: a receive of MPI may be larger than what comes.
Detail FunctionCheck::HowHalvesDiffer(Scene& scene, TraceId send, uint32_t from, TraceId receive, uint32_t to) const {
  const Operation& sent = traces_.operation(send);
  const Operation& taken = traces_.operation(receive);
  const knowledge::Operation& known = traces_.entry(send).operation;
  const bool are_plain = known.op_class == OpClass::Send && traces_.entry(receive).operation.op_class == OpClass::Recv;
  if (!are_plain) return Detail::None;
  Evaluator& evaluator = scene.evaluator();
  if (!known.dtype_param) {
    const std::optional<int64_t> given = ElementsOf(evaluator, sent.tensor, from);
    const std::optional<int64_t> place = ElementsOf(evaluator, taken.tensor, to);
    if (given && place && *given != *place) return Detail::ElementCount;
    const ValueId given_as = sent.tensor ? ElementTypeOf(evaluator, sent.tensor, from) : ValueId::None();
    const ValueId taken_as = taken.tensor ? ElementTypeOf(evaluator, taken.tensor, to) : ValueId::None();
    return given_as && taken_as && given_as != taken_as ? Detail::Dtype : Detail::None;
  }
  const auto type_of = [&](ValueId type) {
    return type && state_.values[type].kind == variation::ValueKind::External && !IsOfBytes(state_, type) ? type : ValueId::None();
  };
  const ValueId given_type = type_of(sent.dtype);
  const ValueId taken_type = type_of(taken.dtype);
  if (!given_type || !taken_type) return Detail::None;
  if (given_type != taken_type) return Detail::Dtype;
  const Outcome given = sent.count ? evaluator.Evaluate(sent.count, from) : Outcome{};
  const Outcome place = taken.count ? evaluator.Evaluate(taken.count, to) : Outcome{};
  const bool are_known = given.kind == OutcomeKind::Number && place.kind == OutcomeKind::Number;
  return are_known && given.number > place.number ? Detail::ElementCount : Detail::None;
}

}  // namespace allranks::traces
