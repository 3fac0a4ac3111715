#include "analyzer/traces/nodes.h"

#include <algorithm>

namespace allranks::traces {
namespace {

class Collector {
 public:
  Collector(const State& state, VaryingNodes* nodes) : state_(state), traces_(state.traces), nodes_(nodes) {}

  void Visit(TraceId id) {
    if (!seen_.insert(id.index).second) return;
    const Trace& trace = traces_[id];
    if ((trace.flags & (kHasOp | kLeavesMask | kHasTry)) == 0) return;
    for (const TraceId kid : traces_.Kids(id)) Visit(kid);
    switch (trace.kind) {
      case TraceKind::Op:
        VisitOp(id, trace);
        break;
      case TraceKind::Choice:
      case TraceKind::Loop:
        if ((trace.flags & kSettled) != 0) break;
        nodes_->deciding.push_back(id);
        if (trace.kind == TraceKind::Choice) NoteAsked(trace.value);
        if (NodeAxes(state_, id).empty()) break;
        nodes_->choices.push_back(id);
        Collect(state_.values, trace.value, &nodes_->mentions);
        break;
      case TraceKind::Try:
        nodes_->has_handlers = nodes_->has_handlers || (traces_.try_info(id).handlers.size() > 0);
        break;
      default:
        break;
    }
  }

 private:
  void NoteAsked(ValueId condition) {
    bool truth = true;
    const ValueId asked = Asked(state_.values, condition, &truth);
    if (!asked_.insert(asked.index).second) nodes_->recurring.insert(asked.index);
  }

  void VisitOp(TraceId id, const Trace& trace) {
    nodes_->ops.push_back(id);
    const Operation& operation = traces_.operation(id);
    Collect(state_.values, operation.group, &nodes_->mentions);
    if ((trace.flags & kVarying) == 0) return;
    nodes_->ops_vary = true;
    for (const ValueId value : {operation.root, operation.peer, operation.reduce_op, operation.dtype, operation.count}) {
      Collect(state_.values, value, &nodes_->mentions);
    }
  }

  const State& state_;
  const TraceStore& traces_;
  VaryingNodes* nodes_;
  std::unordered_set<uint32_t> seen_;
  std::unordered_set<uint32_t> asked_;
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
    // What a caller passes can still decide otherwise; an exit of the process or a raise reaches into the caller.
    constexpr uint16_t kReachesOut = kOpenParams | kLeavesProcess | kLeavesRaise | kHasYield;
    if (trace.kind == TraceKind::Try) return agreed_;
    return agreed_ && (trace.flags & kReachesOut) == 0;
  }

  State& state_;
  const std::unordered_set<uint32_t>& reported_;
  bool agreed_;
  std::unordered_map<uint32_t, TraceId> memo_;
};

}  // namespace

knowledge::Axes NodeAxes(const State& state, TraceId node) {
  const ValueId value = state.traces[node].value;
  return value ? state.values.axes(value) : knowledge::Axes{};
}

ValueId Asked(const variation::ValueStore& values, ValueId condition, bool* truth) {
  while (values[condition].kind == variation::ValueKind::Unary &&
         static_cast<ir::UnaryOp>(values[condition].op) == ir::UnaryOp::Not) {
    condition = values.Kids(condition)[0];
    *truth = !*truth;
  }
  return condition;
}

VaryingNodes CollectVarying(const State& state, TraceId root) {
  VaryingNodes nodes;
  nodes.mentions.job = state.facts.job;
  Collector(state, &nodes).Visit(root);
  std::ranges::stable_sort(nodes.choices, {}, [&](TraceId id) { return state.traces[id].height; });
  return nodes;
}

TraceId SettleLoops(State& state, TraceId trace) {
  std::unordered_set<uint32_t> loops;
  std::unordered_set<uint32_t> seen = {trace.index};
  std::vector<TraceId> work = {trace};
  while (!work.empty()) {
    const TraceId id = work.back();
    work.pop_back();
    if (state.traces[id].kind == TraceKind::Loop) loops.insert(id.index);
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
