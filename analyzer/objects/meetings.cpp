#include "analyzer/objects/meetings.h"

#include <algorithm>

#include "analyzer/ir/walk.h"

namespace allranks::objects {
namespace {

// Callers further away are not followed.
constexpr size_t kLongestWayToMeeting = 8;

// A block that ends so does not go on behind it. `continue` goes on in the next round.
bool Leaves(const ir::Stmt& stmt, bool in_next_round) {
  return stmt.kind == ir::StmtKind::Return || stmt.kind == ir::StmtKind::Raise || stmt.kind == ir::StmtKind::Break ||
         (stmt.kind == ir::StmtKind::Continue && !in_next_round);
}

}  // namespace

Meetings::Meetings(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                   const ProgramIndex& index, const Guards& guards, const RanksAt& ranks, const Launch& launch, const traces::World& world)
    : program_(program), knowledge_(knowledge), facts_(facts), index_(index), guards_(guards), ranks_(ranks), launch_(launch), world_(world),
      values_(program, knowledge, facts),
      operations_(program.funcs.size()), joins_(program.funcs.size()), communicates_(program.funcs.size()) {
  std::vector<FuncId> work;
  const auto add = [&](FuncId function) {
    if (communicates_[function.index]) return;
    communicates_[function.index] = true;
    work.push_back(function);
  };
  for (const KnownCall& call : index.known_calls()) {
    if (!call.entry->has_operation) continue;
    const knowledge::Operation& operation = call.entry->operation;
    if (operation.op_class == knowledge::OpClass::Init) joins_[call.function.index].push_back(call.expr);
    const bool counts = operation.op_class == knowledge::OpClass::Collective || operation.op_class == knowledge::OpClass::Implicit;
    if (!counts || !operation.strategies.empty() || operation.only_if_param) continue;
    operations_[call.function.index].push_back(call.expr);
    add(call.function);
  }
  while (!work.empty()) {
    const FuncId function = work.back();
    work.pop_back();
    for (const Site& caller : index.CallersOf(function)) add(caller.function);
  }
}

std::optional<Meeting> Meetings::After(const Site& site) const {
  OnWay on_way;
  return Parted(site, on_way);
}

std::optional<Meeting> Meetings::AfterLeaving(const Site& site) const {
  if (!IsForAll(site)) return std::nullopt;
  OnWay on_way;
  std::optional<Meeting> meeting = Behind(site, on_way);
  if (meeting) meeting->parted = site;
  return meeting;
}

std::optional<Meeting> Meetings::Parted(const Site& site, OnWay& on_way) const {
  const traces::RankSet ranks = ranks_.At(site, world_);
  if (ranks.empty() || ranks == traces::RankSet::All(world_.size())) return std::nullopt;
  if (on_way.size() >= kLongestWayToMeeting || !on_way.insert(site.function.index).second) return std::nullopt;
  if (ranks_.ThatCall(site.function, world_) == traces::RankSet::All(world_.size())) {
    if (!IsDecided(site)) return std::nullopt;
    OnWay above;
    std::optional<Meeting> meeting = Behind(site, above);
    if (meeting) meeting->parted = site, meeting->on_way = ranks;
    return meeting;
  }
  for (const Site& caller : index_.CallersOf(site.function)) {
    if (std::optional<Meeting> meeting = Parted(caller, on_way)) return meeting;
  }
  return std::nullopt;
}

// A test of the rank in the function itself, and not one that merely speaks of ranks.
bool Meetings::IsDecided(const Site& site) const {
  const bool is_decorated = std::ranges::any_of(facts_.functions[site.function].decorators, [&](knowledge::EntryId decorator) {
    return static_cast<bool>(knowledge_[decorator].guard);
  });
  return is_decorated || std::ranges::any_of(guards_.Of(site), [&](const Guard& guard) {
    const ValueId test = facts_.value(program_.funcs[guard.function].module, guard.test);
    traces::RankSet kept_away;
    for (uint32_t rank = 0; rank < world_.size(); ++rank) {
      const std::optional<bool> truth = test ? values_.TruthAsRankTest(test, world_, rank) : std::nullopt;
      if (truth && *truth != guard.holds) kept_away = kept_away | traces::RankSet::Of(rank);
    }
    return !kept_away.empty() && kept_away != traces::RankSet::All(world_.size());
  });
}

// In its own function, else behind a call of that.
std::optional<Meeting> Meetings::Behind(const Site& site, OnWay& on_way) const {
  if (on_way.size() >= kLongestWayToMeeting || !on_way.insert(site.function.index).second) return std::nullopt;
  if (const std::optional<ir::StmtId> stmt = BehindIn(site)) return Meeting{{}, {}, site.function, *stmt};
  for (const Site& caller : index_.CallersOf(site.function)) {
    if (!IsForAll(caller)) continue;
    if (std::optional<Meeting> meeting = Behind(caller, on_way)) return meeting;
  }
  return std::nullopt;
}

// In the rest of this round, in the next one, behind the loop; loops of these ranks alone left out.
std::optional<ir::StmtId> Meetings::BehindIn(const Site& site) const {
  const ir::Module& module = program_.module_of(site.function);
  const ir::StmtId from = index_.StatementOf(site);
  if (!from) return std::nullopt;
  uint32_t begin = module[from].end;
  for (const ir::StmtId loop : index_.LoopsAround(site)) {
    const ir::ExprId head = module[loop].kind == ir::StmtKind::For ? ir::AssignedOf(module[loop]) : ir::ValueOf(module[loop]);
    if (!head || !IsForAll({site.function, head})) continue;
    if (const auto rest = First(site, begin, module[loop].end)) return rest;
    if (const auto next = First(site, module[loop].begin, module[from].begin)) return next;
    begin = module[loop].end;
  }
  return First(site, begin, UINT32_MAX);
}

std::optional<ir::StmtId> Meetings::First(const Site& site, uint32_t from, uint32_t to) const {
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::StmtId parted = index_.StatementOf(site);
  ir::StmtId first;
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::StmtId stmt{i};
    if (module[stmt].begin < from || module[stmt].end > to || index_.FunctionOf(module_id, stmt) != site.function) continue;
    if (first && module[stmt].begin >= module[first].begin) continue;
    const bool counts = IsMeeting(site.function, stmt) || MakesJob(site.function, stmt);
    if (counts && GoesOn(module_id, parted, stmt)) first = stmt;
  }
  // Before the job is made nobody waits in a group.
  if (!first || !IsMeeting(site.function, first)) return std::nullopt;
  return first;
}

template <class Test>
bool Meetings::AnyCall(FuncId function, ir::StmtId stmt, Test test) const {
  const ir::Tree& tree = index_.tree(program_.funcs[function].module);
  for (const auto* list : {&facts_.functions[function].calls, &facts_.functions[function].enters, &facts_.functions[function].iterations}) {
    for (const auto& [expr, fact] : *list) {
      if (fact.function && tree.StatementOf(expr) == stmt && test(fact.function)) return true;
    }
  }
  return false;
}

// All ranks come there, and communicate in the statement itself.
bool Meetings::IsMeeting(FuncId function, ir::StmtId stmt) const {
  const ir::Module& module = program_.module_of(function);
  const ir::Tree& tree = index_.tree(program_.funcs[function].module);
  const auto is_here = [&](ir::ExprId expr) { return tree.StatementOf(expr) == stmt; };
  const auto own = std::ranges::find_if(operations_[function.index], is_here);
  if (own != operations_[function.index].end()) return IsForAll({function, *own});
  const bool calls = AnyCall(function, stmt, [&](FuncId callee) { return communicates_[callee.index]; });
  if (!calls) return false;
  ir::ExprId any;
  ir::ForEachExpr(module, module[stmt], [&](ir::ExprId expr) { any = any ? any : expr; });
  return any && IsForAll({function, any});
}

bool Meetings::MakesJob(FuncId function, ir::StmtId stmt) const {
  const ir::Tree& tree = index_.tree(program_.funcs[function].module);
  if (std::ranges::any_of(joins_[function.index], [&](ir::ExprId expr) { return tree.StatementOf(expr) == stmt; })) return true;
  return AnyCall(function, stmt, [&](FuncId callee) { return launch_.MakesJob(callee); });
}

// Not from one arm of a branch to the other, and not out of a block that is left otherwise.
bool Meetings::GoesOn(ir::ModuleId module_id, ir::StmtId from, ir::StmtId to) const {
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  const bool in_next_round = module[to].begin < module[from].begin;
  for (ir::StmtId at = from; at; at = tree.Parent(at)) {
    for (ir::StmtId other = to; other; other = tree.Parent(other)) {
      if (tree.BlockOf(other) == tree.BlockOf(at)) return true;
      const ir::StmtId outer = tree.Parent(other);
      if (outer && outer == tree.Parent(at) && module[outer].kind == ir::StmtKind::If) return false;
    }
    const auto block = module.statements(tree.BlockOf(at));
    if (!block.empty() && block.back() != from && Leaves(module[block.back()], in_next_round)) return false;
  }
  return false;
}

}  // namespace allranks::objects
