#include "analyzer/traces/call_graph.h"

#include <algorithm>

#include "analyzer/traces/demands.h"
#include "analyzer/traces/only_methods.h"

namespace allranks::traces {
namespace {

using variation::CallFact;
using variation::CallKind;
using variation::FuncId;
using variation::ValueId;
using variation::ValueKind;

// A call that hands a function of the project to a function that may call it.
struct Handover {
  FuncId caller;
  FuncId receiver;
  FuncId handed;   // none: a parameter of the caller
};

class GraphBuilder {
 public:
  GraphBuilder(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts)
      : program_(program), knowledge_(knowledge), facts_(facts), only_methods_(program, knowledge),
        graph_{.relevant = {}, .order = {}, .cycle = {}, .modes = ModuleModes(program, knowledge, facts)} {
    callees_.resize(program.funcs.size());
    callers_.resize(program.funcs.size());
    defers_.resize(program.funcs.size());
    graph_.relevant.resize(program.funcs.size());
  }

  CallGraph Build() {
    for (uint32_t f = 0; f < program_.funcs.size(); ++f) AddFunction(FuncId{f});
    SpreadDeferral();
    AddObjects();
    SpreadRelevance();
    AddModes();
    Order();
    return std::move(graph_);
  }

 private:
  void AddFunction(FuncId func) {
    const variation::FunctionFacts& facts = facts_.functions[func];
    for (const auto* list : {&facts.calls, &facts.enters, &facts.leaves, &facts.iterations}) {
      for (const auto& [expr, call] : *list) AddCall(func, call);
    }
    if (MakesDemand(program_, facts_, func)) Mark(func);
    for (const auto& [expr, call] : facts.enters) {
      if (call.kind == CallKind::Deferred) AddContext(func, call.callee);
    }
  }

  void AddCall(FuncId caller, const CallFact& call) {
    switch (call.kind) {
      case CallKind::Known: {
        const knowledge::Entry& entry = knowledge_[call.entry];
        if (entry.has_operation || entry.exits) Mark(caller);
        break;
      }
      case CallKind::Deferred:
        if (facts_.values_store.has_param(call.callee)) defers_[caller.index] = true;
        AddCandidates(caller, call.callee);
        break;
      case CallKind::Function:
      case CallKind::Construct:
        if (!call.function) break;
        AddEdge(caller, call.function);
        for (const ValueId arg : facts_.args(call)) {
          // Being called on an object is not being handed it.
          if (arg != call.receiver) AddArgument(caller, call.function, arg);
        }
        break;
      case CallKind::Unresolved:
        if (const FuncId method = only_methods_.MeantBy(facts_.values_store, call)) AddEdge(caller, method);
        break;
      default:
        break;
    }
  }

  // `for callback in callbacks: callback.on_end()`: one of several known functions.
  void AddCandidates(FuncId caller, ValueId callee) {
    const variation::Value& value = facts_.values_store[callee];
    if (value.kind == ValueKind::Select) {
      const variation::Arms arms = facts_.values_store.ArmsOf(callee);
      AddCandidates(caller, arms.then_value);
      AddCandidates(caller, arms.else_value);
    } else if (const FuncId func = FunctionBehind(facts_.values_store, callee)) {
      AddEdge(caller, func);
    } else if (value.kind == ValueKind::BoundExternal && knowledge_[value.entry()].has_operation) {
      Mark(caller);
    } else if (const ObjectCall call = CallOf(program_, knowledge_, facts_.values_store, callee); call.function) {
      AddEdge(caller, call.function);
    } else if (call.entry && knowledge_[call.entry].has_operation) {
      Mark(caller);
    }
  }

  // `with Fence() if rank else nullcontext():` enters and leaves one of them.
  void AddContext(FuncId caller, ValueId context) {
    const variation::Value& value = facts_.values_store[context];
    if (value.kind == ValueKind::Select) {
      const variation::Arms arms = facts_.values_store.ArmsOf(context);
      AddContext(caller, arms.then_value);
      AddContext(caller, arms.else_value);
    }
    if (value.is_generator()) AddEdge(caller, value.function());
    if (value.kind != ValueKind::Instance) return;
    for (const std::string_view name : {"__enter__", "__exit__"}) {
      const base::NameId known = program_.names->Find(name);
      if (const FuncId method = known ? program_.FindMethod(value.class_id(), known) : FuncId::None()) AddEdge(caller, method);
    }
  }

  void AddArgument(FuncId caller, FuncId callee, ValueId arg) {
    if (!arg) return;
    if (facts_.values_store[arg].kind == ValueKind::Select) {
      const auto kids = facts_.values_store.Kids(arg);
      AddArgument(caller, callee, kids[1]);
      AddArgument(caller, callee, kids[2]);
      return;
    }
    const ObjectCall call = CallOf(program_, knowledge_, facts_.values_store, arg);
    const bool is_operation = call.entry && knowledge_[call.entry].has_operation;
    if (is_operation || call.function) object_handovers_.push_back({caller, callee, call.function});
    if (facts_.values_store[arg].kind == ValueKind::Param) {
      handovers_.push_back({caller, callee, {}});
    } else if (const FuncId handed = FunctionBehind(facts_.values_store, arg)) {
      handovers_.push_back({caller, callee, handed});
      AddEdge(caller, handed);
      // Being handed on is not being called: relevance comes through SpreadRelevance.
      callers_[handed.index].pop_back();
    }
  }

  void AddEdge(FuncId caller, FuncId callee) {
    callees_[caller.index].push_back(callee.index);
    callers_[callee.index].push_back(caller.index);
  }

  void Mark(FuncId func) {
    if (graph_.relevant[func.index]) return;
    graph_.relevant[func.index] = true;
    work_.push_back(func.index);
  }

  // A function that hands its parameter to one that calls its parameter does so itself.
  void SpreadDeferral() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Handover& handover : handovers_) {
        if (handover.handed || defers_[handover.caller.index] || !defers_[handover.receiver.index]) continue;
        defers_[handover.caller.index] = true;
        changed = true;
      }
    }
  }

  // `evaluate(model, loader)`, which calls `model`.
  void AddObjects() {
    for (const Handover& handover : object_handovers_) {
      if (!defers_[handover.receiver.index]) continue;
      if (!handover.handed) {
        Mark(handover.caller);
        continue;
      }
      handovers_.push_back(handover);
      callees_[handover.caller.index].push_back(handover.handed.index);
    }
  }

  // What puts a module into a mode that decides whether an operation runs.
  void AddModes() {
    graph_.modes.Find(graph_.relevant);
    for (uint32_t f = 0; f < program_.funcs.size(); ++f) {
      for (const auto& [expr, call] : facts_.functions[FuncId{f}].calls) {
        if (!graph_.modes.SetBy(call).empty() || graph_.modes.IsMadeBy(call)) Mark(FuncId{f});
      }
    }
    SpreadRelevance();
  }

  void SpreadRelevance() {
    for (bool changed = true; changed;) {
      while (!work_.empty()) {
        const uint32_t func = work_.back();
        work_.pop_back();
        for (const uint32_t caller : callers_[func]) Mark(FuncId{caller});
      }
      changed = false;
      for (const Handover& handover : handovers_) {
        if (!handover.handed || !defers_[handover.receiver.index]) continue;
        if (!graph_.relevant[handover.handed.index] || graph_.relevant[handover.caller.index]) continue;
        Mark(handover.caller);
        changed = true;
      }
    }
    // Their traces are what callers need to put the handed function in.
    for (uint32_t f = 0; f < defers_.size(); ++f) {
      if (defers_[f]) graph_.relevant[f] = true;
    }
  }

  // Depth first with an explicit stack: chains of calls can be long. Cycles are told as Tarjan does: what a function reaches
  // that was entered before it, and is not closed yet, is in a cycle with it.
  void Order() {
    constexpr uint32_t kClosed = 0xffffffffu;
    graph_.cycle.assign(callees_.size(), 0);
    std::vector<uint32_t> lowest(callees_.size());
    std::vector<uint32_t> open;
    std::vector<std::pair<uint32_t, size_t>> stack;
    std::vector<uint32_t> entered(callees_.size());
    uint32_t count = 0;
    const auto enter = [&](uint32_t func) {
      entered[func] = lowest[func] = ++count;
      open.push_back(func);
      stack.emplace_back(func, 0);
    };
    const auto close = [&](uint32_t func) {
      if (lowest[func] != entered[func]) return;
      const bool is_alone = open.back() == func;
      for (bool is_last = false; !is_last; open.pop_back()) {
        is_last = open.back() == func;
        lowest[open.back()] = kClosed;
        if (!is_alone) graph_.cycle[open.back()] = entered[func];
      }
    };
    for (uint32_t root = 0; root < callees_.size(); ++root) {
      if (!graph_.relevant[root] || entered[root] != 0) continue;
      enter(root);
      while (!stack.empty()) {
        const uint32_t func = stack.back().first;
        if (stack.back().second == callees_[func].size()) {
          graph_.order.push_back(FuncId{func});
          close(func);
          stack.pop_back();
          if (!stack.empty()) lowest[stack.back().first] = std::min(lowest[stack.back().first], lowest[func]);
          continue;
        }
        const uint32_t callee = callees_[func][stack.back().second++];
        if (!graph_.relevant[callee]) continue;
        if (entered[callee] == 0) enter(callee);
        else lowest[func] = std::min(lowest[func], lowest[callee]);
      }
    }
  }

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  OnlyMethods only_methods_;
  std::vector<std::vector<uint32_t>> callees_;
  std::vector<std::vector<uint32_t>> callers_;
  std::vector<bool> defers_;
  std::vector<Handover> handovers_;
  std::vector<Handover> object_handovers_;   // of objects whose call is an operation
  std::vector<uint32_t> work_;
  CallGraph graph_;
};

// A torch.nn.Module, whose call runs `forward`.
bool IsModule(const binding::Program& program, const knowledge::Knowledge& knowledge, binding::ClassId class_id) {
  return std::ranges::any_of(program.classes[class_id].external_bases, [&](base::NameId base) {
    const knowledge::ClassId known = knowledge.FindClass(base);
    return known && knowledge[known].is_module;
  });
}

}  // namespace

FuncId FunctionBehind(const variation::ValueStore& values, ValueId value) {
  constexpr int kLongest = 8;
  for (int step = 0; step < kLongest && value; ++step) {
    const variation::Value& seen = values[value];
    if (seen.kind == ValueKind::Function) return seen.function();
    if (seen.kind != ValueKind::Partial || seen.kid_count == 0) break;
    value = values.Kids(value)[0];
  }
  return FuncId::None();
}

ObjectCall CallOf(const binding::Program& program, const knowledge::Knowledge& knowledge,
                  const variation::ValueStore& values, ValueId object) {
  const variation::Value& value = values[object];
  const base::NameId call = program.names->Find("__call__");
  if (value.kind == ValueKind::Object) {
    const knowledge::ClassId known = knowledge.FindClass(value.name());
    if (!known || !call) return {};
    return {.entry = knowledge.FindMember(known, call), .function = {}};
  }
  if (value.kind == ValueKind::Class) {
    const base::NameId init = program.names->Find("__init__");
    return {.entry = {}, .function = init ? program.FindMethod(value.class_id(), init) : FuncId::None()};
  }
  if (value.kind != ValueKind::Instance) return {};
  const binding::ClassId class_id = value.class_id();
  for (const base::NameId name : {call, program.names->Find("forward")}) {
    const FuncId method = name ? program.FindMethod(class_id, name) : FuncId::None();
    if (method && (name == call || IsModule(program, knowledge, class_id))) return {.entry = {}, .function = method};
  }
  return {};
}

CallGraph MakeCallGraph(const binding::Program& program, const knowledge::Knowledge& knowledge,
                        const variation::Facts& facts) {
  return GraphBuilder(program, knowledge, facts).Build();
}

}  // namespace allranks::traces
