#include "analyzer/objects/process_starts.h"

#include <algorithm>

namespace allranks::objects {

namespace {

// The function behind a value, through `functools.partial`; none if it is no function of the project.
FuncId FunctionOf(const variation::Facts& facts, ValueId value) {
  while (value && facts.values_store[value].kind == variation::ValueKind::Partial) value = facts.values_store.Kids(value)[0];
  const bool is_function = value && facts.values_store[value].kind == variation::ValueKind::Function;
  return is_function ? FuncId{facts.values_store[value].a} : FuncId::None();
}

}  // namespace

ProcessStarts::ProcessStarts(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index)
    : parents_(program.funcs.size()), started_(program.funcs.size()) {
  for (const KnownCall& call : index.known_calls()) {
    for (const knowledge::RoleOf& role : call.entry->roles) {
      const bool starts = role.role == knowledge::Role::StartProcesses || role.role == knowledge::Role::StartsWithIndex;
      if (!starts) continue;
      for (const Site& site : index.WaysTo({call.function, call.expr})) parents_[site.function.index] = true;
      const FuncId started = FunctionOf(facts, index.Arg(call, program.text(role.param)));
      if (!started) continue;
      const Site site{call.function, call.expr};
      const bool is_one = role.role == knowledge::Role::StartProcesses && !IsInLoop(program, index, site);
      starts_.push_back({.site = site, .started = started, .is_one = is_one});
      started_[started.index] = true;
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
