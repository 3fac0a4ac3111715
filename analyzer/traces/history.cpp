#include "analyzer/traces/history.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <unordered_set>

#include "analyzer/traces/conditions.h"
#include "analyzer/traces/nodes.h"

namespace allranks::traces {
namespace {

using variation::Value;
using variation::ValueKind;

// Calls are walked once for each history that they meet; beyond this they are taken as they are.
constexpr size_t kMostNodes = 20'000;

// Copies share what they hold until one of them changes it. Most branches change nothing.
template <class T>
class Shared {
 public:
  const T& operator*() const { return *held_; }
  const T* operator->() const { return held_.get(); }
  T& Change() {
    if (held_.use_count() > 1) held_ = std::make_shared<T>(*held_);
    return *held_;
  }
  bool IsOneWith(const Shared& other) const { return held_ == other.held_; }

 private:
  std::shared_ptr<T> held_ = std::make_shared<T>();
};

// What is known to be made, by `Made`, and how; in which modes modules are; whether this process has left the job.
struct Memory {
  Shared<std::map<ValueId, ValueId>> made;
  Shared<ModeMemory> modes;
  bool reachable = true;
  bool awaits_job = false;  // it joins the job further on, and has not yet
  ValueId left;  // the condition under which this process has left the job; none: it has not
};

// A way out of a loop or call, and the condition under which it is taken.
struct WayOut {
  ValueId condition;
  Memory memory;
};

// What the choices of a trace ask for: nobody needs to know the rest.
struct AskedFor {
  std::unordered_set<ValueId> made;
  bool modes = false;
};

class AskedSearch {
 public:
  AskedSearch(const TraceStore& traces, const variation::ValueStore& values) : traces_(traces), values_(values) {}

  AskedFor In(TraceId trace) {
    Visit(trace);
    return std::move(asked_);
  }

 private:
  void Visit(TraceId id) {
    const Trace& trace = traces_[id];
    if ((trace.flags & kKeeps) == 0 || !seen_.insert(id.index).second) return;
    if (trace.kind == TraceKind::Choice) Add(trace.value);
    for (const TraceId kid : traces_.Kids(id)) Visit(kid);
  }

  // The parts that HistoryWalk::Rewritten looks at.
  void Add(ValueId condition) {
    if (IsMade(values_, condition)) asked_.made.insert(condition);
    asked_.modes = asked_.modes || values_.IsMode(condition);
    const ValueKind kind = values_[condition].kind;
    const bool is_joined = kind == ValueKind::Unary || kind == ValueKind::And || kind == ValueKind::Or;
    if (!is_joined || !added_.insert(condition.index).second) return;
    for (const ValueId kid : values_.Kids(condition)) Add(kid);
  }

  const TraceStore& traces_;
  const variation::ValueStore& values_;
  AskedFor asked_;
  std::unordered_set<uint32_t> seen_;
  std::unordered_set<uint32_t> added_;
};

class HistoryWalk {
 public:
  HistoryWalk(State& state, AskedFor asked, bool is_entry, Origins* origins)
      : state_(state), traces_(state.traces), values_(state.values), asked_(std::move(asked)), is_entry_(is_entry), origins_(origins) {}

  TraceId Run(TraceId id, Memory& memory) {
    const Trace trace = traces_[id];
    const bool says_nothing = (trace.flags & (kKeeps | kLeavesMask)) == 0 && !memory.left && !memory.awaits_job;
    if (!memory.reachable || says_nothing || ++steps_ > kMostNodes) return Note(id, id);
    const TraceId result = Node(id, trace, memory);
    return Note(result, id);
  }

 private:
  TraceId Note(TraceId result, TraceId origin) {
    if (result != origin) origins_->emplace(result.index, origin);
    return result;
  }

  std::vector<TraceId> KidsOf(TraceId id) const { return {traces_.Kids(id).begin(), traces_.Kids(id).end()}; }

  TraceId Node(TraceId id, const Trace& trace, Memory& memory) {
    switch (trace.kind) {
      case TraceKind::Op:
        return Operation(id, memory);
      case TraceKind::Keep:
        Keep(trace, memory);
        return traces_.Empty();
      case TraceKind::Mode:
        SetMode(trace, memory);
        return traces_.Empty();
      case TraceKind::Seq: {
        std::vector<TraceId> kids = KidsOf(id);
        for (TraceId& kid : kids) kid = Run(kid, memory);
        return traces_.Seq(kids);
      }
      case TraceKind::Choice:
        return Choice(id, trace, memory);
      case TraceKind::Loop:
        return Loop(id, trace, memory);
      case TraceKind::Scope:
        return Scope(id, trace, memory);
      case TraceKind::Try:
        return Try(id, trace, memory);
      case TraceKind::Exit:
        Leave(static_cast<ExitKind>(trace.payload), memory);
        return id;
      default:
        return id;
    }
  }

  // Where the job is left nothing communicates until it is joined again: a library does without, or raises on each rank. Before it is joined
  // a helper does without as well (`if get_world_size() == 1: return`, of a number that is 1 as long as there is no job).
  TraceId Operation(TraceId id, Memory& memory) const {
    const knowledge::OpClass op_class = traces_.entry(id).operation.op_class;
    if (memory.awaits_job && op_class == knowledge::OpClass::Collective && !traces_.operation(id).group) return traces_.Empty();
    if (op_class == knowledge::OpClass::Init) {
      memory.left = ValueId::None();
      memory.awaits_job = false;
    }
    const TraceId result = memory.left ? traces_.Choice(traces_[id].site, values_.Not(memory.left), id, traces_.Empty(), false) : id;
    if (op_class == knowledge::OpClass::Destroy && !traces_.operation(id).group) memory.left = values_.True();
    return result;
  }

  void Keep(const Trace& trace, Memory& memory) {
    if (!asked_.made.contains(trace.value)) return;
    switch (static_cast<Filling>(trace.payload)) {
      case Filling::Made:
        memory.made.Change()[trace.value] = values_.True();
        break;
      case Filling::Emptied:
        memory.made.Change()[trace.value] = values_.False();
        break;
      case Filling::Unknown:
        memory.made.Change()[trace.value] = trace.value;
        break;
    }
  }

  void SetMode(const Trace& trace, Memory& memory) {
    if (!asked_.modes) return;
    const ValueId module = values_.Kids(trace.value)[0];
    const ValueId trains = values_.Kids(trace.value)[1];
    ModeMemory& modes = memory.modes.Change();
    if (trace.payload != 0) modes.Make(state_.modes, module);
    modes.Set(state_.modes, module, trains);
  }

  ValueId Known(const Memory& memory, ValueId made) const {
    const auto found = memory.made->find(made);
    if (found != memory.made->end()) return found->second;
    return is_entry_ ? values_.False() : made;
  }

  // The condition with what is known of it by now.
  ValueId Rewritten(ValueId condition, const Memory& memory) {
    if (IsMade(values_, condition)) return Known(memory, condition);
    if (values_.IsMode(condition)) return memory.modes->Known(state_.modes, values_, condition);
    if (memory.awaits_job && AsksForJob(values_, condition)) return values_.False();
    const Value value = values_[condition];
    const std::vector<ValueId> kids(values_.Kids(condition).begin(), values_.Kids(condition).end());
    switch (value.kind) {
      case ValueKind::Unary:
        if (value.unary_op() != ir::UnaryOp::Not) return condition;
        return values_.Not(Rewritten(kids[0], memory));
      case ValueKind::And:
      case ValueKind::Or: {
        ValueId whole = values_.Bool(value.kind == ValueKind::And);
        for (const ValueId kid : kids) whole = Connected(value.kind, whole, Rewritten(kid, memory));
        return whole;
      }
      default:
        return condition;
    }
  }

  // What follows from a condition that turned out so.
  void Learn(ValueId condition, bool truth, Memory& memory) {
    if (IsMade(values_, condition)) {
      memory.made.Change()[condition] = values_.Bool(truth);
      return;
    }
    const Value& value = values_[condition];
    const auto kids = values_.Kids(condition);
    if (value.is_not()) {
      Learn(kids[0], !truth, memory);
    } else if ((value.kind == ValueKind::And && truth) || (value.kind == ValueKind::Or && !truth)) {
      for (const ValueId kid : kids) Learn(kid, truth, memory);
    }
  }

  TraceId Choice(TraceId id, const Trace& trace, Memory& memory) {
    const TraceId then_trace = traces_.Kids(id)[0];
    const TraceId else_trace = traces_.Kids(id)[1];
    const ValueId condition = Rewritten(trace.value, memory);
    if (condition == values_.True()) return Run(then_trace, memory);
    if (condition == values_.False()) return Run(else_trace, memory);
    Memory then_memory = memory;
    Memory else_memory = memory;
    Learn(trace.value, true, then_memory);
    Learn(trace.value, false, else_memory);
    path_.push_back(condition);
    const TraceId then_arm = Run(then_trace, then_memory);
    path_.back() = values_.Not(condition);
    const TraceId else_arm = Run(else_trace, else_memory);
    path_.pop_back();
    memory = Joined(condition, std::move(then_memory), std::move(else_memory));
    return traces_.Choice(trace.site, condition, then_arm, else_arm, (trace.flags & kSettled) != 0);
  }

  Memory Joined(ValueId condition, Memory then_memory, Memory else_memory) {
    if (!then_memory.reachable) return else_memory;
    if (!else_memory.reachable) return then_memory;
    Memory joined = then_memory;
    joined.left = LeftIn(condition, then_memory.left, else_memory.left);
    joined.awaits_job = then_memory.awaits_job && else_memory.awaits_job;
    if (!then_memory.made.IsOneWith(else_memory.made)) {
      for (const auto& [made, known] : *then_memory.made) JoinMade(made, Either(condition, known, Known(else_memory, made)), joined);
      for (const auto& [made, known] : *else_memory.made) {
        if (!then_memory.made->contains(made)) JoinMade(made, Either(condition, Known(then_memory, made), known), joined);
      }
    }
    if (!then_memory.modes.IsOneWith(else_memory.modes)) joined.modes.Change() = JoinedModes(condition, *then_memory.modes, *else_memory.modes);
    return joined;
  }

  // `if is_distributed: destroy_process_group()`. Of ranks that part there, only what all of them did counts.
  ValueId LeftIn(ValueId condition, ValueId in_then, ValueId in_else) {
    if (in_then == in_else) return in_then;
    if (!condition || !values_.axes(condition).empty()) return ValueId::None();
    const ValueId left = Either(condition, in_then ? in_then : values_.False(), in_else ? in_else : values_.False());
    return left == values_.False() ? ValueId::None() : left;
  }

  // Most things are known alike on both sides: of those nothing is copied.
  static void JoinMade(ValueId made, ValueId known, Memory& joined) {
    const auto before = joined.made->find(made);
    if (before == joined.made->end() || before->second != known) joined.made.Change()[made] = known;
  }

  ModeMemory JoinedModes(ValueId condition, const ModeMemory& then_modes, const ModeMemory& else_modes) {
    ModeMemory joined{.trains = {}, .made = then_modes.made};
    for (const auto& [module, count] : else_modes.made) joined.made[module] = std::max(joined.made[module], count);
    for (const auto& [module, trains] : then_modes.trains) {
      const auto other = else_modes.trains.find(module);
      if (other != else_modes.trains.end()) joined.trains[module] = Either(condition, trains, other->second);
      else if (!else_modes.made.contains(module)) joined.trains[module] = trains;
    }
    // Where there is no such module its mode says nothing.
    for (const auto& [module, trains] : else_modes.trains) {
      if (!then_modes.trains.contains(module) && !then_modes.made.contains(module)) joined.trains[module] = trains;
    }
    return joined;
  }

  // Which of two histories is a rank's: as a condition, not as a choice of values, so that it can be decided.
  ValueId Either(ValueId condition, ValueId then_made, ValueId else_made) {
    if (then_made == else_made) return then_made;
    const ValueId inverse = values_.Not(condition);
    const auto both = [&](ValueId a, ValueId b) { return Connected(ValueKind::And, a, b); };
    const auto any = [&](ValueId a, ValueId b) { return Connected(ValueKind::Or, a, b); };
    return any(both(condition, then_made), both(inverse, else_made));
  }

  ValueId Connected(ValueKind kind, ValueId a, ValueId b) {
    const bool is_and = kind == ValueKind::And;
    for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
      const std::optional<bool> known = traces_.conditions().KnownTruth(one);
      if (known) return *known == is_and ? other : values_.Bool(!is_and);
    }
    const ValueId kids[] = {a, b};
    return is_and ? values_.And(kids) : values_.Or(kids);
  }

  // Of a body that runs any number of times only what was made before it is sure to be made in each round.
  TraceId Loop(TraceId id, const Trace& trace, Memory& memory) {
    const TraceId body = traces_.Kids(id)[0];
    // A generator that yields once, `for turn in turns(): get()`, has no round before.
    const bool runs_once = trace.value && values_[trace.value].count() == 1u;
    std::unordered_set<uint32_t> seen;
    if (!runs_once) Forget(body, memory, &seen);
    std::vector<WayOut> outer = std::exchange(out_of_loop_, {});
    const Memory before = memory;
    const TraceId walked = Run(body, memory);
    for (const WayOut& way : out_of_loop_) memory = Joined(way.condition, way.memory, std::move(memory));
    out_of_loop_ = std::move(outer);
    // A loop that no path leaves by its end, or not at all.
    if (!memory.reachable) memory = before;
    if (memory.left) memory.left = before.left;
    return traces_.Rebuild(id, trace.value, {&walked, 1}, false);
  }

  void Forget(TraceId id, Memory& memory, std::unordered_set<uint32_t>* seen) {
    const Trace& trace = traces_[id];
    if ((trace.flags & kKeeps) == 0 || !seen->insert(id.index).second) return;
    if (trace.kind == TraceKind::Mode && asked_.modes) memory.modes.Change().Forget(state_.modes, values_.Kids(trace.value)[0], values_.Kids(trace.value)[1]);
    if (trace.kind == TraceKind::Keep && asked_.made.contains(trace.value) && Known(memory, trace.value) != values_.True()) memory.made.Change()[trace.value] = trace.value;
    for (const TraceId kid : traces_.Kids(id)) Forget(kid, memory, seen);
  }

  TraceId Scope(TraceId id, const Trace& trace, Memory& memory) {
    std::vector<ValueId> path = std::exchange(path_, {});
    std::vector<WayOut> returned = std::exchange(returned_, {});
    std::vector<WayOut> out_of_loop = std::exchange(out_of_loop_, {});
    const size_t raised_before = raised_.size();
    const TraceId body = Run(traces_.Kids(id)[0], memory);
    for (auto way = returned_.rbegin(); way != returned_.rend(); ++way) {
      memory = Joined(way->condition, std::move(way->memory), std::move(memory));
    }
    path_ = std::move(path);
    for (ValueId& condition : std::span(raised_).subspan(raised_before)) condition = Connected(ValueKind::And, values_.And(path_), condition);
    returned_ = std::move(returned);
    out_of_loop_ = std::move(out_of_loop);
    return traces_.Rebuild(id, trace.value, {&body, 1}, false);
  }

  // Ranks that raise in the body know afterwards what the handler makes.
  TraceId Try(TraceId id, const Trace& trace, Memory& memory) {
    std::vector<TraceId> kids = KidsOf(id);
    const bool is_caught = kids.size() > kTryHandlers;
    Memory interrupted = memory;
    std::unordered_set<uint32_t> seen;
    Forget(kids[kTryBody], interrupted, &seen);
    std::vector<ValueId> raised_outside = is_caught ? std::exchange(raised_, {}) : std::vector<ValueId>();
    kids[kTryBody] = Run(kids[kTryBody], memory);
    const std::vector<ValueId> caught = is_caught ? std::exchange(raised_, std::move(raised_outside)) : std::vector<ValueId>();
    kids[kTryElse] = Run(kids[kTryElse], memory);
    for (size_t i = kTryHandlers; i < kids.size(); ++i) {
      Memory handled = interrupted;
      kids[i] = Run(kids[i], handled);
      const bool is_only_one = kids.size() == kTryHandlers + 1;
      if (!memory.reachable) memory = std::move(handled);
      else if (is_only_one && !caught.empty()) memory = Joined(values_.Or(caught), std::move(handled), std::move(memory));
    }
    kids[kTryFinally] = Run(kids[kTryFinally], memory);
    return traces_.Rebuild(id, trace.value, kids, false);
  }

  void Leave(ExitKind kind, Memory& memory) {
    if (kind == ExitKind::Return) returned_.push_back({values_.And(path_), memory});
    else if (kind == ExitKind::Break || kind == ExitKind::Continue) out_of_loop_.push_back({values_.And(path_), memory});
    else if (kind == ExitKind::Raise) raised_.push_back(values_.And(path_));
    memory.reachable = false;
  }

  State& state_;
  TraceStore& traces_;
  variation::ValueStore& values_;
  const AskedFor asked_;
  bool is_entry_;
  Origins* origins_;
  size_t steps_ = 0;
  std::vector<ValueId> path_;          // conditions on the way from the start of the call at hand
  std::vector<WayOut> returned_;
  std::vector<WayOut> out_of_loop_;
  std::vector<ValueId> raised_;        // conditions of what the `try` around catches
};

}  // namespace

TraceId WithHistory(State& state, TraceId trace, bool is_entry, Origins* origins) {
  Memory memory;
  memory.awaits_job = is_entry && OperationsIn(state.traces, trace).joins_job;
  if ((state.traces[trace].flags & kKeeps) == 0 && !memory.awaits_job) return trace;
  AskedFor asked = AskedSearch(state.traces, state.values).In(trace);
  return HistoryWalk(state, std::move(asked), is_entry, origins).Run(trace, memory);
}

}  // namespace allranks::traces
