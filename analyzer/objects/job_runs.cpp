#include "analyzer/objects/job_runs.h"

#include <algorithm>

#include "analyzer/ir/walk.h"
#include "analyzer/objects/jobs.h"
#include "analyzer/objects/lightning_calls.h"
#include "analyzer/objects/main_guard.h"
#include "analyzer/objects/rank_words.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

constexpr std::string_view kModule = "torch.nn.Module";

JobRuns::JobRuns(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                 const ProgramIndex& index, const Launch& launch, const Loading& loading)
    : program_(program), knowledge_(knowledge), index_(index), launch_(launch), starts_(program, facts, index),
      givers_(program.funcs.size()) {
  NoteSharedWork(loading);
  NoteHandedOver(facts);
  NoteGivers(facts);
  NoteStarters(facts);
  NoteJobs();
  NoteOwnRanks();
  NoteImportedAgain();
  NoteStartedByHand();
  NoteTurns(facts);
}

bool JobRuns::IsRunByRanks(const Site& site) const {
  if (starts_.IsStartedAlone(site.function)) return false;
  const bool is_started = starts_.IsStarted(site.function);
  const bool is_of_ranks = is_started || launch_.Of(site) == RunBy::AllRanks;
  if (!is_of_ranks || !of_job_[site.function.index]) return false;
  if (is_started) return true;
  // Inside a function that nobody runs there is nothing to hand over.
  for (FuncId around = program_.funcs[site.function].parent; around; around = program_.funcs[around].parent) {
    const bool is_top = program_.funcs[around].function == ir::kTopLevel;
    if (!is_top && !run_[around.index] && !handed_over_[around.index]) return false;
  }
  const std::vector<Site> ways = index_.WaysTo(site);
  const bool is_run = run_[site.function.index] ||
                      std::ranges::any_of(ways, [&](const Site& caller) { return handed_over_[caller.function.index]; });
  return is_run && std::ranges::none_of(ways, [&](const Site& caller) { return start_ranks_[caller.function.index]; });
}

bool JobRuns::IsRunByRanks(std::span<const Site> way) const {
  size_t first = 0;
  for (const ProcessStart& start : starts_.starts()) {
    for (size_t i = 0; i + 1 < way.size(); ++i) {
      if (way[i] == start.site) first = std::max(first, i + 1);
    }
  }
  return IsRunByRanks(way[first]);
}

bool JobRuns::IsRunByStarted(const Site& site) const {
  const binding::Func& func = program_.funcs[site.function];
  if (func.function != ir::kTopLevel || !imported_again_[func.module.index]) return false;
  const ir::Tree& tree = index_.tree(func.module);
  const ir::StmtId main = MainOf(program_, func.module);
  const ir::StmtId stmt = tree.StatementOf(site.expr);
  return stmt && (!main || !tree.Holds(main, stmt));
}

bool JobRuns::IsStartedOnRanks(const Site& site) const {
  const auto lines = launch_.lines();
  const ir::ModuleId module = program_.funcs[site.function].module;
  const bool by_hand = started_by_hand_[module.index];
  // A configuration of a launcher that no line names starts nothing where lines start the program without one.
  const auto starts = [&](const LaunchLine& line) {
    const bool is_command = !line.path.empty() || line.unknown_below;
    return line.is_job_of_one || (line.starts_ranks && (is_command || !by_hand));
  };
  return lines.empty() || std::ranges::any_of(lines, starts) || has_own_ranks_[module.index] || (IsOfPackage(site) && !by_hand);
}

// Whether a file in a package comes to a place when it is started: that may be installed under a name of its own.
bool JobRuns::IsOfPackage(const Site& site) const {
  const auto is_in_package = [&](ir::ModuleId module) { return program_.infos[module].dotted.find('.') != std::string::npos; };
  std::vector<Site> ways = index_.WaysTo(site);
  ways.push_back(site);
  bool is_started = false;
  for (const Site& way : ways) {
    const binding::Func& func = program_.funcs[way.function];
    if (func.function != ir::kTopLevel) continue;
    if (is_in_package(func.module)) return true;
    is_started = true;
  }
  return !is_started && is_in_package(program_.funcs[site.function].module);
}

// Files of programs that lines start by `python`: these say how the package is used.
void JobRuns::NoteStartedByHand() {
  started_by_hand_.resize(program_.modules.size());
  std::set<std::string_view> paths;
  for (const LaunchLine& line : launch_.lines()) {
    if (!line.starts_ranks && !line.is_job_of_one) paths.insert(line.path);
  }
  if (paths.empty()) return;
  const binding::Neighbourhood neighbourhood(program_);
  for (uint32_t m = 0; m < program_.modules.size(); ++m) {
    if (!paths.contains(program_.infos[ir::ModuleId{m}].path)) continue;
    for (const ir::ModuleId used : neighbourhood.UsedBy(ir::ModuleId{m})) started_by_hand_[used.index] = true;
  }
}

void JobRuns::NoteOwnRanks() {
  has_own_ranks_.resize(program_.modules.size());
  std::vector<FuncId> starters;
  for (const KnownCall& trainer : FindLightningCalls(program_, index_).trainers) starters.push_back(trainer.function);
  for (uint32_t f = 0; f < start_ranks_.size(); ++f) {
    if (start_ranks_[f] || launch_.StartsJob(FuncId{f})) starters.push_back(FuncId{f});
  }
  if (starters.empty()) return;
  const binding::Neighbourhood neighbourhood(program_);
  for (const FuncId starter : starters) {
    const ir::ModuleId module = program_.funcs[starter].module;
    if (has_own_ranks_[module.index]) continue;
    for (const ir::ModuleId used : neighbourhood.UsedBy(module)) has_own_ranks_[used.index] = true;
  }
}

// The file that starts them, those on the way there, and what these import.
void JobRuns::NoteImportedAgain() {
  imported_again_.resize(program_.modules.size());
  if (starts_.starts().empty()) return;
  const binding::Neighbourhood neighbourhood(program_);
  for (const ProcessStart& start : starts_.starts()) {
    if (start.is_one || !of_job_[start.started.index]) continue;
    for (const Site& way : index_.WaysTo(start.site)) {
      const ir::ModuleId module = program_.funcs[way.function].module;
      if (imported_again_[module.index]) continue;
      for (const ir::ModuleId used : neighbourhood.UsedBy(module)) imported_again_[used.index] = true;
    }
  }
}

// A function that makes a job, in itself or far below, and that nobody is seen to call is there to be run by the ranks.
void JobRuns::NoteJobs() {
  const Jobs jobs(program_, index_);
  std::vector<bool> makes_job(program_.modules.size());
  for (uint32_t f = 0; f < program_.funcs.size(); ++f) {
    if (launch_.MakesJob(FuncId{f})) makes_job[program_.funcs[FuncId{f}].module.index] = true;
  }
  for (uint32_t f = 0; f < program_.funcs.size(); ++f) {
    const FuncId function{f};
    of_job_.push_back(jobs.IsOfJob(function) || makes_job[program_.funcs[function].module.index]);
    // Of a method that overrides one of a library, the library says who calls it.
    const bool is_left = program_.funcs[function].function == ir::kTopLevel || IsOverride(function);
    run_.push_back(jobs.IsRun(function) || (!is_left && launch_.MakesJob(function) && index_.CallersOf(function).empty()));
  }
  Descend(of_job_);
  Descend(run_);
}

// A rank that starts helpers of its own (`Process(target=decode)`) remains one.
void JobRuns::NoteStarters(const variation::Facts& facts) {
  start_ranks_.resize(program_.funcs.size());
  for (const KnownCall& call : index_.known_calls()) {
    for (const knowledge::RoleOf& role : call.entry->roles) {
      if (!role.StartsProcesses()) continue;
      const ValueId target = index_.Arg(call, program_.text(role.param));
      const bool is_function = target && facts.values_store[target].kind == variation::ValueKind::Function;
      const bool is_helper = role.role == knowledge::Role::StartProcesses && is_function && !launch_.MakesJob(facts.values_store[target].function());
      if (is_helper) continue;
      for (const Site& site : index_.WaysTo({call.function, call.expr})) start_ranks_[site.function.index] = true;
    }
  }
}

void JobRuns::NoteHandedOver(const variation::Facts& facts) {
  handed_over_.resize(program_.funcs.size());
  for (uint32_t m = 0; m < program_.modules.size(); ++m) {
    for (const auto& [expr, call] : facts.functions[program_.func(ir::ModuleId{m}, ir::kTopLevel)].calls) {
      if (call.kind != variation::CallKind::External) continue;
      for (const ValueId arg : facts.args(call)) {
        if (arg && facts.values_store[arg].kind == variation::ValueKind::Function) handed_over_[facts.values_store[arg].function().index] = true;
      }
    }
  }
}

// `train(args, make_data=build)`, and `Trainer(callbacks=[Saver()])`, whose methods the library calls.
void JobRuns::NoteGivers(const variation::Facts& facts) {
  for (uint32_t f = 0; f < program_.funcs.size(); ++f) {
    const FuncId function{f};
    for (const auto& [expr, call] : facts.functions[function].calls) {
      for (const ValueId arg : facts.args(call)) AddGiven(facts.values_store, function, arg, 0);
      const bool is_made = call.kind == variation::CallKind::Construct && call.callee &&
                           facts.values_store[call.callee].kind == variation::ValueKind::Class;
      if (is_made) AddMethods(function, facts.values_store[call.callee].class_id());
    }
  }
  // `trainer.add_callback(Saver)`
  for (const HandedClass& handed : launch_.handed_classes()) AddMethods(handed.by, handed.class_id, handed.by_name);
}

// A function, one bound to some of its arguments, one in a table.
void JobRuns::AddGiven(const variation::ValueStore& store, FuncId by, ValueId value, int depth) {
  constexpr int kDeepest = 3;
  if (!value || depth > kDeepest) return;
  const variation::Value& node = store[value];
  if (node.kind == variation::ValueKind::Function) {
    // What a decorator makes of it may be run by one rank (`@main_process`).
    if (program_.function(node.function()).decorators.empty()) givers_[node.function().index].push_back(by);
    return;
  }
  const bool holds = node.kind == variation::ValueKind::Tuple || node.kind == variation::ValueKind::Dict ||
                     node.kind == variation::ValueKind::Partial;
  if (!holds) return;
  for (const ValueId kid : store.Kids(value)) AddGiven(store, by, kid, depth + 1);
}

// `by_name`: who makes it is not seen to call its methods.
void JobRuns::AddMethods(FuncId by, binding::ClassId made, bool by_name) {
  const auto& bases = program_.classes[made].external_bases;
  const bool is_of_library = std::ranges::any_of(bases, [&](base::NameId base) { return static_cast<bool>(knowledge_.FindClass(base)); });
  if (!is_of_library && !by_name) return;
  const bool is_plain_module = std::ranges::all_of(bases, [&](base::NameId base) { return program_.text(base) == kModule; });
  for (const binding::ClassId base : program_.classes[made].mro) {
    for (const auto& [name, method] : program_.classes[base].methods) {
      const bool is_called = by_name || !is_plain_module || IsCalledByModule(program_.text(name));
      if (is_called && index_.CallersOf(method).empty() && !IsGuardedByLibrary(made, name)) givers_[method.index].push_back(by);
    }
  }
}

// `torch.nn.Module` calls `forward` and those with underlines around them, and none of the names that a project may give a method.
bool JobRuns::IsCalledByModule(std::string_view method) { return method == "forward" || method.starts_with("__"); }

bool JobRuns::IsOverride(FuncId function) const {
  const binding::ClassId owner = program_.funcs[function].owner;
  if (!owner || program_.classes[owner].external_bases.empty()) return false;
  return std::ranges::any_of(program_.classes[owner].methods, [&](const auto& method) {
    return method.second == function && OverriddenBy(owner, method.first);
  });
}

// The entry of the method of a library that one of this name overrides; none if it is the project's own.
knowledge::EntryId JobRuns::OverriddenBy(binding::ClassId owner, base::NameId method) const {
  for (const base::NameId base : program_.classes[owner].external_bases) {
    const knowledge::ClassId known = knowledge_.FindClass(base);
    const knowledge::EntryId entry = known ? knowledge_.FindMember(known, method) : knowledge::EntryId::None();
    if (entry) return entry;
  }
  return knowledge::EntryId::None();
}

// The library calls it on one rank alone.
bool JobRuns::IsGuardedByLibrary(binding::ClassId owner, base::NameId method) const {
  const knowledge::EntryId entry = OverriddenBy(owner, method);
  return entry && knowledge_[entry].guard;
}

// To all that they call or hand over.
void JobRuns::Descend(std::vector<bool>& functions) const {
  for (bool grew = true; grew;) {
    grew = false;
    for (uint32_t f = 0; f < functions.size(); ++f) {
      if (functions[f]) continue;
      const auto callers = index_.CallersOf(FuncId{f});
      functions[f] = std::ranges::any_of(callers, [&](const Site& caller) { return functions[caller.function.index]; }) ||
                     std::ranges::any_of(givers_[f], [&](FuncId by) { return functions[by.index]; });
      grew = grew || functions[f];
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
  const std::vector<Site> ways = index_.WaysTo(way.front());
  // Of a method that a library calls, those that make the object.
  const auto is_shared_by_giver = [&](const Site& site) {
    return std::ranges::any_of(givers_[site.function.index], [&](FuncId giver) { return shares_work_[program_.funcs[giver].module.index]; });
  };
  return std::ranges::any_of(way, shares) || std::ranges::any_of(ways, shares) || std::ranges::any_of(ways, is_shared_by_giver);
}

// `with FileLock(path)`, `with accelerator.main_process_first()`, `lock = FileLock(path)` and later `with lock`, and
// what the project itself makes of a barrier: `with zero_first(rank)`.
void JobRuns::NoteTurns(const variation::Facts& facts) {
  std::vector<bool> communicates(program_.funcs.size());
  std::unordered_set<uint32_t> locks;
  for (const KnownCall& call : index_.known_calls()) {
    const ValueId made = facts.value(program_.funcs[call.function].module, call.expr);
    if (call.entry->Has(knowledge::Role::LockFile) && made) locks.insert(made.index);
    // `with open(path, "w") as lock: fcntl.lockf(lock, LOCK_EX)`
    const ValueId locked = call.entry->Has(knowledge::Role::LockFile) ? index_.Arg(call, "fd") : ValueId::None();
    if (locked) locks.insert(locked.index);
    if (call.entry->has_operation) communicates[call.function.index] = true;
    if (call.entry->has_operation || call.entry->Has(knowledge::Role::LockFile)) NoteTurn({call.function, call.expr});
    const bool is_barrier = call.entry->has_operation && program_.text(call.entry->operation.kind) == "barrier";
    if (is_barrier) NoteBranch(facts, {call.function, call.expr});
  }
  for (uint32_t f = 0; f < program_.funcs.size(); ++f) {
    const FuncId function{f};
    for (const auto* list : {&facts.functions[function].calls, &facts.functions[function].enters}) {
      for (const auto& [expr, call] : *list) {
        if (call.function && communicates[call.function.index] && MayHoldOthers(call.function)) NoteTurn({function, expr});
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

// A generator holds nobody while its body runs if it communicates only before that, and no turn of its own is around its `yield`.
bool JobRuns::MayHoldOthers(FuncId entered) const {
  const ir::ModuleId module_id = program_.funcs[entered].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  uint32_t first_yield = 0;
  for (const ir::ExprId yield : index_.ExprsOf(module_id, ir::ExprKind::Yield)) {
    const ir::StmtId stmt = tree.StatementOf(yield);
    if (!stmt || index_.FunctionOf(module_id, stmt) != entered) continue;
    for (ir::StmtId at = stmt; at; at = tree.Parent(at)) {
      if (turns_.contains({module_id.index, at.index})) return true;
    }
    if (first_yield == 0) first_yield = module[stmt].begin;
  }
  return first_yield == 0 || std::ranges::any_of(index_.known_calls(), [&](const KnownCall& call) {
    return call.function == entered && call.entry->has_operation && module.span(call.expr).begin > first_yield;
  });
}

// `if rank != 0: dist.barrier()`: one of the two branches between which one rank goes first. What releases the others may as well
// be a barrier that only the first comes to.
void JobRuns::NoteBranch(const variation::Facts& facts, const Site& site) {
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::StmtId stmt = index_.StatementOf(site);
  const ir::StmtId branch = stmt ? index_.tree(module_id).Parent(stmt) : ir::StmtId::None();
  const bool is_branch = branch && module[branch].kind == ir::StmtKind::If && !ir::ElseBlockOf(module[branch]);
  if (is_branch && PartsRanks(facts, module_id, ir::ValueOf(module[branch]))) branches_.insert({module_id.index, branch.index});
  if (stmt) releases_[{module_id.index, index_.tree(module_id).FunctionOf(stmt).index}].push_back(module[stmt].begin);
}

// Whether the first rank does otherwise than the last: `if local_rank != -1` is true of all.
bool JobRuns::PartsRanks(const variation::Facts& facts, ir::ModuleId module, ir::ExprId test) const {
  const ValueId value = facts.value(module, test);
  const traces::World world = SmallJob(facts.job);
  const Values values(program_, knowledge_, facts);
  const std::optional<bool> first = value ? values.TruthAsRankTest(value, world, 0) : std::nullopt;
  const std::optional<bool> last = value ? values.TruthAsRankTest(value, world, world.size() - 1) : std::nullopt;
  return first && last ? *first != *last : NamesFirstRank(facts, module, test);
}

// `local_rank not in [-1, 0]` of a parameter of which nothing is known but its name.
bool JobRuns::NamesFirstRank(const variation::Facts& facts, ir::ModuleId module_id, ir::ExprId test) const {
  const ir::Module& module = program_.modules[module_id];
  const Values values(program_, knowledge_, facts);
  const auto is_rank = [&](ir::ExprId part) {
    const ir::Expr& expr = module[part];
    if (expr.kind == ir::ExprKind::Name) return RankWords::IsWord(program_.text(ir::NameOf(expr)));
    return expr.kind == ir::ExprKind::Attribute && RankWords::IsWord(program_.text(ir::AttrOf(expr)));
  };
  const auto is_first = [&](ir::ExprId part) {
    const ValueId value = facts.value(module_id, part);
    return value && values.Int(value) == 0;
  };
  return ir::AnyPart(module, test, is_rank) && ir::AnyPart(module, test, is_first);
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
  const ir::StmtId stmt = index_.StatementOf(site);
  const bool may_be_held = stmt && IsReleasedBehind(module_id, stmt);
  for (ir::StmtId at = stmt; at; at = tree.Parent(at)) {
    if (turns_.contains({module_id.index, at.index}) || (may_be_held && IsHeldAt(module_id, at))) return true;
  }
  return false;
}

// Whether some place behind a statement lets those go on that were held back: the second branch, or a barrier that the first comes to.
bool JobRuns::IsReleasedBehind(ir::ModuleId module_id, ir::StmtId stmt) const {
  const uint32_t end = program_.modules[module_id][stmt].end;
  const auto released = releases_.find({module_id.index, index_.tree(module_id).FunctionOf(stmt).index});
  return released != releases_.end() && std::ranges::any_of(released->second, [&](uint32_t begin) { return begin >= end; });
}

// Behind a branch that holds the others back, before a second one lets them go on.
bool JobRuns::IsHeldAt(ir::ModuleId module_id, ir::StmtId stmt) const {
  bool is_held = false;
  for (const ir::StmtId other : program_.modules[module_id].statements(index_.tree(module_id).BlockOf(stmt))) {
    if (other == stmt) break;
    if (branches_.contains({module_id.index, other.index})) is_held = !is_held;
  }
  return is_held;
}

}  // namespace allranks::objects
