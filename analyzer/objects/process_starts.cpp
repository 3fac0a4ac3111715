#include "analyzer/objects/process_starts.h"

#include <algorithm>

namespace allranks::objects {

namespace {

// The functions of the project behind a value: through `functools.partial`, a choice, and the parameter of a helper that starts what it is given.
void AddFunctions(const variation::Facts& facts, const ProgramIndex& index, ValueId value, std::vector<FuncId>& functions, int depth = 0) {
  constexpr int kLongestWay = 4;
  if (!value || depth == kLongestWay) return;
  const variation::Value& node = facts.values_store[value];
  const auto kids = facts.values_store.Kids(value);
  const auto add = [&](ValueId part) { AddFunctions(facts, index, part, functions, depth + 1); };
  switch (node.kind) {
    case variation::ValueKind::Function:
      if (std::ranges::count(functions, FuncId{node.a}) == 0) functions.push_back(FuncId{node.a});
      return;
    case variation::ValueKind::Partial: return add(kids[0]);
    case variation::ValueKind::Select:
      add(kids[1]);
      return add(kids[2]);
    case variation::ValueKind::Param:
      for (const Site& caller : index.CallersOf(FuncId{node.a})) add(index.PassedBy(caller, FuncId{node.a}, node.b));
      return;
    default: return;
  }
}

}  // namespace

ProcessStarts::ProcessStarts(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index)
    : parents_(program.funcs.size()), started_(program.funcs.size()) {
  for (const KnownCall& call : index.known_calls()) {
    for (const knowledge::RoleOf& role : call.entry->roles) {
      const bool starts = role.role == knowledge::Role::StartProcesses || role.role == knowledge::Role::StartsWithIndex;
      if (!starts) continue;
      for (const Site& site : index.WaysTo({call.function, call.expr})) parents_[site.function.index] = true;
      const Site site{call.function, call.expr};
      const bool is_one = role.role == knowledge::Role::StartProcesses && !IsInLoop(program, index, site);
      std::vector<FuncId> functions;
      AddFunctions(facts, index, index.Arg(call, program.text(role.param)), functions);
      for (const FuncId started : functions) {
        starts_.push_back({.site = site, .started = started, .is_one = is_one});
        started_[started.index] = true;
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
