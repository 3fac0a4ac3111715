// Projection runs backward over the trace tree: with what follows already known, an exit is just another thing that follows,
// so an early return before an operation and an arm without that operation come out as the same list.
//
// Invariant: equal lists (by hash, sequence.h) mean that two ranks issue the same. Undecided choices that are alike on all
// ranks stay in the list; what an outer one was taken to be holds for those inside it that ask the same (Question), so
// contradictory paths are none. Whatever is noted on the way counts only if the rank gets there (reach.h).
// The idea is that of endpoint projection of session types: Honda, Yoshida, Carbone, "Multiparty asynchronous session types",
// POPL 2008.
#include "analyzer/traces/project.h"

#include <algorithm>

#include "analyzer/base/number_set.h"
#include "analyzer/traces/conditions.h"
#include "analyzer/traces/shapes.h"

namespace allranks::traces {
namespace {

// In a signature.
constexpr int64_t kUntold = -1;

// How many numbers AddToSignature tells of an operation.
size_t SignatureEntries(const TraceStore& traces, TraceId op) {
  const size_t of_group = traces.operation(op).root ? 3 : 2;
  return of_group + 4 + (traces.entry(op).operation.fixed_shape ? 2 : 0);
}

}  // namespace

Scene::Scene(const State& state, World world, Assignment assignment)
    : world_(std::move(world)), assignment_(std::move(assignment)),
      evaluator_(state.values, state.knowledge, world_, assignment_), values_(state.values) {}

Decision Scene::Decide(ValueId condition, bool for_this_size) {
  base::NumberMap<Decision>& decisions = for_this_size ? decisions_for_size_ : decisions_;
  if (const Decision* known = decisions.Find(condition.index)) return *known;
  if (other_ != nullptr && !uses_->IsTried(condition)) return other_->Decide(condition, for_this_size);
  Decision result{.decided = true, .truth = {}};
  for (uint32_t rank = 0; rank < world_.size() && result.decided; ++rank) {
    const std::optional<bool> truth = evaluator_.Truth(condition, rank);
    result.decided = truth.has_value();
    if (truth && *truth) result.truth = result.truth | RankSet::Of(rank);
  }
  if (result.decided && !for_this_size && values_.axes(condition).empty()) {
    // `world_size >= 8` is false of a small world and says nothing; `world_size > 1` holds of larger ones too.
    constexpr int64_t kLarger = 1024;
    evaluator_.ScaleSizes(kLarger);
    const std::optional<bool> larger = evaluator_.Truth(condition, 0);
    evaluator_.ScaleSizes(1);
    result.decided = larger && *larger == result.truth.has(0);
  }
  decisions.Add(condition.index, result);
  return result;
}

std::optional<int64_t> Scene::Trips(const Trace& loop, uint32_t rank) {
  const std::optional<std::vector<int64_t>> rounds = Rounds(loop);
  return rounds ? std::optional((*rounds)[rank]) : std::nullopt;
}

// By rank; none if that of one rank is not known.
std::optional<std::vector<int64_t>> Scene::Rounds(const Trace& loop) {
  if (!loop.value) return std::nullopt;
  const bool asks_again = static_cast<LoopKind>(loop.payload) == LoopKind::While;
  std::vector<int64_t> rounds;
  for (uint32_t rank = 0; rank < world_.size(); ++rank) {
    const Outcome outcome = evaluator_.Evaluate(loop.value, rank);
    if (outcome.kind != OutcomeKind::Number) return std::nullopt;
    rounds.push_back(asks_again && outcome.number != 0 ? kEndless : outcome.number);
  }
  return rounds;
}

void Scene::FindClasses(const TraceStore& traces, const VaryingNodes& nodes) {
  Follow(nodes);
  signatures_.resize(world_.size());
  // Groups are told by their numbers, which follow from the order in which they were found.
  if (other_ != nullptr && other_->groups() != groups()) other_ = nullptr;
  for (const TraceId node : nodes.deciding) {
    if (other_ != nullptr && !uses_->IsTried(traces[node].value)) TakeOver(1);
    else DecideFor(traces[node]);
  }
  for (const TraceId op : nodes.ops) {
    if (other_ != nullptr && !uses_->IsOperationTried(op)) TakeOver(SignatureEntries(traces, op));
    else AddToSignatures(traces, op);
  }
  for (uint32_t rank = 0; rank < world_.size(); ++rank) {
    const auto first = std::ranges::find(signatures_, signatures_[rank]);
    class_of_.push_back(static_cast<uint32_t>(first - signatures_.begin()));
  }
}

// The next entries of the signatures are those of the other scene.
void Scene::TakeOver(size_t entries) {
  for (uint32_t rank = 0; rank < world_.size(); ++rank) {
    const auto begin = other_->signatures_[rank].begin() + static_cast<ptrdiff_t>(signatures_[rank].size());
    signatures_[rank].insert(signatures_[rank].end(), begin, begin + static_cast<ptrdiff_t>(entries));
  }
}

void Scene::DecideFor(const Trace& node) {
  const bool is_loop = node.kind == TraceKind::Loop;
  const std::optional<std::vector<int64_t>> rounds = is_loop ? Rounds(node) : std::nullopt;
  const Decision decision = is_loop ? Decision() : Decide(node.value);
  for (uint32_t rank = 0; rank < world_.size(); ++rank) {
    const int64_t told = rounds ? (*rounds)[rank] : decision.decided ? decision.truth.has(rank) : kUntold;
    signatures_[rank].push_back(told);
  }
}

std::vector<int64_t> Scene::Fingerprint() const {
  std::vector<int64_t> fingerprint;
  for (GroupIndex group = 0; group < evaluator_.group_count(); ++group) {
    fingerprint.push_back(evaluator_.group(group).value.index);
  }
  for (const auto& signature : signatures_) fingerprint.insert(fingerprint.end(), signature.begin(), signature.end());
  return fingerprint;
}

void Scene::Follow(const VaryingNodes& nodes) {
  recurring_ = &nodes.recurring;
  found_groups_ = evaluator_.group_count();
}

const std::vector<uint64_t>& Scene::groups() {
  if (!groups_.empty()) return groups_;
  for (GroupIndex index = 0; index < found_groups_; ++index) {
    const GroupInfo& group = evaluator_.group(index);
    groups_.push_back(uint64_t{group.value.index} << 1 | (group.is_guess ? 1 : 0));
    for (const RankSet members : group.members) groups_.push_back(members.bits);
  }
  return groups_;
}

void Scene::AddToSignatures(const TraceStore& traces, TraceId op) {
  for (uint32_t rank = 0; rank < world_.size(); ++rank) AddToSignature(traces, op, rank);
}

void Scene::AddToSignature(const TraceStore& traces, TraceId op, uint32_t rank) {
  std::vector<int64_t>& signature = signatures_[rank];
  const Operation& operation = traces.operation(op);
  const GroupIndex group = evaluator_.Group(operation.group, rank);
  const RankSet members = evaluator_.group(group).members[rank];
  signature.push_back(group);
  signature.push_back(members.empty() ? 0 : 1);
  // Which ranks share the group decides whether the root is one of them.
  if (operation.root) signature.push_back(static_cast<int64_t>(members.bits));
  for (const variation::ValueId value : {operation.root, operation.count, operation.reduce_op, operation.dtype}) {
    const Outcome outcome = value ? evaluator_.Evaluate(value, rank) : Outcome{};
    const bool is_thing = outcome.kind == OutcomeKind::Thing;
    signature.push_back(outcome.kind == OutcomeKind::Number ? outcome.number : is_thing ? outcome.thing.index : kUntold);
  }
  if (!traces.entry(op).operation.fixed_shape) return;
  signature.push_back(ElementsOf(evaluator_, operation.tensor, rank).value_or(kUntold));
  signature.push_back(ElementTypeOf(evaluator_, operation.tensor, rank).index);
}

Projector::Projector(const State& state, Scene& scene, SequenceStore& sequences, View view,
                     const std::unordered_set<uint32_t>& settled, knowledge::Axes own_axes, FuncId handlers_of)
    : state_(state), scene_(scene), sequences_(sequences), view_(view), settled_(settled), own_axes_(own_axes),
      handlers_of_(handlers_of) {
  for (const uint32_t node : settled_) NoteAgreed(TraceId{node});
  if (view_.agreed) NoteAgreed(view_.agreed);
}

void Projector::NoteAgreed(TraceId node) {
  if (state_.traces[node].kind != TraceKind::Choice) return;
  const uint64_t key = Asked(state_.values, state_.traces[node].value).key;
  if (scene_.Recurs(key)) agreed_questions_.insert(key);
}

SeqId Projector::Run(TraceId trace) {
  if (view_.agreed) FindAroundAgreed(trace);
  const SeqId list = Project(trace, {});
  if (!state_.cut_recursion.empty() && !state_.meets_cut_recursion) state_.meets_cut_recursion = MeetsCutRecursion(list);
  return list;
}

// Whether this rank surely gets to a recursive call that was not followed. Lists share their tails and those of calls: each item is met once.
bool Projector::MeetsCutRecursion(SeqId list) {
  base::NumberSet met;
  std::vector<SeqId> lists = {list};
  while (!lists.empty()) {
    SeqId at = lists.back();
    lists.pop_back();
    for (; at != kNothing && at != kRaised && met.Add(at.index); at = sequences_[at].next) {
      const Item& item = sequences_[at];
      if (item.kind == ItemKind::Rec && state_.cut_recursion.contains(item.origin.index)) return true;
      const bool is_entered = item.kind == ItemKind::Sub || (item.kind == ItemKind::Loop && scene_.Trips(state_.traces[item.origin], view_.rank));
      if (is_entered) lists.push_back(item.a);
    }
  }
  return false;
}

bool Projector::FindAroundAgreed(TraceId id) {
  auto& around_agreed = sequences_.Around(view_.agreed);
  const auto [found, is_new] = around_agreed.try_emplace(id.index, id == view_.agreed);
  if (!is_new) return found->second;
  ++state_.projection_steps;
  state_.Step();
  bool around = id == view_.agreed;
  for (const TraceId kid : state_.traces.Kids(id)) {
    if (state_.exhausted()) return around;
    around = FindAroundAgreed(kid) || around;
  }
  return around_agreed[id.index] = around;
}

SeqId Projector::Project(TraceId id, const Context& context) {
  ++state_.projection_steps;
  state_.Step();
  if (state_.exhausted()) return context.next;
  const Trace& trace = state_.traces[id];
  switch (trace.kind) {
    case TraceKind::Op:
      return ProjectOp(id, trace, context.next);
    case TraceKind::Seq: {
      Context inner = context;
      const auto kids = state_.traces.Kids(id);
      for (size_t i = kids.size(); i-- > 0;) inner.next = Project(kids[i], inner);
      return inner.next;
    }
    case TraceKind::Choice:
      return ProjectChoice(id, trace, context);
    case TraceKind::Loop:
      return ProjectLoop(id, trace, context);
    case TraceKind::Exit:
      switch (static_cast<ExitKind>(trace.payload)) {
        case ExitKind::Return:
          return context.returned;
        case ExitKind::Break:
          return context.broken;
        case ExitKind::Continue:
          return context.continued;
        case ExitKind::Raise:
          return context.raised;
        case ExitKind::Process:
          return context.ended;
      }
      return context.next;
    case TraceKind::Scope:
      return ProjectScope(id, trace, context);
    case TraceKind::Try:
      return ProjectTry(id, trace, context);
    case TraceKind::Rec: {
      if (silent_.contains(trace.payload)) return context.next;
      const uint64_t token = Token(static_cast<uint64_t>(ItemKind::Rec), trace.payload, 0);
      return sequences_.Add({.kind = ItemKind::Rec, .has_effect = true, .origin = id, .a = {}, .b = {},
                             .next = context.next, .token = token, .detail = token});
    }
    case TraceKind::Empty:
    case TraceKind::Call:
    case TraceKind::Yield:
    case TraceKind::Opaque:
    case TraceKind::Keep:
    case TraceKind::Mode:
      return context.next;
  }
  return context.next;
}

Issuing IssuingOf(const knowledge::Operation& operation) {
  if (!operation.strategies.empty()) return Issuing::UnderStrategy;
  return operation.op_class == knowledge::OpClass::Implicit ? Issuing::InPassing : Issuing::Always;
}

SeqId Projector::ProjectOp(TraceId id, const Trace& trace, SeqId next) {
  const Operation& operation = state_.traces.operation(id);
  const knowledge::Operation& known = state_.traces.entry(id).operation;
  const bool is_p2p = known.op_class == knowledge::OpClass::Send || known.op_class == knowledge::OpClass::Recv ||
                      known.op_class == knowledge::OpClass::Batch;
  const bool waits = known.op_class == knowledge::OpClass::Exchange || known.op_class == knowledge::OpClass::Start || knowledge::IssuesNothing(known.op_class);
  if ((is_p2p && !view_.with_p2p) || (waits && !view_.with_waits) || IssuingOf(known) > view_.issuing) return next;
  Evaluator& evaluator = scene_.evaluator();
  const GroupIndex group = evaluator.Group(operation.group, view_.rank);
  if ((view_.groups >> group & 1u) == 0) return next;
  Item item{.kind = ItemKind::Op, .has_effect = true, .origin = id, .a = {}, .b = {}, .next = next};
  item.group = group;
  item.token = Token(static_cast<uint64_t>(ItemKind::Op), known.kind.index, group);
  const bool settled = IsSettled(id, trace);
  // Members of a group that is not known may be any: what they name and how much they send is not compared.
  const bool is_guess = evaluator.group(group).is_guess;
  const bool reads_root = !is_guess || IsAskedOfGroup(state_.values, operation.root, operation.group);
  if (operation.root && !settled && reads_root) {
    const Outcome root = evaluator.Evaluate(operation.root, view_.rank);
    if (root.kind == OutcomeKind::Number) item.root = root.number;
  }
  if (operation.count && !settled && !is_guess) {
    const Outcome count = evaluator.Evaluate(operation.count, view_.rank);
    if (count.kind == OutcomeKind::Number) item.count = count.number;
  }
  const auto word = [&](ValueId value) {
    const Outcome outcome = value && !settled ? evaluator.Evaluate(value, view_.rank) : Outcome{};
    if (outcome.kind != OutcomeKind::Thing) return ValueId::None();
    const variation::ValueKind kind = state_.values[outcome.thing].kind;
    const bool is_word = kind == variation::ValueKind::External || kind == variation::ValueKind::Str;
    return is_word ? outcome.thing : ValueId::None();
  };
  item.reduce_op = word(operation.reduce_op);
  item.dtype = word(operation.dtype);
  if (known.fixed_shape && !known.count_param && !settled && !is_guess) {
    item.count = ElementsOf(evaluator, operation.tensor, view_.rank);
    item.dtype = ElementTypeOf(evaluator, operation.tensor, view_.rank);
  }
  // Two elements of one type may be one of another: only counts of the same type are compared.
  if (known.dtype_param && !item.dtype) item.count.reset();
  // Of the two buffers of a gather the count beside this one says nothing. An operation that has one count for both means the other.
  if (known.other_dtype_param && state_.traces.IsInPlace(id)) {
    item.dtype = {};
    item.count.reset();
  }
  if (!settled && undecided_ == 0) CheckMember(id, evaluator.group(group), item);
  if (evaluator.group(group).members[view_.rank].empty()) return next;
  item.detail = DetailToken(item);
  return sequences_.Add(item);
}

void Projector::CheckMember(TraceId id, const GroupInfo& group, const Item& item) {
  const RankSet members = group.members[view_.rank];
  if (members.empty()) {
    // A handle that says "not a member" is destroyed without a word.
    const bool is_end = state_.traces.entry(id).operation.op_class == knowledge::OpClass::Destroy;
    if (group.has_known_ranks && !is_end) outsiders_.push_back({.op = id, .is_root = false});
    return;
  }
  if (!item.root || group.is_guess) return;
  const Operation& operation = state_.traces.operation(id);
  if (!state_.values.axes(operation.root).empty()) return;
  const int64_t root = *item.root;
  const bool in_world = root >= 0 && root < static_cast<int64_t>(scene_.world().size());
  if (state_.traces.operation(id).root_in_group) {
    if (group.has_known_ranks && root >= members.count()) outsiders_.push_back({.op = id, .is_root = true});
  } else if ((group.has_known_ranks || group.kind == variation::GroupKind::AxisGroup) && in_world &&
             !members.has(static_cast<uint32_t>(root))) {
    outsiders_.push_back({.op = id, .is_root = true});
  }
}

bool Projector::IsSettled(TraceId id, const Trace& trace) const {
  return (trace.flags & kSettled) != 0 || id == view_.agreed || settled_.contains(id.index);
}

bool Projector::IsOwn(ValueId value) const {
  if (!value || own_axes_.empty()) return false;
  return view_.by_presence ? AsksForPartOfBatch(state_.values, state_.knowledge, value) : state_.values.axes(value) == own_axes_;
}

SeqId Projector::ProjectChoice(TraceId id, const Trace& trace, const Context& context) {
  const bool settled = IsSettled(id, trace);
  // A settled choice further out leads both ways: inside each, what asks the same decides as it does.
  if (const std::optional<bool> taken = Assumed(trace)) {
    return Project(state_.traces.Kids(id)[*taken ? 0 : 1], context);
  }
  if (!view_.with_guesses && state_.guessed_classes.IsGuess(trace.value)) return Project(state_.traces.Kids(id)[1], context);
  if (!settled) {
    // How far a function calls itself is a matter of the size, as in a reduction by halves: a larger job only goes further.
    const Decision decision = scene_.Decide(trace.value, is_in_recursion_);
    if (decision.decided) {
      const bool taken = decision.truth.has(view_.rank);
      return ProjectArm(state_.traces.Kids(id)[taken ? 0 : 1], {trace.value, taken, true}, context);
    }
  }
  return Undecided(id, trace, context, !settled && IsOwn(trace.value));
}

// What a choice further out was taken to be holds inside it. A choice that a callee settled was compared there, whatever
// this rank is: what decides further out does not open it again.
std::optional<bool> Projector::Assumed(const Trace& choice) const {
  if (assumed_.empty()) return std::nullopt;
  const Question question = Asked(state_.values, choice.value);
  const bool is_callees = (choice.flags & kSettled) != 0;
  for (size_t i = assumed_.size(); i-- > 0;) {
    const Answer& answer = assumed_[i];
    if (answer.decided && is_callees) continue;
    if (answer.question.key == question.key) return answer.truth == question.truth;
    if (answer.truth && Excludes(state_.values, answer.question, question)) return !question.truth;
  }
  return std::nullopt;
}

SeqId Projector::ProjectArm(TraceId arm, const Way& way, const Context& context) {
  const size_t before = assumed_.size();
  Assume(way);
  const SeqId list = Project(arm, context);
  assumed_.resize(before);
  return list;
}

// All that follows from the way taken, as far as it is asked elsewhere. A way that the world decides is decided alike
// wherever it is asked, but for choices taken as agreed: in an arm that the rank is in for certain these lead one way, too.
void Projector::Assume(const Way& way) {
  const Question question = Asked(state_.values, way.condition);
  const bool is_asked = way.decided ? agreed_questions_.contains(question.key) : scene_.Recurs(question.key);
  const Answer answer{.question = question, .truth = question.truth == way.taken, .decided = way.decided};
  if (is_asked && std::ranges::none_of(assumed_, [&](const Answer& known) { return known.is(answer); })) assumed_.push_back(answer);
  const variation::ValueKind kind = state_.values[way.condition].kind;
  const bool splits = (kind == variation::ValueKind::And && way.taken) || (kind == variation::ValueKind::Or && !way.taken);
  if (!splits) return;
  for (const ValueId part : state_.values.Kids(way.condition)) Assume({part, way.taken, way.decided});
}

SeqId Projector::Undecided(TraceId id, const Trace& trace, const Context& context, bool own) {
  const TraceId then_trace = state_.traces.Kids(id)[0];
  const TraceId else_trace = state_.traces.Kids(id)[1];
  const uint16_t flags = state_.traces[then_trace].flags | state_.traces[else_trace].flags;
  // Without exits what follows stays behind the choice; with them each arm says itself what follows.
  const bool plain = (flags & kLeavesMask) == 0;
  Context arms = context;
  if (plain) arms.next = kNothing;
  ++undecided_;
  const SeqId first = ProjectArm(then_trace, {trace.value, true, false}, arms);
  const SeqId second = ProjectArm(else_trace, {trace.value, false, false}, arms);
  --undecided_;
  const SeqId tail = plain ? context.next : kNothing;
  // An exception that nobody catches ends the job: what counts is the other arm.
  if (sequences_.Raises(first)) return Unless(id, then_trace, sequences_.Append(second, tail), false);
  if (sequences_.Raises(second)) return Unless(id, else_trace, sequences_.Append(first, tail), true);
  if (sequences_.Same(first, second)) {
    if (sequences_[first].may_end == sequences_[second].may_end) return sequences_.Append(first, tail);
    return sequences_.Add({.kind = ItemKind::Alike, .has_effect = sequences_[first].has_effect, .origin = id, .a = first, .b = second, .next = tail});
  }
  if (own) Record(id, first, second);
  Item item{.kind = ItemKind::Choice, .has_effect = sequences_[first].has_effect || sequences_[second].has_effect,
            .origin = id, .a = first, .b = second, .next = tail};
  const uint64_t condition = Token(static_cast<uint64_t>(ItemKind::Choice), trace.value.index, 0);
  item.token = Token(condition, sequences_[first].hash, sequences_[second].hash);
  item.detail = Token(condition, sequences_[first].detail_hash, sequences_[second].detail_hash);
  return sequences_.Add(item);
}

// What is left of a choice one arm of which ends this rank. Where it may end this rank alone, that is noted: others may come
// to operations there.
SeqId Projector::Unless(TraceId id, TraceId raising, SeqId calm, bool calm_is_first) {
  const uint16_t flags = state_.traces[raising].flags;
  if ((flags & kVarying) == 0 || (flags & kHasOp) == 0 || sequences_.Raises(calm)) return calm;
  Item item{.kind = ItemKind::Unless, .has_effect = sequences_[calm].has_effect, .origin = id, .a = calm, .b = {},
            .next = kNothing};
  item.calm_is_first = calm_is_first;
  return sequences_.Add(item);
}

void Projector::Record(TraceId id, SeqId first, SeqId second) {
  const std::optional<Parting> parting = FirstDifference(sequences_, first, second);
  // Arms that issue the same, and of which one leaves the loop then and the other goes on with its next round.
  const auto leaves = [&](SeqId here, SeqId there) { return here != kNothing && sequences_[here].kind == ItemKind::Break && there == kNothing; };
  const bool by_exit = parting && (leaves(parting->first, parting->second) || leaves(parting->second, parting->first));
  const bool issues = sequences_[first].has_effect || sequences_[second].has_effect;
  own_decisions_.push_back({.node = id, .first = first, .second = second, .needs_loop = !issues || by_exit, .handler = 0});
}

bool Projector::EndsInExit(SeqId list) const {
  SeqId last = list;
  while (last != kNothing && sequences_[last].next != kNothing) last = sequences_[last].next;
  return last != kNothing && (sequences_[last].kind == ItemKind::Break || sequences_[last].kind == ItemKind::Leave);
}

// An exit that leads out of a loop, seen from inside it.
SeqId Projector::LeaveLoop(SeqId target, const Context& outer) {
  if (target == kRaised) return kRaised;
  const uint64_t break_token = Token(static_cast<uint64_t>(ItemKind::Break), 0, 0);
  if (sequences_.Same(target, outer.next)) {
    return sequences_.Add({.kind = ItemKind::Break, .has_effect = false, .origin = {}, .a = {}, .b = {},
                           .next = kNothing, .token = break_token, .detail = break_token});
  }
  const uint64_t token = Token(static_cast<uint64_t>(ItemKind::Leave), sequences_[target].hash, 0);
  const uint64_t detail = Token(static_cast<uint64_t>(ItemKind::Leave), sequences_[target].detail_hash, 0);
  return sequences_.Add({.kind = ItemKind::Leave, .has_effect = true, .origin = {}, .a = target, .b = {},
                         .next = kNothing, .token = token, .detail = detail});
}

SeqId Projector::ProjectLoop(TraceId id, const Trace& trace, const Context& context) {
  const bool settled = IsSettled(id, trace);
  std::optional<int64_t> trips;
  if (!settled) trips = scene_.Trips(trace, view_.rank);
  if (trips && *trips <= 0) return context.next;
  Context inner{.next = kNothing, .returned = LeaveLoop(context.returned, context),
                .broken = LeaveLoop(context.next, context), .continued = kNothing,
                .raised = LeaveLoop(context.raised, context), .ended = LeaveLoop(context.ended, context)};
  const size_t recorded = own_decisions_.size();
  SeqId body = Project(state_.traces.Kids(id)[0], inner);
  if (sequences_.Raises(body)) return kRaised;
  if (trace.value == state_.values.True()) body = WithoutIdleRounds(body, recorded);
  if (!sequences_[body].has_effect) {
    // A loop that issues nothing may run and end as it likes.
    own_decisions_.resize(recorded);
    if (!sequences_[body].may_end) return context.next;
    return sequences_.Add({.kind = ItemKind::Unless, .origin = id, .a = kNothing, .b = body, .next = context.next});
  }
  for (size_t i = recorded; i < own_decisions_.size(); ++i) {
    OwnDecision& decision = own_decisions_[i];
    if (!decision.needs_loop) continue;
    // The arm that stays goes on with the next round.
    decision.needs_loop = false;
    const bool issues = sequences_[decision.first].has_effect || sequences_[decision.second].has_effect;
    const bool first_breaks = issues ? EndsInExit(decision.first) : decision.first != kNothing;
    SeqId& staying = first_breaks ? decision.second : decision.first;
    staying = issues ? sequences_.Append(staying, body) : body;
  }
  if (!settled && IsOwn(trace.value) && !trips) own_decisions_.push_back({.node = id, .first = body, .second = kNothing, .needs_loop = false, .handler = 0});
  if (const std::optional<SeqId> once = sequences_.ReplaceExit(body, context.next)) return *once;
  // One round is what it issues, however many other ranks have.
  const bool follows_messages = view_.with_p2p || view_.with_waits;
  if (trips && *trips == 1 && !follows_messages && sequences_.IsPlain(body)) return sequences_.Append(body, context.next);
  // Who follows messages reads the rounds one by one: each may be about another peer.
  if (trips && !view_.with_waits && IsWrittenOut(trace, *trips, body)) {
    SeqId rounds = context.next;
    for (int64_t i = 0; i < *trips; ++i) rounds = sequences_.Append(body, rounds);
    return rounds;
  }
  return LoopItem(id, trace, body, trips, context.next);
}

// A few rounds, as many on all ranks, are the same as what they issue written one after the other.
bool Projector::IsWrittenOut(const Trace& trace, int64_t trips, SeqId body) const {
  constexpr int64_t kMostRounds = 8;
  constexpr uint64_t kLongest = 8;
  const bool alike = state_.values.axes(trace.value).empty();
  return alike && trips <= kMostRounds && sequences_[body].length <= kLongest && sequences_.IsPlain(body);
}

// `while True: if not ready: continue; broadcast()`: a rank that has nothing yet asks again and gets there later, the others
// wait for it. Rounds that issue nothing do not tell ranks apart, unless the batches of a rank are counted by them.
SeqId Projector::WithoutIdleRounds(SeqId body, size_t recorded) {
  for (;;) {
    const Item& item = sequences_[body];
    const bool may_idle = item.kind == ItemKind::Choice && item.next == kNothing && (item.a == kNothing || item.b == kNothing);
    if (!may_idle || state_.values.axes(state_.traces[item.origin].value).has(knowledge::Axis::Data)) return body;
    const TraceId node = item.origin;
    body = item.a == kNothing ? item.b : item.a;
    const auto begin = own_decisions_.begin() + static_cast<ptrdiff_t>(recorded);
    own_decisions_.erase(std::remove_if(begin, own_decisions_.end(), [&](const OwnDecision& own) { return own.node == node; }),
                         own_decisions_.end());
  }
}

SeqId Projector::LoopItem(TraceId id, const Trace& trace, SeqId body, std::optional<int64_t> trips, SeqId next) {
  // A count that varies and is not known here is looked at by itself.
  const bool alike = !trace.value || state_.values.axes(trace.value).empty();
  const uint64_t count = trips ? static_cast<uint64_t>(*trips) : alike ? trace.value.index : 0;
  const uint64_t rounds = Token(static_cast<uint64_t>(ItemKind::Loop), trips ? 1 : 0, count);
  return sequences_.Add(LoopOf(sequences_, id, rounds, body, next));
}

SeqId Projector::ProjectScope(TraceId id, const Trace& trace, const Context& context) {
  const bool outer = std::exchange(is_in_recursion_, IsRecursive(FuncId{trace.payload}));
  const SeqId list = ProjectCall(id, trace, context);
  is_in_recursion_ = outer;
  return list;
}

SeqId Projector::ProjectCall(TraceId id, const Trace& trace, const Context& context) {
  const TraceId body = state_.traces.Kids(id)[0];
  Context inner{.next = kNothing, .returned = kNothing, .broken = kNothing, .continued = kNothing,
                .raised = context.raised, .ended = context.ended};
  const bool raises = (trace.flags & kLeavesRaise) != 0 && context.raised != kRaised;
  if ((trace.flags & kLeavesProcess) != 0 || raises) {
    inner.next = inner.returned = context.next;
    return Project(body, inner);
  }
  auto& known = KnownCalls(body);
  if (const SeqId* list = known.Find(body.index)) return sequences_.Append(*list, context.next);
  const SeqId list = CallsItself(body, trace.payload) ? ProjectRecursive(body, trace.payload, inner) : Project(body, inner);
  known.Add(body.index, list);
  return sequences_.Append(list, context.next);
}

bool Projector::IsRecursive(FuncId func) {
  const TraceId trace = TraceOf(state_, func);
  return trace && CallsItself(trace, func.index);
}

// A function that issues nothing of what is looked at issues nothing by calling itself either: it hands the group on. That is
// only asked of one whose list names no operation: else each circle would be projected anew for each function of it.
SeqId Projector::ProjectRecursive(TraceId body, uint32_t func, const Context& inner) {
  const size_t decisions = own_decisions_.size();
  const size_t outsiders = outsiders_.size();
  const SeqId list = Project(body, inner);
  if (!silent_.empty() || !sequences_[list].has_effect || sequences_.FirstOp(list) != kNothing) return list;
  std::vector<OwnDecision> decided(own_decisions_.begin() + static_cast<ptrdiff_t>(decisions), own_decisions_.end());
  std::vector<Outsider> outside(outsiders_.begin() + static_cast<ptrdiff_t>(outsiders), outsiders_.end());
  own_decisions_.resize(decisions);
  outsiders_.resize(outsiders);
  silent_.insert(func);
  const SeqId silent = Project(body, inner);
  silent_.clear();
  silent_calls_ = {};
  if (!sequences_[silent].has_effect) return silent;
  own_decisions_.resize(decisions);
  own_decisions_.insert(own_decisions_.end(), decided.begin(), decided.end());
  outsiders_.resize(outsiders);
  outsiders_.insert(outsiders_.end(), outside.begin(), outside.end());
  return list;
}

bool Projector::CallsItself(TraceId body, uint32_t func) {
  if ((state_.traces[body].flags & kHasRec) == 0) return false;
  const uint64_t key = (uint64_t{body.index} << 32) | func;
  if (const auto known = state_.calls_itself.find(key); known != state_.calls_itself.end()) return known->second;
  std::unordered_set<uint32_t> seen = {body.index};
  std::vector<TraceId> work = {body};
  bool found = false;
  while (!work.empty() && !found) {
    const TraceId id = work.back();
    work.pop_back();
    found = state_.traces[id].kind == TraceKind::Rec && state_.traces[id].payload == func;
    for (const TraceId kid : state_.traces.Kids(id)) {
      const bool may_hold_it = (state_.traces[kid].flags & kHasRec) != 0;
      if (may_hold_it && seen.insert(kid.index).second) work.push_back(kid);
    }
  }
  return state_.calls_itself[key] = found;
}

SequenceStore::Lists& Projector::CallsSeenBy(uint32_t rank, TraceId body, uint64_t assumed) {
  return sequences_.Calls({.rank = rank, .groups = view_.groups, .issuing = static_cast<uint8_t>(view_.issuing), .with_p2p = view_.with_p2p,
                           .with_waits = view_.with_waits, .assumed = assumed, .settings = scene_.SettingsOf(body)});
}

// A hash of what choices around were taken to be, as far as choices in `body` ask for it.
uint64_t Projector::AssumedOf(TraceId body) const {
  if (assumed_.empty()) return 0;
  const QuestionSet asked = state_.traces.QuestionsIn(body);
  uint64_t hash = 0;
  for (const Answer& answer : assumed_) {
    if (asked.MayAsk(answer.question)) hash ^= Token(answer.question.key, answer.truth ? 1 : 0, answer.decided ? 1 : 0);
  }
  return hash;
}

// Lists of calls that were projected before, by this projection or by others whom they look the same to.
SequenceStore::Lists& Projector::KnownCalls(TraceId body) {
  if (!silent_.empty()) return silent_calls_;
  const uint64_t assumed = AssumedOf(body);
  constexpr uint32_t kAnyRank = kMostRanks;
  // What nothing varies in is the same for every rank that looks at the same groups.
  if ((state_.traces[body].flags & kVarying) == 0) return CallsSeenBy(kAnyRank, body, assumed);
  // Each rank's own decisions are noted on the way, so the way has to be gone.
  const bool notes_decisions = !own_axes_.empty() || handlers_of_;
  const bool holds_agreed = view_.agreed && FindAroundAgreed(body);
  if (notes_decisions || holds_agreed) return own_calls_[assumed];
  return CallsSeenBy(view_.rank, body, assumed);
}

SeqId Projector::ProjectTry(TraceId id, const Trace& trace, const Context& context) {
  const std::vector<TraceId> kids(state_.traces.Kids(id).begin(), state_.traces.Kids(id).end());
  Context through = context;
  // `finally` runs on every way out.
  if (kids[kTryFinally] != state_.traces.Empty()) {
    const auto last = [&](SeqId then) {
      Context inner = context;
      inner.next = then;
      return Project(kids[kTryFinally], inner);
    };
    through.next = last(context.next);
    if ((trace.flags & kLeavesReturn) != 0) through.returned = last(context.returned);
    if ((trace.flags & kLeavesBreak) != 0) through.broken = last(context.broken);
    if ((trace.flags & kLeavesContinue) != 0) through.continued = last(context.continued);
    if ((trace.flags & kLeavesRaise) != 0 && context.raised != kRaised) through.raised = last(context.raised);
  }
  Context body = through;
  // What `else` raises is not for these handlers.
  body.next = Project(kids[kTryElse], through);
  const TryInfo& info = state_.traces.try_info(id);
  const bool may_raise = (state_.traces[kids[kTryBody]].flags & kLeavesRaise) != 0;
  for (size_t i = 0; i < info.handlers.size() && may_raise; ++i) {
    const bool is_last = i + 1 == info.handlers.size();
    if (info.handlers[i].breadth != Breadth::Broad && !is_last) continue;
    const SeqId handled = Project(kids[kTryHandlers + i], through);
    body.raised = IsAgreedOn(info.handlers[i], handled) ? kRaised : handled;
    break;
  }
  const SeqId result = Project(kids[kTryBody], body);
  const bool looked_at = (trace.flags & kHasTry) != 0 && !IsSettled(id, trace);
  if (looked_at && state_.traces.site(trace.site).function == handlers_of_) RecordHandlers(id, result, through);
  return result;
}

// `ok = False` in a handler, and the next operation tells all ranks of it: what follows is up to all of them.
bool Projector::IsAgreedOn(const HandlerInfo& handler, SeqId handled) const {
  if (!handler.failed || sequences_.Raises(handled)) return false;
  const SeqId first = sequences_.FirstOp(handled);
  if (first == kNothing) return false;
  const ValueId told = state_.traces.operation(sequences_[first].origin).tensor;
  return told && IsMadeOf(state_.values, told, handler.failed);
}

// An exception strikes one rank: it goes on with the handler, the others with the body.
void Projector::RecordHandlers(TraceId id, SeqId body, const Context& through) {
  const TryInfo& info = state_.traces.try_info(id);
  // Who raises and who does not is said in the body, and nothing else in it fails.
  const bool is_said = (state_.traces[state_.traces.Kids(id)[kTryBody]].flags & kLeavesRaise) != 0 && !info.fallible;
  if (is_said) return;
  // Where the body must not come to its end, all ranks are meant to fail in it.
  if (sequences_.Raises(body)) return;
  Context handler = through;
  // A handler that ends the process or raises again stops the job.
  handler.ended = handler.raised = kRaised;
  for (uint32_t i = 0; i < info.handlers.size(); ++i) {
    if (info.handlers[i].breadth == Breadth::Uniform) continue;
    const SeqId handled = Project(state_.traces.Kids(id)[kTryHandlers + i], handler);
    // Work that fails after the last operation of the body skips nothing of it.
    const SeqId others = info.fallible && !info.fallible_before_op ? through.next : body;
    if (sequences_.Raises(handled) || sequences_.Same(handled, others)) continue;
    if (IsAgreedOn(info.handlers[i], handled)) continue;
    const bool issues = sequences_[handled].has_effect || sequences_[others].has_effect;
    own_decisions_.push_back({.node = id, .first = others, .second = handled, .needs_loop = !issues, .handler = i});
    return;
  }
}

}  // namespace allranks::traces
