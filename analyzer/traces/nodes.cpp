// One walk over a trace that gathers what its comparison needs: the nodes at which ranks may part, the innermost first, and
// what their conditions mention.
#include "analyzer/traces/nodes.h"

#include <algorithm>
#include <unordered_map>

#include "analyzer/traces/conditions.h"
#include "analyzer/traces/difference.h"
#include "analyzer/traces/point_to_point.h"
#include "analyzer/traces/sequence.h"

namespace allranks::traces {
namespace {

class Collector {
 public:
  Collector(const State& state, VaryingNodes* nodes)
      : state_(state), traces_(state.traces), nodes_(nodes), mentions_(state.values, &nodes->mentions) {}

  void Visit(TraceId id) {
    if (!seen_.insert(id.index).second) return;
    const Trace& trace = traces_[id];
    if ((trace.flags & (kHasOp | kLeavesMask | kHasTry)) == 0) return;
    const bool is_caught = trace.kind == TraceKind::Try && !traces_.try_info(id).handlers.empty();
    const size_t ops_before = nodes_->ops.size();
    for (size_t i = 0; i < traces_.Kids(id).size(); ++i) {
      const int in_body = is_caught && i == kTryBody ? 1 : 0;
      caught_ += in_body;
      Visit(traces_.Kids(id)[i]);
      caught_ -= in_body;
    }
    switch (trace.kind) {
      case TraceKind::Op:
        VisitOp(id, trace);
        break;
      case TraceKind::Choice:
      case TraceKind::Loop:
        if (trace.kind == TraceKind::Loop) NoteSenders(id, trace);
        if ((trace.flags & kSettled) != 0) break;
        nodes_->deciding.push_back(id);
        if (trace.kind == TraceKind::Choice) NoteChoice(id, trace, ops_before);
        if (trace.kind == TraceKind::Choice) NoteMade(trace.value);
        if (trace.kind == TraceKind::Choice) mentions_.CollectSizes(trace.value);
        if (trace.kind == TraceKind::Choice) NotePresence(trace.value);
        nodes_->has_guesses = nodes_->has_guesses || state_.guessed_classes.IsGuess(trace.value);
        if (NodeAxes(state_, id).empty()) break;
        nodes_->choices.push_back(id);
        mentions_.Collect(trace.value);
        break;
      case TraceKind::Try:
        nodes_->has_handlers = nodes_->has_handlers || (traces_.try_info(id).handlers.size() > 0);
        break;
      default:
        break;
    }
  }

 private:
  // `for (i = 0; i < 3; ++i) MPI_Recv(..., MPI_ANY_SOURCE, ...)`: written for a job in which three others send.
  void NoteSenders(TraceId loop, const Trace& trace) {
    if (!trace.value) return;
    const variation::Value& rounds = state_.values[trace.value];
    const std::optional<uint32_t> count = rounds.count();
    const bool is_count = count && *count > 1 && *count < kMostRanks;
    if (is_count && ReceivesFromAnyone(loop)) nodes_->mentions.named |= RankSet::All(*count + 1).bits;
  }

  bool ReceivesFromAnyone(TraceId loop) const {
    return std::ranges::any_of(nodes_->ops, [&](TraceId op) {
      const ValueId peer = traces_.operation(op).peer;
      if (!peer || traces_.entry(op).operation.op_class != knowledge::OpClass::Recv) return false;
      return IsAnyone(state_.values[peer]) && Contains(traces_, loop, op);
    });
  }

  static bool IsAnyone(const variation::Value& peer) {
    return peer.kind == variation::ValueKind::Int && *peer.integer() == kAnyPeer;
  }

  void NoteChoice(TraceId id, const Trace& trace, size_t ops_before) {
    NoteAsked(trace.value);
    const bool then_ends = Ends(traces_.Kids(id)[0]);
    if (then_ends == Ends(traces_.Kids(id)[1])) return;
    NoteSizes(trace.value, !then_ends);
    // `barrier()` and then `if world_size > 2: return`: jobs of other sizes have communicated by then.
    const auto communicates = [&](TraceId op) { return traces_.entry(op).operation.op_class != knowledge::OpClass::Init; };
    const bool is_refused = (traces_[traces_.Kids(id)[then_ends ? 0 : 1]].flags & kLeavesRaise) != 0;
    const bool is_after = !is_refused && std::any_of(nodes_->ops.begin(), nodes_->ops.begin() + static_cast<ptrdiff_t>(ops_before), communicates);
    nodes_->mentions.runs_on_all = nodes_->mentions.runs_on_all || is_after;
  }

  // An arm that only leaves: `if world_size != 4: exit()`.
  bool Ends(TraceId arm) const {
    const uint16_t ends = static_cast<uint16_t>(kLeavesReturn | kLeavesProcess | (caught_ > 0 ? 0 : kLeavesRaise));
    return (traces_[arm].flags & ends) != 0 && (traces_[arm].flags & kHasOp) == 0;
  }

  // The program goes on where `condition` is `wanted`. Only one that the size of the job decides counts.
  void NoteSizes(ValueId condition, bool wanted) {
    if (!IsOfSizeAlone(condition)) return;
    uint64_t sizes = 0;
    for (uint32_t size = 1; size <= kMostRanks; ++size) {
      const World world{.nodes = 1, .per_node = size, .mesh = {}};
      const Assignment nothing;
      const std::optional<bool> truth = Evaluator(state_.values, state_.knowledge, world, nothing).Truth(condition, 0);
      if (!truth) return;
      if (*truth == wanted) sizes |= uint64_t{1} << (size - 1);
    }
    const uint64_t left = nodes_->mentions.sizes & sizes;
    if ((left >> 1) != 0) nodes_->mentions.sizes = left;
  }

  bool IsOfSizeAlone(ValueId condition) const {
    return state_.values.axes(condition).empty() && traces_.conditions().AsksForSize(condition) && IsPredicate(state_.values, condition);
  }

  void NotePresence(ValueId condition) {
    nodes_->has_presence_tests = nodes_->has_presence_tests || AsksForPartOfBatch(state_.values, state_.knowledge, condition);
  }

  void NoteAsked(ValueId condition) {
    const Question question = Asked(state_.values, condition);
    if (!asked_.insert(question.key).second) nodes_->recurring.insert(question.key);
    if (question.subject) NoteSubject(question);
    const variation::ValueKind kind = state_.values[condition].kind;
    if (kind != variation::ValueKind::And && kind != variation::ValueKind::Or) return;
    for (const ValueId part : state_.values.Kids(condition)) NoteAsked(part);
  }

  // `mode == "a"` here and `mode == "b"` there: each answers the other.
  void NoteSubject(const Question& question) {
    const auto [first, is_new] = subjects_.try_emplace(question.subject.index, question);
    if (is_new || first->second.key == question.key) return;
    nodes_->recurring.insert(first->second.key);
    nodes_->recurring.insert(question.key);
  }

  void NoteMade(ValueId condition) {
    if (!state_.traces.conditions().AsksForMade(condition) || !noted_.insert(condition.index).second) return;
    if (IsMade(state_.values, condition)) {
      if (std::ranges::find(nodes_->made, condition) == nodes_->made.end()) nodes_->made.push_back(condition);
      return;
    }
    for (const ValueId kid : state_.values.Kids(condition)) NoteMade(kid);
  }

  void VisitOp(TraceId id, const Trace& trace) {
    nodes_->ops.push_back(id);
    const Operation& operation = traces_.operation(id);
    mentions_.Collect(operation.group);
    if ((trace.flags & kVarying) == 0) return;
    nodes_->ops_vary = true;
    for (const ValueId value : {operation.root, operation.peer, operation.reduce_op, operation.dtype, operation.count,
                                operation.members}) {
      mentions_.Collect(value);
    }
    if (traces_.entry(id).operation.fixed_shape) mentions_.Collect(operation.tensor);
  }

  const State& state_;
  const TraceStore& traces_;
  VaryingNodes* nodes_;
  MentionCollector mentions_;
  std::unordered_set<uint32_t> seen_;
  std::unordered_set<uint64_t> asked_;
  std::unordered_map<uint32_t, Question> subjects_;   // the first that asks of it
  std::unordered_set<uint32_t> noted_;
  int caught_ = 0;   // `try` statements around that handle what is raised
};

class Settler {
 public:
  Settler(State& state, const std::unordered_set<uint32_t>& reported, bool agreed)
      : state_(state), reported_(reported), agreed_(agreed) {}

  TraceId Run(TraceId id) {
    const Trace trace = state_.traces[id];
    if ((trace.flags & (kVarying | kHasTry | kOpenParams)) == 0) return id;
    if (const auto found = memo_.find(id.index); found != memo_.end()) return found->second;
    std::vector<TraceId> kids(state_.traces.Kids(id).begin(), state_.traces.Kids(id).end());
    for (TraceId& kid : kids) kid = Run(kid);
    const TraceId result = state_.traces.Rebuild(id, trace.value, kids, IsSettled(id, trace));
    memo_.emplace(id.index, result);
    return result;
  }

 private:
  bool IsSettled(TraceId id, const Trace& trace) const {
    if (reported_.contains(id.index)) return true;
    // What a caller passes, or made before, can still decide otherwise; an exit of the process or a raise reaches into the caller.
    constexpr uint16_t kReachesOut = kOpenParams | kLeavesProcess | kLeavesRaise | kHasYield | kKeeps;
    if (trace.kind == TraceKind::Try) return agreed_;
    return agreed_ && (trace.flags & kReachesOut) == 0;
  }

  State& state_;
  const std::unordered_set<uint32_t>& reported_;
  bool agreed_;
  std::unordered_map<uint32_t, TraceId> memo_;
};

}  // namespace

OperationsIn::OperationsIn(const TraceStore& traces, TraceId root) {
  std::unordered_set<uint32_t> seen;
  std::vector<TraceId> work = {root};
  while (!work.empty()) {
    const TraceId id = work.back();
    work.pop_back();
    const Trace& trace = traces[id];
    if ((trace.flags & kHasOp) == 0 || !seen.insert(id.index).second) continue;
    has_unfollowed = has_unfollowed || trace.kind == TraceKind::Opaque || trace.kind == TraceKind::Rec;
    if (trace.kind == TraceKind::Op) {
      sites.insert(trace.site.index);
      joins_job = joins_job || traces.entry(id).operation.op_class == knowledge::OpClass::Init;
    }
    for (const TraceId kid : traces.Kids(id)) work.push_back(kid);
  }
}

knowledge::Axes NodeAxes(const State& state, TraceId node) {
  const ValueId value = state.traces[node].value;
  return value ? state.values.axes(value) : knowledge::Axes{};
}

VaryingNodes CollectVarying(const State& state, TraceId root) {
  VaryingNodes nodes;
  nodes.mentions.job = state.facts.job;
  Collector(state, &nodes).Visit(root);
  const ir::ModuleId module = state.at_work ? state.program.funcs[state.at_work].module : ir::ModuleId::None();
  if (module && nodes.mentions.nodes && nodes.mentions.job.nodes == 0 && state.job_sizes.IsOnOneNode(module)) nodes.mentions.job.nodes = 1;
  if (module && !nodes.mentions.axes.empty()) nodes.mentions.meshes = state.meshes.With(nodes.mentions.axes, module);
  const bool is_started_here = nodes.mentions.is_started_here || (module && state.job_sizes.IsOnOneNode(module));
  const uint32_t started = module && is_started_here ? state.job_sizes.StartedWith(module) : 0;
  const uint64_t of_started = started > 1 && started <= kMostRanks ? uint64_t{1} << (started - 1) : 0;
  if ((nodes.mentions.sizes & of_started) != 0) nodes.mentions.sizes = of_started;
  std::ranges::stable_sort(nodes.choices, {}, [&](TraceId id) { return state.traces[id].height; });
  return nodes;
}

TraceId WithoutGradients(TraceStore& traces, const knowledge::Knowledge& knowledge, TraceId id) {
  const Trace trace = traces[id];
  if ((trace.flags & kHasOp) == 0) return id;
  if (trace.kind == TraceKind::Op) {
    const base::NameId kind = traces.entry(id).operation.kind;
    return knowledge.names().View(kind) == "gradient_reduction" ? traces.Empty() : id;
  }
  std::vector<TraceId> kids(traces.Kids(id).begin(), traces.Kids(id).end());
  if (kids.empty()) return id;
  for (TraceId& kid : kids) kid = WithoutGradients(traces, knowledge, kid);
  return traces.Rebuild(id, trace.value, kids, false);
}

// Whether something is issued there that no framework issues by itself.
static bool IssuesByItself(const TraceStore& traces, TraceId from) {
  std::unordered_set<uint32_t> seen = {from.index};
  std::vector<TraceId> work = {from};
  while (!work.empty()) {
    const TraceId id = work.back();
    work.pop_back();
    if (traces[id].kind == TraceKind::Op && traces.entry(id).operation.op_class != knowledge::OpClass::Implicit) return true;
    for (const TraceId kid : traces.Kids(id)) {
      if (seen.insert(kid.index).second) work.push_back(kid);
    }
  }
  return false;
}

TraceId SettleImplicitLoops(State& state, TraceId trace) {
  std::unordered_set<uint32_t> loops;
  std::unordered_set<uint32_t> seen = {trace.index};
  std::vector<TraceId> work = {trace};
  while (!work.empty()) {
    const TraceId id = work.back();
    work.pop_back();
    if (state.traces[id].kind == TraceKind::Loop && !IssuesByItself(state.traces, id)) loops.insert(id.index);
    for (const TraceId kid : state.traces.Kids(id)) {
      if (seen.insert(kid.index).second) work.push_back(kid);
    }
  }
  return Settle(state, trace, loops, false);
}

TraceId Settle(State& state, TraceId trace, const std::unordered_set<uint32_t>& reported, bool agreed) {
  return Settler(state, reported, agreed).Run(trace);
}

}  // namespace allranks::traces
