#include "analyzer/traces/recursion.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/traces/conditions.h"

namespace allranks::traces {
namespace {

using variation::ValueKind;

// Calls of all functions of a cycle, and how many of them one within the other.
constexpr size_t kMostCalls = 64;
constexpr uint32_t kDeepestCall = 32;

// `trace` with each recursive call in it replaced by what `of_call` makes of it.
template <class OfCall>
class Rewriter {
 public:
  Rewriter(TraceStore& traces, OfCall of_call) : traces_(traces), of_call_(std::move(of_call)) {}

  TraceId Run(TraceId id) {
    const Trace trace = traces_[id];
    if ((trace.flags & kHasRec) == 0) return id;
    if (trace.kind == TraceKind::Rec) return of_call_(id);
    if (const auto known = known_.find(id.index); known != known_.end()) return known->second;
    std::vector<TraceId> kids(traces_.Kids(id).begin(), traces_.Kids(id).end());
    for (TraceId& kid : kids) kid = Run(kid);
    const TraceId result = traces_.Rebuild(id, trace.value, kids, false);
    known_.emplace(id.index, result);
    return result;
  }

 private:
  TraceStore& traces_;
  OfCall of_call_;
  std::unordered_map<uint32_t, TraceId> known_;
};

// Which parameters of a function decide what its trace comes to.
class DecidingParams {
 public:
  DecidingParams(const State& state, FuncId func) : state_(state), func_(func) {}

  // By parameter, up to the last one that does.
  std::vector<bool> In(TraceId trace) {
    Visit(trace);
    // What becomes a parameter that decides something decides as much.
    for (bool grows = true; grows;) {
      grows = false;
      for (const ValueId call : calls_) {
        const auto args = state_.values.Kids(call);
        for (size_t i = 0; i < args.size(); ++i) {
          if (i < deciding_.size() && deciding_[i]) grows = Note(args[i]) || grows;
        }
      }
    }
    return std::move(deciding_);
  }

 private:
  void Visit(TraceId id) {
    if (!seen_.insert(id.index).second) return;
    const Trace& trace = state_.traces[id];
    if ((trace.flags & (kOpenParams | kHasRec)) == 0) return;
    switch (trace.kind) {
      case TraceKind::Op: {
        const Operation& op = state_.traces.operation(id);
        for (const ValueId value : {op.group, op.root, op.reduce_op, op.tensor, op.peer, op.dtype, op.other_dtype, op.count, op.members, op.tag,
                                    op.from, op.from_tag, op.handle}) {
          Note(value);
        }
        break;
      }
      case TraceKind::Call:
        Note(trace.value);
        for (const ValueId arg : state_.traces.Args(id)) Note(arg);
        break;
      case TraceKind::Rec:
        if (FuncId{trace.payload} == func_ && trace.value) calls_.push_back(trace.value);
        else Note(trace.value);
        break;
      default:
        Note(trace.value);
        break;
    }
    for (const TraceId kid : state_.traces.Kids(id)) Visit(kid);
  }

  // All parameters of the function in a value; whether one of them is new.
  bool Note(ValueId value) {
    if (!value || !state_.values.has_param(value) || !looked_at_.insert(value.index).second) return false;
    const variation::Value& seen = state_.values[value];
    bool is_new = seen.kind == ValueKind::Param && seen.function() == func_;
    if (is_new) {
      deciding_.resize(std::max<size_t>(deciding_.size(), seen.param_index() + 1));
      deciding_[seen.param_index()] = true;
    }
    for (const ValueId kid : state_.values.Kids(value)) is_new = Note(kid) || is_new;
    return is_new;
  }

  const State& state_;
  FuncId func_;
  std::vector<bool> deciding_;
  std::vector<ValueId> calls_;   // the arguments of each recursive call
  std::unordered_set<uint32_t> seen_;
  std::unordered_set<uint32_t> looked_at_;
};

// The calls of functions of a cycle that one call of another function leads to, the outer ones first.
class Unroller {
 public:
  Unroller(State& state, const Binding& binding) : state_(state), binding_(binding) {
    calls_.push_back({.func = binding.func, .args = binding.args, .depth = 0, .around = 0, .body = {}});
  }

  TraceId Run(TraceId body) {
    calls_[0].body = body;
    for (size_t i = 0; i < calls_.size(); ++i) {
      std::unordered_set<uint32_t> seen;
      FollowIn(calls_[i].body, i, &seen);
    }
    return calls_.size() == 1 ? body : Assembled(0);
  }

 private:
  struct Call {
    FuncId func;
    std::vector<ValueId> args;
    uint32_t depth;
    size_t around;      // the call in which it stands
    TraceId body;
    bool is_assembled = false;
    TraceId whole = {};
  };

  void FollowIn(TraceId id, size_t around, std::unordered_set<uint32_t>* seen) {
    const Trace trace = state_.traces[id];
    if ((trace.flags & kHasRec) == 0 || !seen->insert(id.index).second) return;
    if (trace.kind == TraceKind::Rec) Follow(id, trace, around);
    const std::vector<TraceId> kids(state_.traces.Kids(id).begin(), state_.traces.Kids(id).end());
    for (const TraceId kid : kids) FollowIn(kid, around, seen);
  }

  void Follow(TraceId id, const Trace& trace, size_t around) {
    const FuncId func{trace.payload};
    const TraceId callee = TraceOf(state_, func);
    NoteUse(state_, func);
    if (!trace.value || !callee) return;
    const auto [known, is_new] = numbers_.try_emplace({func.index, trace.value.index}, 0);
    if (!is_new) return;
    const std::vector<ValueId> args(state_.values.Kids(trace.value).begin(), state_.values.Kids(trace.value).end());
    if (!SaysHow(args) || IsAsAround(func, args, around)) return;
    const bool is_too_much = calls_.size() >= kMostCalls || calls_[around].depth >= kDeepestCall || state_.traces.size() > state_.most_traces;
    if (is_too_much) {
      state_.cut_recursion.insert(id.index);
      return;
    }
    Binding binding{.func = func, .args = args, .around = {}};
    if (func == binding_.func) binding.around = binding_.around;
    known->second = calls_.size();
    const TraceId body = Instantiate(state_, callee, binding);
    calls_.push_back({.func = func, .args = args, .depth = calls_[around].depth + 1, .around = around, .body = body});
  }

  bool IsTold(ValueId arg) const { return arg && IsPredicate(state_.values, arg); }

  bool SaysHow(const std::vector<ValueId>& args) const {
    return std::ranges::any_of(args, [&](ValueId arg) { return IsTold(arg); });
  }

  // Whether one of the calls around was told the same.
  bool IsAsAround(FuncId func, const std::vector<ValueId>& args, size_t around) const {
    for (size_t i = around;; i = calls_[i].around) {
      if (calls_[i].func == func && AreToldTheSame(args, calls_[i].args)) return true;
      if (i == 0) return false;
    }
  }

  bool AreToldTheSame(const std::vector<ValueId>& inner, const std::vector<ValueId>& outer) const {
    for (size_t i = 0; i < inner.size(); ++i) {
      const ValueId before = i < outer.size() ? outer[i] : ValueId::None();
      if (inner[i] && inner[i] != before && (IsTold(inner[i]) || IsTold(before))) return false;
    }
    return true;
  }

  TraceId Assembled(size_t number) {
    calls_[number].is_assembled = true;
    const auto of_call = [&](TraceId id) {
      const Trace trace = state_.traces[id];
      const auto known = numbers_.find({trace.payload, trace.value.index});
      const size_t inner = known == numbers_.end() ? 0 : known->second;
      if (inner == 0) return id;
      // It calls itself with the very arguments that it has.
      if (!calls_[inner].whole && calls_[inner].is_assembled) return id;
      if (!calls_[inner].whole) calls_[inner].whole = Assembled(inner);
      return state_.traces.Scope(trace.site, FuncId{trace.payload}, calls_[inner].whole);
    };
    return Rewriter(state_.traces, of_call).Run(calls_[number].body);
  }

  State& state_;
  const Binding& binding_;
  std::vector<Call> calls_;    // the first is the one that leads to all others
  std::map<std::pair<uint32_t, uint32_t>, size_t> numbers_;   // by function and arguments; 0: not followed
};

}  // namespace

TraceId WithDecidingArguments(State& state, FuncId func, TraceId trace) {
  if ((state.traces[trace].flags & kHasRec) == 0) return trace;
  const std::vector<bool> deciding = DecidingParams(state, func).In(trace);
  const auto of_call = [&](TraceId id) {
    const Trace call = state.traces[id];
    if (FuncId{call.payload} != func || !call.value) return id;
    std::vector<ValueId> args(state.values.Kids(call.value).begin(), state.values.Kids(call.value).end());
    bool changes = false;
    for (uint32_t i = 0; i < args.size(); ++i) {
      if (i >= deciding.size() || !deciding[i]) args[i] = {};
      else changes = changes || args[i] != state.values.Param(func, i);
    }
    return state.traces.Rec(call.site, func, changes ? state.values.Tuple(args) : ValueId::None());
  };
  return Rewriter(state.traces, of_call).Run(trace);
}

void NoteOwnDepth(State& state, TraceId root) {
  const auto is_own = [&](const Trace& trace) {
    const bool decides = trace.kind == TraceKind::Choice || trace.kind == TraceKind::Loop;
    return decides && trace.value && !state.values.axes(trace.value).empty() && IsPredicate(state.values, trace.value);
  };
  std::set<std::pair<TraceId, bool>> seen;
  std::vector<std::pair<TraceId, bool>> work = {{root, false}};
  while (!work.empty()) {
    const auto [id, is_behind_own] = work.back();
    work.pop_back();
    const Trace& trace = state.traces[id];
    if ((trace.flags & kHasRec) == 0 || !seen.emplace(id, is_behind_own).second) continue;
    if (is_behind_own && trace.kind == TraceKind::Rec) state.own_depth.push_back(id);
    for (const TraceId kid : state.traces.Kids(id)) work.emplace_back(kid, is_behind_own || is_own(trace));
  }
}

bool SurelyMeetsBound(const State& state, TraceId trace) {
  if (state.cut_recursion.empty()) return false;
  std::unordered_set<uint32_t> seen;
  std::vector<TraceId> work = {trace};
  while (!work.empty()) {
    const TraceId id = work.back();
    work.pop_back();
    const Trace& part = state.traces[id];
    // Traces share their parts.
    if ((part.flags & kHasRec) == 0 || !seen.insert(id.index).second) continue;
    if (part.kind == TraceKind::Rec && state.cut_recursion.contains(id.index)) return true;
    const bool is_surely_run = part.kind == TraceKind::Seq || part.kind == TraceKind::Scope;
    if (is_surely_run) work.insert(work.end(), state.traces.Kids(id).begin(), state.traces.Kids(id).end());
  }
  return false;
}

TraceId WithRecursion(State& state, TraceId body, const Binding& binding) {
  // What is instantiated on the way is followed by whoever follows it.
  if ((state.traces[body].flags & kHasRec) == 0 || state.follows_recursion) return body;
  state.follows_recursion = true;
  const TraceId whole = Unroller(state, binding).Run(body);
  state.follows_recursion = false;
  return whole;
}

}  // namespace allranks::traces
