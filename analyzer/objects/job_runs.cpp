#include "analyzer/objects/job_runs.h"

#include <algorithm>

namespace allranks::objects {

JobRuns::JobRuns(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Launch& launch,
                 const Loading& loading)
    : program_(program), index_(index), launch_(launch), jobs_(program, index), starts_(program, facts, index) {
  NoteSharedWork(loading);
  NoteHandedOver(facts);
}

bool JobRuns::IsRunByRanks(const Site& site) const {
  if (starts_.IsStartedAlone(site.function)) return false;
  const bool is_started = starts_.IsStarted(site.function);
  const bool is_of_ranks = is_started || launch_.Of(site.function) == RunBy::AllRanks;
  if (!is_of_ranks || !jobs_.IsOfJob(site.function)) return false;
  if (is_started) return true;
  const std::vector<Site> ways = index_.WaysTo(site);
  const bool is_run = jobs_.IsRun(site.function) ||
                      std::ranges::any_of(ways, [&](const Site& caller) { return handed_over_[caller.function.index]; });
  return is_run && std::ranges::none_of(ways, [&](const Site& caller) { return starts_.IsParent(caller.function); });
}

void JobRuns::NoteHandedOver(const variation::Facts& facts) {
  handed_over_.resize(program_.funcs.size());
  for (uint32_t m = 0; m < program_.modules.size(); ++m) {
    for (const auto& [expr, call] : facts.functions[program_.func(ir::ModuleId{m}, ir::kTopLevel)].calls) {
      if (call.kind != variation::CallKind::External) continue;
      for (const ValueId arg : facts.args(call)) {
        if (arg && facts.values_store[arg].kind == variation::ValueKind::Function) handed_over_[facts.values_store[arg].a] = true;
      }
    }
  }
}

void JobRuns::NoteSharedWork(const Loading& loading) {
  shares_work_.resize(program_.modules.size());
  for (const KnownCall& sampler : loading.made_samplers()) shares_work_[program_.funcs[sampler.function].module.index] = true;
  for (const KnownCall& call : index_.known_calls()) {
    const knowledge::Entry& entry = *call.entry;
    const bool asks = entry.yield.kind == knowledge::YieldKind::Formula && !entry.is_attribute;
    const bool sets_up = entry.has_operation && entry.operation.op_class == knowledge::OpClass::Init;
    if (asks || (entry.has_operation && !sets_up)) shares_work_[program_.funcs[call.function].module.index] = true;
  }
}

bool JobRuns::IsSharedWork(std::span<const Site> way) const {
  if (starts_.IsStarted(way.front().function)) return true;
  const auto shares = [&](const Site& site) { return shares_work_[program_.funcs[site.function].module.index]; };
  return std::ranges::any_of(way, shares) || std::ranges::any_of(index_.WaysTo(way.front()), shares);
}

bool JobRuns::IsInTurn(std::span<const Site> way) const {
  return std::ranges::any_of(way, [&](const Site& site) { return IsInTurn(site); });
}

// `with FileLock(path)`, `with accelerator.main_process_first()`.
bool JobRuns::IsInTurn(const Site& site) const {
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  for (ir::StmtId at = index_.StatementOf(site); at; at = tree.Parent(at)) {
    if (module[at].kind != ir::StmtKind::With) continue;
    for (const KnownCall& call : index_.known_calls()) {
      const bool is_turn = call.function == site.function &&
                           (call.entry->Has(knowledge::Role::LockFile) || call.entry->has_operation);
      if (is_turn && index_.StatementOf({call.function, call.expr}) == at) return true;
    }
  }
  return false;
}

}  // namespace allranks::objects
