// Substitution in traces, and calls that resolve by it.
#include <algorithm>

#include "analyzer/traces/build.h"
#include "analyzer/traces/call_graph.h"
#include "analyzer/traces/messages.h"
#include "analyzer/traces/recursion.h"

namespace allranks::traces {
namespace {

using variation::ValueKind;

class Instantiator {
 public:
  Instantiator(State& state, const Binding& binding, Origins* origins)
      : state_(state), binding_(binding), origins_(origins), outer_values_(binding.around.size()) {}

  TraceId Run(TraceId id) {
    const Trace trace = state_.traces[id];
    if ((trace.flags & kOpenParams) == 0) return Note(id, id);
    if (const auto found = memo_.find(id.index); found != memo_.end()) return found->second;
    state_.Step();
    const TraceId result = Note(Make(id, trace), id);
    memo_.emplace(id.index, result);
    return result;
  }

 private:
  TraceId Note(TraceId result, TraceId origin) {
    if (origins_ != nullptr) origins_->emplace(result.index, origin);
    return result;
  }

  ValueId Value(ValueId value) {
    if (!value || !state_.values.has_param(value)) return value;
    value = state_.values.Substitute(value, binding_.func, binding_.args, values_);
    for (size_t i = 0; i < binding_.around.size() && state_.values.has_param(value); ++i) {
      value = state_.values.Substitute(value, binding_.around[i].func, binding_.around[i].args, outer_values_[i]);
    }
    return value;
  }

  TraceId Make(TraceId id, const Trace& trace) {
    switch (trace.kind) {
      case TraceKind::Op: {
        const Operation old = state_.traces.operation(id);
        if (state_.traces.entry(id).operation.op_class == knowledge::OpClass::Start) {
          if (const std::optional<TraceId> started = StartedBy(state_, trace.site, Value(old.handle))) return *started;
        }
        return state_.traces.Op(trace.site, {old.entry, Value(old.group), Value(old.root), Value(old.reduce_op),
                                             Value(old.tensor), Value(old.peer), Value(old.dtype), Value(old.other_dtype), Value(old.count),
                                             Value(old.members), Value(old.tag), Value(old.from), Value(old.from_tag), Value(old.handle), old.batched, old.root_in_group},
                                (trace.flags & kSettled) != 0);
      }
      case TraceKind::Call:
        return Resolve(id, trace);
      default:
        break;
    }
    const bool settled = (trace.flags & kSettled) != 0;
    const ValueId value = settled ? trace.value : Value(trace.value);
    std::vector<TraceId> kids(state_.traces.Kids(id).begin(), state_.traces.Kids(id).end());
    // A condition that is known now leaves one arm to look at.
    if (trace.kind == TraceKind::Choice) {
      if (const std::optional<bool> known = state_.traces.conditions().KnownTruth(value)) return Run(kids[*known ? 0 : 1]);
    }
    for (TraceId& kid : kids) kid = Run(kid);
    return state_.traces.Rebuild(id, value, kids, false);
  }

  TraceId Resolve(TraceId id, const Trace& trace) {
    std::vector<ValueId> args(state_.traces.Args(id).begin(), state_.traces.Args(id).end());
    for (ValueId& arg : args) arg = Value(arg);
    return ResolveCall(state_, trace.site, Value(trace.value), std::move(args));
  }

  State& state_;
  const Binding& binding_;
  Origins* origins_;
  std::unordered_map<uint32_t, TraceId> memo_;
  variation::ValueStore::Memo values_;
  std::vector<variation::ValueStore::Memo> outer_values_;
};

}  // namespace

TraceId Instantiate(State& state, TraceId trace, const Binding& binding, Origins* origins) {
  return Instantiator(state, binding, origins).Run(trace);
}

std::vector<ValueId> BindPositional(State& state, FuncId func, ValueId receiver, std::span<const ValueId> args) {
  const ir::Function& function = state.program.function(func);
  std::vector<ValueId> bound(function.params.size());
  size_t next = 0;
  const auto bind = [&](ValueId value) {
    if (next >= bound.size() || function.params[next].kind > ir::ParamKind::Normal) return;
    bound[next++] = value;
  };
  if (receiver) bind(receiver);
  for (const ValueId arg : args) bind(arg);
  const ir::ModuleId module = state.program.funcs[func].module;
  for (size_t i = 0; i < bound.size(); ++i) {
    if (!bound[i] && function.params[i].default_value) {
      bound[i] = state.facts.value(module, function.params[i].default_value);
    }
  }
  return bound;
}

namespace {

// `partial(evaluate, model, sync=False)(x)`
TraceId CallPartial(State& state, SiteId site, std::span<const ValueId> parts, std::vector<ValueId> args) {
  const variation::Value last = state.values[parts.back()];
  const bool has_keywords = parts.size() > 1 && last.is_dict(variation::DictKind::Keywords);
  args.insert(args.begin(), parts.begin() + 1, parts.end() - (has_keywords ? 1 : 0));
  const variation::Value callee = state.values[parts[0]];
  if (!has_keywords || callee.kind != ValueKind::Function) return ResolveCall(state, site, parts[0], std::move(args));
  const FuncId function = callee.function();
  const auto receiver = state.values.Kids(parts[0]);
  std::vector<ValueId> bound = BindPositional(state, function, receiver.empty() ? ValueId::None() : receiver[0], args);
  const auto keywords = state.values.Kids(parts.back());
  const std::vector<ir::Param>& params = state.program.function(function).params;
  for (size_t i = 0; i + 1 < keywords.size(); i += 2) {
    const auto param = std::ranges::find(params, state.values[keywords[i]].name(), &ir::Param::name);
    if (param != params.end()) bound[param - params.begin()] = keywords[i + 1];
  }
  return CallTrace(state, site, function, parts[0], bound);
}

// `model(x)`: what calling an object runs; of a class, what makes one.
TraceId CallObject(State& state, SiteId site, ValueId object, std::vector<ValueId> args) {
  const ObjectCall call = CallOf(state.program, state.knowledge, state.values, object);
  if (call.entry) return KnownOperation(state, site, call.entry, object, args);
  if (!call.function) return CouldIssue(state, site, args) ? state.traces.Opaque(site, object) : state.traces.Empty();
  const variation::Value value = state.values[object];
  const ValueId self = value.kind == ValueKind::Class ? state.values.Make(variation::Value::Instance(value.class_id()), {}) : object;
  return CallTrace(state, site, call.function, {}, BindPositional(state, call.function, self, args));
}

}  // namespace

TraceId ResolveCall(State& state, SiteId site, ValueId callee, std::vector<ValueId> args) {
  const variation::Value value = state.values[callee];
  const std::vector<ValueId> kids(state.values.Kids(callee).begin(), state.values.Kids(callee).end());
  switch (value.kind) {
    case ValueKind::Function: {
      const ValueId receiver = kids.empty() ? ValueId::None() : kids[0];
      const std::vector<ValueId> bound = BindPositional(state, value.function(), receiver, args);
      return CallTrace(state, site, value.function(), callee, bound);
    }
    case ValueKind::Partial:
      if (value.is_generator() || kids.empty()) return state.traces.Empty();
      return CallPartial(state, site, kids, std::move(args));
    case ValueKind::BoundExternal:
      return KnownOperation(state, site, value.entry(), kids[0], args);
    case ValueKind::External: {
      const knowledge::EntryId entry = state.knowledge.FindEntry(value.name());
      return entry ? KnownOperation(state, site, entry, {}, args) : state.traces.Empty();
    }
    case ValueKind::Select: {
      const TraceId then_trace = ResolveCall(state, site, kids[1], args);
      return state.traces.Choice(site, kids[0], then_trace, ResolveCall(state, site, kids[2], args));
    }
    case ValueKind::Param:
      return state.traces.Call(site, callee, args);
    case ValueKind::Class:
    case ValueKind::Object:
    case ValueKind::Instance:
      return CallObject(state, site, callee, std::move(args));
    default:
      return CouldIssue(state, site, args) ? state.traces.Opaque(site, callee) : state.traces.Empty();
  }
}

TraceId TraceOf(const State& state, FuncId func) {
  return state.is_relevant[func.index] ? state.trace_of[func.index] : state.traces.Empty();
}

ValueId WithPassed(const binding::Program& program, variation::Facts& facts, FuncId func, ValueId value) {
  for (FuncId at = func; at && value; at = program.funcs[at].parent) {
    std::vector<ValueId> passed;
    for (uint32_t i = 0; i < program.function(at).params.size(); ++i) passed.push_back(facts.param(at, i));
    variation::ValueStore::Memo memo;
    value = facts.values_store.Substitute(value, at, passed, memo);
  }
  return value;
}

void NoteUse(State& state, FuncId func) {
  if (state.is_relevant[func.index]) state.is_used[func.index] = true;
  if (state.uses != nullptr) state.uses->emplace_back(func, TraceOf(state, func));
}

namespace {

// Bounds of what the function at hand may hold of others.
bool IsFollowed(State& state, FuncId func) {
  if (state.traces.size() > state.most_traces) {
    state.not_followed = state.is_near_bound_of_file ? "calls with too many operations for one file" : "calls with more than 20000 operations";
    return false;
  }
  if (!state.at_work || state.cycle[func.index] == 0 || state.cycle[func.index] != state.cycle[state.at_work.index]) return true;
  if (state.depth_in_cycle[func.index] >= State::kDeepestInCycle) {
    state.not_followed = "recursion through more than 16 functions";
    return false;
  }
  uint32_t& depth = state.depth_in_cycle[state.at_work.index];
  depth = std::max(depth, state.depth_in_cycle[func.index] + 1);
  return true;
}

}  // namespace

TraceId CallTrace(State& state, SiteId site, FuncId func, ValueId callee, std::span<const ValueId> args) {
  const TraceId trace = TraceOf(state, func);
  NoteUse(state, func);
  if (!state.is_relevant[func.index]) return state.traces.Empty();
  if (!trace) return state.traces.Rec(site, func, state.values.Tuple(args));
  if (!IsFollowed(state, func)) return state.traces.Opaque(site, callee);
  constexpr uint32_t kDeepestResolving = 16;
  if (state.resolving >= kDeepestResolving) return state.traces.Rec(site, func);
  Binding binding{.func = func, .args = {args.begin(), args.end()}, .around = {}};
  if (callee && state.values[callee].kind == ValueKind::Function) {
    const auto kids = state.values.Kids(callee);
    size_t next = 1;
    for (FuncId around = state.program.funcs[func].parent; around; around = state.program.funcs[around].parent) {
      const size_t count = state.program.function(around).params.size();
      if (next + count > kids.size()) break;
      if (count > 0) binding.around.push_back({around, {kids.begin() + next, kids.begin() + next + count}});
      next += count;
    }
  }
  ++state.resolving;
  const TraceId body = WithRecursion(state, Instantiate(state, trace, binding), binding);
  --state.resolving;
  return state.traces.Scope(site, func, body);
}

}  // namespace allranks::traces
