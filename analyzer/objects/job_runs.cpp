#include "analyzer/objects/job_runs.h"

#include <algorithm>

namespace allranks::objects {

JobRuns::JobRuns(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Launch& launch,
                 const Loading& loading)
    : program_(program), index_(index), launch_(launch), jobs_(program, index), starts_(program, facts, index) {
  NoteSharedWork(loading);
  NoteHandedOver(facts);
  NoteTurns(facts);
}

bool JobRuns::IsRunByRanks(const Site& site) const {
  if (starts_.IsStartedAlone(site.function)) return false;
  const bool is_started = starts_.IsStarted(site.function);
  const bool is_of_ranks = is_started || launch_.Of(site) == RunBy::AllRanks;
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

// `with FileLock(path)`, `with accelerator.main_process_first()`, `lock = FileLock(path)` and later `with lock`, and
// what the project itself makes of a barrier: `with zero_first(rank)`.
void JobRuns::NoteTurns(const variation::Facts& facts) {
  std::vector<bool> communicates(program_.funcs.size());
  std::unordered_set<uint32_t> locks;
  for (const KnownCall& call : index_.known_calls()) {
    const ValueId made = facts.value(program_.funcs[call.function].module, call.expr);
    if (call.entry->Has(knowledge::Role::LockFile) && made) locks.insert(made.index);
    if (call.entry->has_operation) communicates[call.function.index] = true;
    if (call.entry->has_operation || call.entry->Has(knowledge::Role::LockFile)) NoteTurn({call.function, call.expr});
    if (call.entry->has_operation) NoteBranch({call.function, call.expr});
  }
  for (uint32_t f = 0; f < program_.funcs.size(); ++f) {
    const FuncId function{f};
    for (const auto* list : {&facts.functions[function].calls, &facts.functions[function].enters}) {
      for (const auto& [expr, call] : *list) {
        if (call.function && communicates[call.function.index]) NoteTurn({function, expr});
      }
    }
  }
  NoteHeldLocks(facts, locks);
}

void JobRuns::NoteHeldLocks(const variation::Facts& facts, const std::unordered_set<uint32_t>& locks) {
  for (uint32_t m = 0; m < program_.modules.size(); ++m) {
    const ir::Module& module = program_.modules[ir::ModuleId{m}];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::StmtId stmt{i};
      if (module[stmt].kind != ir::StmtKind::With) continue;
      for (const ir::WithItem& item : ir::WithItemsOf(module, module[stmt])) {
        if (MayBeLock(facts.values_store, facts.value(ir::ModuleId{m}, item.context), locks)) turns_.insert({m, i});
      }
    }
  }
}

bool JobRuns::MayBeLock(const variation::ValueStore& store, ValueId value, const std::unordered_set<uint32_t>& locks) {
  if (!value || locks.contains(value.index)) return static_cast<bool>(value);
  if (store[value].kind != variation::ValueKind::Select) return false;
  return std::ranges::any_of(store.Kids(value).subspan(1), [&](ValueId arm) { return MayBeLock(store, arm, locks); });
}

// What is entered there, and not what is called in the body.
void JobRuns::NoteTurn(const Site& site) {
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  const ir::StmtId stmt = index_.StatementOf(site);
  if (stmt && program_.modules[module_id][stmt].kind == ir::StmtKind::With) turns_.insert({module_id.index, stmt.index});
}

// `if rank != 0: dist.barrier()`: one of the two branches between which one rank goes first.
void JobRuns::NoteBranch(const Site& site) {
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::StmtId stmt = index_.StatementOf(site);
  const ir::StmtId branch = stmt ? index_.tree(module_id).Parent(stmt) : ir::StmtId::None();
  if (branch && module[branch].kind == ir::StmtKind::If && !ir::ElseBlockOf(module[branch])) branches_.insert({module_id.index, branch.index});
}

// There, or where it is called from.
bool JobRuns::IsInTurn(std::span<const Site> way) const {
  const auto is_in = [&](const Site& site) { return IsInTurn(site); };
  if (std::ranges::any_of(way, is_in)) return true;
  const std::vector<Site> above = index_.WaysTo(way.front());
  return std::ranges::any_of(above, [&](const Site& site) { return is_in(site) || IsOverriddenInTurn(site.function); });
}

// A method of a base class that the function overrides is called in turn: too many override it for the call to be followed.
bool JobRuns::IsOverriddenInTurn(FuncId function) const {
  const binding::ClassId owner = program_.funcs[function].owner;
  if (!owner) return false;
  const auto& own = program_.classes[owner].methods;
  const auto method = std::ranges::find(own, function, &std::pair<base::NameId, FuncId>::second);
  if (method == own.end()) return false;
  return std::ranges::any_of(program_.classes[owner].mro, [&](binding::ClassId base) {
    const FuncId overridden = base == owner ? FuncId::None() : program_.FindMethod(base, method->first);
    if (!overridden || overridden == function) return false;
    const auto callers = index_.CallersOf(overridden);
    return std::ranges::any_of(callers, [&](const Site& caller) {
      const std::vector<Site> above = index_.WaysTo(caller);
      return std::ranges::any_of(above, [&](const Site& site) { return IsInTurn(site); });
    });
  });
}

bool JobRuns::IsInTurn(const Site& site) const {
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  const ir::Tree& tree = index_.tree(module_id);
  for (ir::StmtId at = index_.StatementOf(site); at; at = tree.Parent(at)) {
    if (turns_.contains({module_id.index, at.index}) || IsBetweenBranches(module_id, at)) return true;
  }
  return false;
}

bool JobRuns::IsBetweenBranches(ir::ModuleId module_id, ir::StmtId stmt) const {
  bool is_before = true;
  bool has_before = false;
  bool has_behind = false;
  for (const ir::StmtId other : program_.modules[module_id].statements(index_.tree(module_id).BlockOf(stmt))) {
    is_before = is_before && other != stmt;
    if (other != stmt && branches_.contains({module_id.index, other.index})) (is_before ? has_before : has_behind) = true;
  }
  return has_before && has_behind;
}

}  // namespace allranks::objects
