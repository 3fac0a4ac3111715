#include "analyzer/objects/process_starts.h"

#include <algorithm>

namespace allranks::objects {

namespace {

struct Target {
  FuncId function;
  bool is_passed = false;  // by callers of the helper that starts it, who may do so several times
};

// The functions of the project behind a value: an object's `__call__`, through `functools.partial`, a choice, and the parameter of a helper that starts what it is given.
std::vector<Target> TargetsOf(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, ValueId value) {
  constexpr size_t kMost = 64;
  struct Part {
    ValueId value;
    bool is_passed;
  };
  std::vector<Target> targets;
  std::vector<Part> parts = {{value, false}};
  for (size_t i = 0; i < parts.size() && i < kMost; ++i) {
    const auto [part, is_passed] = parts[i];
    if (!part) continue;
    const variation::Value& node = facts.values_store[part];
    const auto kids = facts.values_store.Kids(part);
    const auto add = [&](ValueId each, bool is_argument) {
      if (std::ranges::find(parts, each, &Part::value) == parts.end()) parts.push_back({each, is_passed || is_argument});
    };
    switch (node.kind) {
      case variation::ValueKind::Function: targets.push_back({node.function(), is_passed}); break;
      case variation::ValueKind::Instance:
        if (const FuncId called = program.FindCallMethod(node.class_id())) targets.push_back({called, is_passed});
        break;
      case variation::ValueKind::Partial: add(kids[0], false); break;
      case variation::ValueKind::Select:
        add(kids[1], false);
        add(kids[2], false);
        break;
      case variation::ValueKind::Param:
        for (const Site& caller : index.CallersOf(node.function())) add(index.PassedBy(caller, node.function(), node.param_index()), true);
        break;
      default: break;
    }
  }
  return targets;
}

}  // namespace

ProcessStarts::ProcessStarts(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index)
    : parents_(program.funcs.size()), started_(program.funcs.size()) {
  for (const KnownCall& call : index.known_calls()) {
    for (const knowledge::RoleOf& role : call.entry->roles) {
      if (!role.StartsProcesses()) continue;
      for (const Site& site : index.WaysTo({call.function, call.expr})) parents_[site.function.index] = true;
      const Site site{call.function, call.expr};
      const bool is_one = role.role == knowledge::Role::StartProcesses && !IsInLoop(program, index, site);
      for (const Target& target : TargetsOf(program, facts, index, index.Arg(call, program.text(role.param)))) {
        starts_.push_back({.site = site, .started = target.function, .is_one = is_one && !target.is_passed});
        started_[target.function.index] = true;
      }
    }
  }
  for (bool grew = true; grew;) {
    grew = false;
    for (uint32_t f = 0; f < started_.size(); ++f) {
      if (started_[f]) continue;
      const auto callers = index.CallersOf(FuncId{f});
      started_[f] = std::ranges::any_of(callers, [&](const Site& caller) { return started_[caller.function.index]; });
      grew = grew || started_[f];
    }
  }
}

bool ProcessStarts::IsInLoop(const binding::Program& program, const ProgramIndex& index, const Site& site) {
  if (!index.LoopsAround(site).empty()) return true;
  const ir::ModuleId module = program.funcs[site.function].module;
  for (ir::ExprId at = site.expr; at; at = index.tree(module).Parent(at)) {
    if (program.modules[module][at].kind == ir::ExprKind::Comprehension) return true;
  }
  return false;
}

bool ProcessStarts::IsStartedAlone(FuncId function) const {
  const auto is_other = [&](const ProcessStart& start) { return start.started == function && !start.is_one; };
  const auto is_here = [&](const ProcessStart& start) { return start.started == function; };
  return std::ranges::any_of(starts_, is_here) && std::ranges::none_of(starts_, is_other);
}

}  // namespace allranks::objects
