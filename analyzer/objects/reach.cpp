#include "analyzer/objects/reach.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

namespace allranks::objects {

using traces::RankSet;

namespace {

// Chains of callers longer than this are not followed: all ranks may come along.
constexpr size_t kLongestWay = 8;

// What tests come out as where a function is called with these arguments.
class CallTests {
 public:
  CallTests(const variation::ValueStore& store, FuncId function, std::span<const ValueId> args)
      : store_(store), function_(function), args_(args) {}

  std::optional<bool> Truth(ValueId test) const {
    const ValueId known = Passed(test);
    if (!known) return std::nullopt;
    const variation::Value& value = store_[known];
    const auto kids = store_.Kids(known);
    switch (value.kind) {
      case variation::ValueKind::None:
        return false;
      case variation::ValueKind::Bool:
        return value.a != 0;
      case variation::ValueKind::Unary: {
        const std::optional<bool> inner = static_cast<ir::UnaryOp>(value.op) == ir::UnaryOp::Not ? Truth(kids[0]) : std::nullopt;
        return inner ? std::optional(!*inner) : std::nullopt;
      }
      case variation::ValueKind::And:
        return std::ranges::any_of(kids, [&](ValueId kid) { return Truth(kid) == false; }) ? std::optional(false) : std::nullopt;
      case variation::ValueKind::Compare:
        return Compared(static_cast<ir::CompareOp>(value.op), Passed(kids[0]), Passed(kids[1]));
      default:
        return std::nullopt;
    }
  }

 private:
  ValueId Passed(ValueId id) const {
    const variation::Value& value = store_[id];
    if (value.kind != variation::ValueKind::Param || FuncId{value.a} != function_) return id;
    return value.b < args_.size() ? args_[value.b] : ValueId::None();
  }

  // `model is not None`
  std::optional<bool> Compared(ir::CompareOp op, ValueId left, ValueId right) const {
    const bool asks = op == ir::CompareOp::Is || op == ir::CompareOp::IsNot;
    if (!asks || !left || !right || store_[right].kind != variation::ValueKind::None) return std::nullopt;
    if (store_[left].kind == variation::ValueKind::None) return op == ir::CompareOp::Is;
    return std::nullopt;
  }

  const variation::ValueStore& store_;
  FuncId function_;
  std::span<const ValueId> args_;
};

}  // namespace

std::vector<Guard> Reach::Guards(const Site& site) const {
  std::vector<Guard> guards;
  AddExprGuards(site, guards);
  const ir::StmtId stmt = index_.StatementOf(site);
  if (stmt) AddStmtGuards(site.function, stmt, guards);
  return guards;
}

// `rank == 0 and save()`, `save() if rank == 0 else None`.
void Reach::AddExprGuards(const Site& site, std::vector<Guard>& guards) const {
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  ir::ExprId inner = site.expr;
  for (ir::ExprId outer = tree.Parent(inner); outer; inner = outer, outer = tree.Parent(outer)) {
    const ir::Expr& expr = module[outer];
    if (expr.kind == ir::ExprKind::Bool) {
      const bool is_and = static_cast<ir::BoolOp>(expr.op) == ir::BoolOp::And;
      for (const ir::ExprId item : ir::Items(module, expr)) {
        if (item == inner) break;
        guards.push_back({site.function, item, is_and});
      }
    }
    if (expr.kind == ir::ExprKind::Conditional && inner != ir::TestOf(expr)) {
      guards.push_back({site.function, ir::TestOf(expr), inner == ir::ThenOf(module, expr)});
    }
  }
}

void Reach::AddStmtGuards(FuncId function, ir::StmtId stmt, std::vector<Guard>& guards) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  for (ir::StmtId inner = stmt; inner; inner = tree.Parent(inner)) {
    AddEarlierExits(function, inner, guards);
    const ir::StmtId outer = tree.Parent(inner);
    if (!outer || module[outer].kind != ir::StmtKind::If) continue;
    guards.push_back({function, ir::ValueOf(module[outer]), tree.BlockOf(inner) == ir::BodyOf(module[outer])});
  }
}

// `if rank != 0: return` before the place, in the same block.
void Reach::AddEarlierExits(FuncId function, ir::StmtId stmt, std::vector<Guard>& guards) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  for (const ir::StmtId id : module.statements(index_.tree(module_id).BlockOf(stmt))) {
    if (id == stmt) return;
    const ir::Stmt& earlier = module[id];
    if (earlier.kind != ir::StmtKind::If) continue;
    const bool then_leaves = Leaves(module, ir::BodyOf(earlier));
    const bool else_leaves = Leaves(module, ir::ElseBlockOf(earlier));
    if (then_leaves != else_leaves) guards.push_back({function, ir::ValueOf(earlier), else_leaves});
  }
}

// `if world_size > 1: gather(x); if rank != 0: return` before the place: who stays is asked only of those that come there.
std::vector<Reach::NestedExit> Reach::NestedExits(const Site& site) const {
  std::vector<NestedExit> exits;
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  for (ir::StmtId inner = index_.StatementOf(site); inner; inner = tree.Parent(inner)) {
    for (const ir::StmtId earlier : module.statements(tree.BlockOf(inner))) {
      if (earlier == inner) break;
      if (module[earlier].kind != ir::StmtKind::If) continue;
      for (const ir::StmtId id : module.statements(ir::BodyOf(module[earlier]))) {
        const ir::Stmt& stmt = module[id];
        if (stmt.kind != ir::StmtKind::If || !Leaves(module, ir::BodyOf(stmt)) || Leaves(module, ir::ElseBlockOf(stmt))) continue;
        exits.push_back({{site.function, ir::ValueOf(module[earlier]), true}, {site.function, ir::ValueOf(stmt), false}});
      }
    }
  }
  return exits;
}

bool Reach::Leaves(const ir::Module& module, ir::BlockId block) const {
  const auto stmts = module.statements(block);
  if (stmts.empty()) return false;
  switch (module[stmts.back()].kind) {
    case ir::StmtKind::Return:
    case ir::StmtKind::Raise:
    case ir::StmtKind::Break:
    case ir::StmtKind::Continue:
      return true;
    default:
      return false;
  }
}

RankSet Reach::Ranks(const Site& site, const traces::World& world) const {
  std::vector<FuncId> on_way;
  return Ranks(site, world, on_way);
}

RankSet Reach::RanksOnWay(std::span<const Site> way, const traces::World& world) const {
  RankSet ranks = RankSet::All(world.size());
  for (const Site& site : way) ranks.bits &= RanksWithin(site, world).bits;
  for (size_t i = 1; i < way.size(); ++i) {
    // `save(model=None)`, and in there `if model is not None:`: nobody comes along on this way.
    const variation::CallFact* call = facts_.call(way[i - 1].function, way[i - 1].expr);
    if (call == nullptr || call->function != way[i].function) continue;
    const CallTests tests(facts_.values_store, call->function, facts_.args(*call));
    for (const Guard& guard : Guards(way[i])) {
      const ValueId test = facts_.value(program_.funcs[guard.function].module, guard.test);
      const std::optional<bool> truth = test ? tests.Truth(test) : std::nullopt;
      if (truth && *truth != guard.holds) return {};
    }
  }
  if (!way.empty()) ranks.bits &= Ranks(way.front(), world).bits;
  return ranks;
}

RankSet Reach::Ranks(const Site& site, const traces::World& world, std::vector<FuncId>& on_way) const {
  RankSet ranks = RanksWithin(site, world);
  if (ranks.empty() || on_way.size() >= kLongestWay) return ranks;
  ranks.bits &= RanksOfMakers(site.function, world, on_way).bits;
  ranks.bits &= RanksOfCallers(site.function, world, on_way).bits;
  return ranks;
}

// Those that the function itself lets through.
RankSet Reach::RanksWithin(const Site& site, const traces::World& world) const {
  RankSet ranks = RankSet::All(world.size());
  for (const Guard& guard : Guards(site)) ranks.bits &= Passing(guard, world).bits;
  for (const NestedExit& exit : NestedExits(site)) ranks.bits &= Passing(exit.stays, world).bits | ~Passing(exit.outer, world).bits;
  for (const knowledge::EntryId decorator : facts_.functions[site.function].decorators) {
    // Each of the guarding decorators there are lets one rank of the job, or of a node, through.
    if (knowledge_[decorator].guard) ranks.bits &= RankSet::Of(0).bits;
  }
  return ranks;
}

RankSet Reach::Passing(const Guard& guard, const traces::World& world) const {
  const ValueId value = facts_.value(program_.funcs[guard.function].module, guard.test);
  const bool speaks_of_ranks = words_.Speaks(guard.function, guard.test);
  RankSet passing;
  for (uint32_t rank = 0; rank < world.size(); ++rank) {
    const std::optional<bool> truth = value ? values_.TruthOnRank(value, world, rank) : std::nullopt;
    if (!truth && rank > 0 && speaks_of_ranks) continue;
    if (!truth || *truth == guard.holds) passing = passing | RankSet::Of(rank);
  }
  return passing;
}

RankSet Reach::RanksOfCallers(FuncId function, const traces::World& world, std::vector<FuncId>& on_way) const {
  const auto callers = index_.CallersOf(function);
  if (callers.empty() || std::ranges::find(on_way, function) != on_way.end()) return RankSet::All(world.size());
  const bool has_job = std::ranges::any_of(callers, [&](const Site& caller) { return !IsOutsideJob(caller.function); });
  on_way.push_back(function);
  RankSet ranks;
  for (const Site& caller : callers) {
    if (!has_job || !IsOutsideJob(caller.function)) ranks = ranks | Ranks(caller, world, on_way);
  }
  on_way.pop_back();
  return ranks;
}

bool Reach::IsOutsideJob(FuncId function) const {
  return launch_ != nullptr && (launch_->Of(function) == RunBy::OneProcess || launch_->Of(function) == RunBy::Tests);
}

// The ranks that make objects of the class whose method a function is: elsewhere there is nothing to call it on.
RankSet Reach::RanksOfMakers(FuncId function, const traces::World& world, std::vector<FuncId>& on_way) const {
  const binding::ClassId owner = program_.funcs[function].owner;
  const base::NameId name = program_.names->Find("__init__");
  const FuncId init = owner && name ? program_.FindMethod(owner, name) : FuncId::None();
  if (!init || init == function) return RankSet::All(world.size());
  return RanksOfCallers(init, world, on_way);
}

bool Reach::IsRepeated(const Site& site) const {
  std::vector<FuncId> on_way;
  return IsRepeated(site, on_way);
}

bool Reach::IsRepeated(const Site& site, std::vector<FuncId>& on_way) const {
  if (!index_.LoopsAround(site).empty()) return true;
  if (on_way.size() >= kLongestWay || std::ranges::find(on_way, site.function) != on_way.end()) return false;
  on_way.push_back(site.function);
  const auto callers = index_.CallersOf(site.function);
  const bool repeated =
      std::ranges::any_of(callers, [&](const Site& caller) { return IsRepeated(caller, on_way); });
  on_way.pop_back();
  return repeated;
}

}  // namespace allranks::objects
