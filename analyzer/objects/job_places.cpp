#include "analyzer/objects/job_places.h"

#include <algorithm>

#include "analyzer/traces/nodes.h"

namespace allranks::objects {
namespace {

// Chains of callers longer than this are not followed.
constexpr size_t kLongestWayToPlace = 8;

// A test around a statement, and how it came out.
struct Arm {
  uint64_t asked = 0;
  bool holds = true;
};

std::vector<Arm> ArmsAround(const ir::Module& module, const ir::Tree& tree, ir::StmtId stmt, const variation::Facts& facts,
                            ir::ModuleId module_id) {
  std::vector<Arm> arms;
  for (ir::StmtId inner = stmt; inner; inner = tree.Parent(inner)) {
    const ir::StmtId outer = tree.Parent(inner);
    if (!outer || module[outer].kind != ir::StmtKind::If) continue;
    const ValueId test = facts.value(module_id, ir::ValueOf(module[outer]));
    if (!test) continue;
    const traces::Question question = traces::Asked(facts.values_store, test);
    const bool is_then = tree.BlockOf(inner) == ir::BodyOf(module[outer]);
    arms.push_back({question.key, is_then == question.truth});
  }
  return arms;
}

// `if distributed: init(...)`, and the `else` of another `if distributed`: no run comes by both.
bool Contradict(const std::vector<Arm>& of_a, const std::vector<Arm>& of_b) {
  return std::ranges::any_of(of_a, [&](const Arm& mine) {
    return std::ranges::any_of(of_b, [&](const Arm& its) { return mine.asked == its.asked && mine.holds != its.holds; });
  });
}

}  // namespace

JobPlaces::JobPlaces(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                     const ProgramIndex& index, const Launch& launch)
    : program_(program), knowledge_(knowledge), facts_(facts), index_(index), makers_(program.funcs.size()) {
  const auto is_sign = [](const knowledge::LaunchSign& sign) { return sign.run_by == RunBy::AllRanks && !sign.keyword; };
  const auto makes_job = [&](const variation::CallFact& call) {
    if (call.function && launch.MakesJob(call.function)) return true;
    if (call.kind == variation::CallKind::Known) {
      const knowledge::Entry& entry = knowledge[call.entry];
      const bool is_init = entry.has_operation && entry.operation.op_class == knowledge::OpClass::Init;
      return is_init || entry.Has(knowledge::Role::StartsWithIndex) || std::ranges::any_of(knowledge.LaunchSigns(entry.name), is_sign);
    }
    const bool is_external = call.callee && facts.values_store[call.callee].kind == variation::ValueKind::External;
    return is_external && std::ranges::any_of(knowledge.LaunchSigns(facts.values_store[call.callee].name()), is_sign);
  };
  for (uint32_t f = 0; f < program.funcs.size(); ++f) {
    for (const auto& [expr, call] : facts.functions[FuncId{f}].calls) {
      if (makes_job(call)) makers_[f].push_back(expr);
    }
  }
  if (std::ranges::all_of(makers_, &std::vector<ir::ExprId>::empty)) makers_.clear();
}

bool JobPlaces::IsApart(std::span<const Site> way) const {
  // Nothing makes a job: ways through callers are many, and none would show anything.
  if (makers_.empty()) return false;
  Meets on_way = Meets::Unknown;
  bool ends_program = false;
  for (size_t i = way.size(); i-- > 0;) {
    const Meets here = MeetsHere(way[i], ends_program);
    if (here == Meets::Perhaps) return false;
    if (here == Meets::Never) on_way = here;
    ends_program = ends_program || EndsProgram(way[i]);
  }
  std::vector<FuncId> seen;
  const Meets above = way.empty() ? Meets::Unknown : MeetsInCallers(way.front().function, ends_program, seen);
  return above == Meets::Never || (above == Meets::Unknown && on_way == Meets::Never);
}

JobPlaces::Meets JobPlaces::MeetsHere(const Site& site, bool ends_program) const {
  Meets meets = Meets::Unknown;
  for (const ir::ExprId maker : makers_[site.function.index]) {
    // The call on the way itself: what it meets inside has been asked.
    if (maker == site.expr) continue;
    if (MayMeet({site.function, maker}, site, ends_program)) return Meets::Perhaps;
    meets = Meets::Never;
  }
  return meets;
}

// Never: on each way, as far as callers are seen. Where one of them shows nothing, nothing is said.
JobPlaces::Meets JobPlaces::MeetsInCallers(FuncId function, bool ends_program, std::vector<FuncId>& seen) const {
  const auto callers = index_.CallersOf(function);
  if (callers.empty() || seen.size() >= kLongestWayToPlace || std::ranges::find(seen, function) != seen.end()) return Meets::Unknown;
  seen.push_back(function);
  Meets meets = Meets::Never;
  for (const Site& caller : callers) {
    Meets above = MeetsHere(caller, ends_program);
    if (above != Meets::Perhaps) {
      const Meets further = MeetsInCallers(caller.function, ends_program || EndsProgram(caller), seen);
      if (further != Meets::Unknown) above = further;
    }
    if (above != Meets::Never) meets = above;
    if (meets == Meets::Perhaps) break;
  }
  seen.pop_back();
  return meets;
}

// Whether a run may reach both.
bool JobPlaces::MayMeet(const Site& maker, const Site& site, bool ends_program) const {
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  const ir::StmtId at = index_.StatementOf(site);
  const ir::StmtId other = index_.StatementOf(maker);
  if (!at || !other) return true;
  // `train(read(args))`: what is handed over comes first.
  for (ir::ExprId outer = tree.Parent(site.expr); outer; outer = tree.Parent(outer)) {
    if (outer == maker.expr) return !ends_program;
  }
  const auto arms = [&](ir::StmtId stmt) { return ArmsAround(module, tree, stmt, facts_, module_id); };
  if (Contradict(arms(at), arms(other))) return false;
  // Up to the block that both stand in.
  for (ir::StmtId mine = at; mine; mine = tree.Parent(mine)) {
    for (ir::StmtId its = other; its; its = tree.Parent(its)) {
      if (tree.BlockOf(mine) != tree.BlockOf(its)) continue;
      const ir::BlockId common = tree.BlockOf(mine);
      if (mine == its) return true;
      const bool comes_first = module[mine].begin < module[its].begin;
      if (comes_first) return !ends_program && !IsLeftBefore(site.function, at, common);
      return !IsLeftBefore(site.function, other, common);
    }
    const ir::StmtId outer = tree.Parent(mine);
    const bool is_branch = outer && module[outer].kind == ir::StmtKind::If;
    if (is_branch && tree.Holds(outer, other) && other != outer) return false;
  }
  return true;
}

// Whether a block around a statement, below the one given, is left by a return, an exception or the end of the program.
bool JobPlaces::IsLeftBefore(FuncId function, ir::StmtId stmt, ir::BlockId common) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  for (ir::StmtId at = stmt; at && tree.BlockOf(at) != common; at = tree.Parent(at)) {
    const ir::Stmt& last = module[module.statements(tree.BlockOf(at)).back()];
    if (last.kind == ir::StmtKind::Return || last.kind == ir::StmtKind::Raise) return true;
    if (Exits(function, module.statements(tree.BlockOf(at)).back())) return true;
  }
  return false;
}

bool JobPlaces::EndsProgram(const Site& site) const {
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  for (ir::StmtId at = index_.StatementOf(site); at; at = tree.Parent(at)) {
    if (Exits(site.function, module.statements(tree.BlockOf(at)).back())) return true;
  }
  return false;
}

// `exit(0)`
bool JobPlaces::Exits(FuncId function, ir::StmtId stmt) const {
  const ir::Module& module = program_.module_of(function);
  if (module[stmt].kind != ir::StmtKind::Expr) return false;
  const variation::CallFact* call = facts_.call(function, ir::ValueOf(module[stmt]));
  return call != nullptr && call->kind == variation::CallKind::Known && knowledge_[call->entry].exits;
}

}  // namespace allranks::objects
