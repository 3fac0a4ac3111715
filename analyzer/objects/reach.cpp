#include "analyzer/objects/reach.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "analyzer/ir/bindings.h"
#include "analyzer/objects/passed_tests.h"
#include "analyzer/objects/two_arms.h"

namespace allranks::objects {

using traces::RankSet;

namespace {

// Chains of callers longer than this are not followed: all ranks may come along.
constexpr size_t kLongestWayOfRanks = 8;

// `name = value`, not `name, other = value`.
bool IsTarget(const ir::Module& module, const ir::Stmt& stmt, base::NameId name) {
  for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
    if (module[target].kind == ir::ExprKind::Name && ir::NameOf(module[target]) == name) return true;
  }
  return false;
}

// `None`, `False`.
bool IsNothing(const ir::Module& module, ir::ExprId value) {
  if (module[value].kind != ir::ExprKind::Constant) return false;
  const ir::ConstantKind kind = ir::ConstantKindOf(module[value]);
  return kind == ir::ConstantKind::None || kind == ir::ConstantKind::False;
}

// `local_rank == -1`, `rank in (0, -1)`; not `rank < count` nor `rank is not None`, which all ranks pass.
bool AsksForOneValue(const ir::Module& module, ir::ExprId test) {
  const ir::Expr& expr = module[test];
  if (expr.kind != ir::ExprKind::Compare || ir::ComparisonCount(module, expr) != 1) return false;
  const ir::CompareOp op = ir::ComparisonAt(module, expr, 0).op;
  return op == ir::CompareOp::Eq || op == ir::CompareOp::In;
}

// The other side of `x is not None` that holds, or of `x is None` that does not.
std::optional<ir::ExprId> ComparedToNone(const ir::Module& module, ir::ExprId test, bool& holds) {
  const ir::Expr& expr = module[test];
  if (ir::ComparisonCount(module, expr) != 1) return std::nullopt;
  const ir::Comparison comparison = ir::ComparisonAt(module, expr, 0);
  const bool asks = comparison.op == ir::CompareOp::Is || comparison.op == ir::CompareOp::IsNot;
  if (!asks || !IsNothing(module, comparison.operand)) return std::nullopt;
  if (comparison.op == ir::CompareOp::Is) holds = !holds;
  return ir::LeftOf(expr);
}

// A parameter of `__init__` that may be left out, and that a field of the object holds from then on.
struct FilledField {
  FuncId init;
  size_t param = 0;
};

// The statements of a method that assign to a field of its object.
std::vector<ir::ExprId> AssignedToField(const ir::Module& module, const ir::Function& method, base::NameId field) {
  std::vector<ir::ExprId> values;
  if (method.params.empty()) return values;
  ir::ForEachStmtIn(module, method.body, [&](const ir::Stmt& stmt) {
    if (stmt.kind != ir::StmtKind::Assign) return;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      const bool is_field = module[target].kind == ir::ExprKind::Attribute && ir::AttrOf(module[target]) == field;
      const ir::Expr* object = is_field ? &module[ir::ObjectOf(module[target])] : nullptr;
      if (object && object->kind == ir::ExprKind::Name && ir::NameOf(*object) == method.params[0].name) values.push_back(ir::AssignedOf(stmt));
    }
  });
  return values;
}

// `self.path = path` in `__init__(self, path=None)` and nowhere else.
std::optional<FilledField> FilledBy(const binding::Program& program, FuncId function, ir::ExprId tested) {
  const ir::Module& asking = program.module_of(function);
  const ir::Expr& object = asking[ir::ObjectOf(asking[tested])];
  const base::NameId field = ir::AttrOf(asking[tested]);
  const auto& own = program.function(function).params;
  const bool is_own = object.kind == ir::ExprKind::Name && !own.empty() && ir::NameOf(object) == own[0].name;
  const binding::ClassId owner = program.funcs[function].owner;
  const base::NameId name = program.names->Find("__init__");
  const FuncId init = is_own && owner && name ? program.FindMethod(owner, name) : FuncId::None();
  if (!init) return std::nullopt;
  for (const auto& [_, method] : program.classes[owner].methods) {
    if (method != init && !AssignedToField(program.module_of(method), program.function(method), field).empty()) return std::nullopt;
  }
  const ir::Module& module = program.module_of(init);
  const std::vector<ir::ExprId> values = AssignedToField(module, program.function(init), field);
  if (values.size() != 1 || module[values[0]].kind != ir::ExprKind::Name) return std::nullopt;
  const auto& params = program.function(init).params;
  for (size_t i = 0; i < params.size(); ++i) {
    const bool may_be_left_out = params[i].default_value && IsNothing(module, params[i].default_value);
    if (may_be_left_out && params[i].name == ir::NameOf(module[values[0]])) return FilledField{init, i};
  }
  return std::nullopt;
}

// `Saver(path)` on one rank and `Saver()` on the others: those that come to the first. None if nobody leaves it out.
template <typename RanksAt>
std::optional<RankSet> RanksThatFill(const ProgramIndex& index, const variation::Facts& facts, const FilledField& filled, const RanksAt& ranks_at) {
  RankSet ranks;
  bool is_left_out = false;
  for (const Site& caller : index.CallersOf(filled.init)) {
    const variation::CallFact* call = facts.call(caller.function, caller.expr);
    const auto args = call != nullptr ? facts.args(*call) : std::span<const ValueId>();
    const ValueId passed = filled.param < args.size() ? args[filled.param] : ValueId::None();
    if (passed && facts.values_store[passed].kind != variation::ValueKind::None) ranks = ranks | ranks_at(caller);
    else is_left_out = true;
  }
  return is_left_out && !ranks.empty() ? std::optional(ranks) : std::nullopt;
}

}  // namespace

Reach::Reach(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
             const ProgramIndex& index, const Launch* launch)
    : program_(program), knowledge_(knowledge), facts_(facts), index_(index), launch_(launch), words_(program, facts, index),
      values_(program, knowledge, facts), known_(SmallJob(facts.job)) {
  if (launch != nullptr) places_.emplace(program, knowledge, facts, index, *launch);
  for (uint32_t f = 0; f < program.funcs.size(); ++f) NoteFunction(FuncId{f});
}

// Where its variables are set.
void Reach::NoteFunction(FuncId function) {
  if (program_.funcs[function].function == ir::kTopLevel) return;
  const ir::Module& module = program_.module_of(function);
  std::vector<base::NameId> bound_otherwise;
  ir::ForEachStmtIn(module, program_.function(function).body, [&](const ir::Stmt& stmt) {
    ir::ForEachBinding(module, stmt, [&](const ir::Binding& binding) {
      if (!binding.name) return;
      const bool is_plain = stmt.kind == ir::StmtKind::Assign && IsTarget(module, stmt, binding.name);
      if (is_plain) set_[{function.index, binding.name}].push_back(ir::AssignedOf(stmt));
      else bound_otherwise.push_back(binding.name);
    });
  });
  for (const base::NameId name : bound_otherwise) set_.erase({function.index, name});
}

std::vector<Guard> Reach::Guards(const Site& site) const {
  std::vector<Guard> guards;
  AddExprGuards(site, guards);
  const ir::StmtId stmt = index_.StatementOf(site);
  if (stmt) AddStmtGuards(site.function, stmt, guards);
  return guards;
}

std::vector<Guard> Reach::Guards(FuncId function, ir::StmtId stmt) const {
  std::vector<Guard> guards;
  AddStmtGuards(function, stmt, guards);
  return guards;
}

std::vector<Guard> Reach::Assertions(FuncId function, ir::StmtId stmt) const {
  std::vector<Guard> assertions;
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  for (ir::StmtId inner = stmt; inner; inner = tree.Parent(inner)) {
    for (const ir::StmtId earlier : module.statements(tree.BlockOf(inner))) {
      if (earlier == inner) break;
      if (module[earlier].kind == ir::StmtKind::Assert) assertions.push_back({function, ir::ValueOf(module[earlier]), true});
    }
  }
  return assertions;
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

// `if rank != 0: return` before the place, in the same block, or `assert rank == 0`.
void Reach::AddEarlierExits(FuncId function, ir::StmtId stmt, std::vector<Guard>& guards) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  for (const ir::StmtId id : module.statements(index_.tree(module_id).BlockOf(stmt))) {
    if (id == stmt) return;
    const ir::Stmt& earlier = module[id];
    if (earlier.kind == ir::StmtKind::Assert && AsksForOneValue(module, ir::ValueOf(earlier))) guards.push_back({function, ir::ValueOf(earlier), true});
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

// `for hook in [Saver()] if rank == 0 else []`: who comes to the body is whom there are items for.
std::vector<Guard> Reach::LoopEntries(const Site& site) const {
  std::vector<Guard> entries;
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  for (ir::StmtId inner = index_.StatementOf(site); inner; inner = tree.Parent(inner)) {
    const ir::StmtId outer = tree.Parent(inner);
    if (!outer || tree.BlockOf(inner) != ir::BodyOf(module[outer])) continue;
    if (module[outer].kind == ir::StmtKind::For) entries.push_back({site.function, ir::AssignedOf(module[outer]), true});
    if (module[outer].kind == ir::StmtKind::While) entries.push_back({site.function, ir::ValueOf(module[outer]), true});
  }
  return entries;
}

// All but those for which there surely is no round.
RankSet Reach::RanksThatMayEnter(const Guard& entry, const traces::World& world) const {
  RankSet ranks = RankSet::All(world.size());
  const ValueId rounds = facts_.trip_count(entry.function, entry.test);
  const ValueId asked = rounds ? rounds : facts_.value(program_.funcs[entry.function].module, entry.test);
  if (!asked || facts_.values_store.axes(asked).empty()) return ranks;
  for (uint32_t rank = 0; rank < world.size(); ++rank) {
    if (values_.TruthOnRank(asked, world, rank) == false) ranks.bits &= ~RankSet::Of(rank).bits;
  }
  return ranks;
}

template <class Question>
auto Reach::In(const traces::World& world, const Question& question) const {
  if (world == known_.world) return question(known_);
  Known once(world);
  return question(once);
}

RankSet Reach::Ranks(const Site& site, const traces::World& world) const {
  return In(world, [&](Known& known) { return Ranks(site, known); });
}

RankSet Reach::RanksOnWay(std::span<const Site> way, const traces::World& world) const {
  RankSet ranks = RankSet::All(world.size());
  for (const Site& site : way) ranks.bits &= In(world, [&](Known& known) { return RanksWithin(site, known); }).bits;
  for (size_t i = 1; i < way.size(); ++i) {
    // `save(model=None)`, and in there `if model is not None:`: nobody comes along on this way.
    const variation::CallFact* call = facts_.call(way[i - 1].function, way[i - 1].expr);
    if (call == nullptr || call->function != way[i].function) continue;
    const PassedArgs passed{call->function, facts_.args(*call)};
    const PassedTests tests(facts_.values_store, {&passed, 1});
    for (const Guard& guard : Guards(way[i])) {
      const ValueId test = facts_.value(program_.funcs[guard.function].module, guard.test);
      const std::optional<bool> truth = test ? tests.Truth(test) : std::nullopt;
      if (truth && *truth != guard.holds) return {};
    }
  }
  if (!way.empty()) ranks.bits &= Ranks(way.front(), world).bits;
  return ranks;
}

RankSet Reach::Ranks(const Site& site, Known& known) const {
  const RankSet ranks = RanksWithin(site, known);
  if (ranks.empty()) return ranks;
  return ranks & known.coming.Of(site.function.index, [&] {
    Walk walk;
    const RankSet makers = RanksOfMakers(site.function, known, walk);
    return makers & RanksOfCallers(site.function, known, walk);
  });
}

// Those that the function itself lets through.
RankSet Reach::RanksWithin(const Site& site, Known& known) const {
  return known.within.Of(uint64_t{site.function.index} << 32 | site.expr.index, [&] {
    RankSet ranks = RankSet::All(known.world.size());
    for (const Guard& guard : Guards(site)) ranks.bits &= Passing(guard, known).bits;
    for (const Guard& entry : LoopEntries(site)) ranks = ranks & RanksThatMayEnter(entry, known.world);
    for (const NestedExit& exit : NestedExits(site)) ranks.bits &= Passing(exit.stays, known).bits | ~Passing(exit.outer, known).bits;
    for (const knowledge::EntryId decorator : facts_.functions[site.function].decorators) {
      // Each of the guarding decorators there are lets one rank of the job, or of a node, through.
      if (knowledge_[decorator].guard) ranks.bits &= RankSet::Of(0).bits;
    }
    return ranks;
  });
}

RankSet Reach::Passing(const Guard& guard, Known& known) const {
  // Expressions of a module are fewer than half of all numbers.
  const uint32_t outcome = guard.test.index << 1 | (guard.holds ? 1u : 0u);
  return known.passing.Of(uint64_t{guard.function.index} << 32 | outcome, [&] {
    std::vector<Variable> asked;
    return Passing(guard, known.world, asked);
  });
}

RankSet Reach::Passing(const Guard& guard, const traces::World& world, std::vector<Variable>& asked) const {
  const ValueId value = facts_.value(program_.funcs[guard.function].module, guard.test);
  const bool speaks_of_ranks = words_.Speaks(guard.function, guard.test);
  const std::optional<bool> in_calls = value ? TruthInCalls(guard.function, value) : std::nullopt;
  if (in_calls) return *in_calls == guard.holds ? RankSet::All(world.size()) : RankSet{};
  if (const std::optional<RankSet> ranks = RanksWhereSet(guard, world, asked)) return *ranks;
  RankSet certain, undecided;
  for (uint32_t rank = 0; rank < world.size(); ++rank) {
    const std::optional<bool> truth = value ? values_.TruthAsRankTest(value, world, rank) : std::nullopt;
    if (!truth) undecided = undecided | RankSet::Of(rank);
    else if (*truth == guard.holds) certain = certain | RankSet::Of(rank);
  }
  // Values tell some ranks already (`local_rank == 0 and setting`): words have nothing to add.
  const bool tells = (certain | undecided) != RankSet::All(world.size());
  if (speaks_of_ranks && !tells) undecided.bits &= RankSet::Of(0).bits;
  return certain | undecided;
}

// What a test comes out as in all calls that there are: `if owner is not None` of a parameter that nobody passes.
std::optional<bool> Reach::TruthInCalls(FuncId function, ValueId test) const {
  if (!facts_.values_store.has_param(test) || index_.CallersOf(function).empty()) return std::nullopt;
  std::vector<ValueId> passed;
  for (uint32_t i = 0; i < program_.function(function).params.size(); ++i) passed.push_back(facts_.param(function, i));
  const PassedArgs args{function, passed};
  return PassedTests(facts_.values_store, {&args, 1}).Truth(test);
}

// `if best is not None`, where `best` starts as None: those that come to a place that sets it. Of variables that are set where the
// other one is, nothing is known.
std::optional<RankSet> Reach::RanksWhereSet(const Guard& guard, const traces::World& world, std::vector<Variable>& asked) const {
  const ir::Module& module = program_.module_of(guard.function);
  ir::ExprId tested = guard.test;
  bool holds = guard.holds;
  if (module[tested].kind == ir::ExprKind::Compare) {
    const std::optional<ir::ExprId> compared = ComparedToNone(module, tested, holds);
    if (!compared) return std::nullopt;
    tested = *compared;
  }
  if (holds && module[tested].kind == ir::ExprKind::Attribute) {
    const std::optional<FilledField> filled = FilledBy(program_, guard.function, tested);
    const Variable field{filled ? filled->init.index : 0, ir::AttrOf(module[tested])};
    if (!filled || std::ranges::find(asked, field) != asked.end()) return std::nullopt;
    asked.push_back(field);
    const std::optional<RankSet> ranks = RanksThatFill(index_, facts_, *filled, [&](const Site& caller) {
      RankSet here = RankSet::All(world.size());
      for (const Guard& other : Guards(caller)) here.bits &= Passing(other, world, asked).bits;
      return here;
    });
    asked.pop_back();
    return ranks;
  }
  if (!holds || module[tested].kind != ir::ExprKind::Name) return std::nullopt;
  const Variable variable{guard.function.index, ir::NameOf(module[tested])};
  const auto found = set_.find(variable);
  if (found == set_.end() || std::ranges::find(asked, variable) != asked.end()) return std::nullopt;
  asked.push_back(variable);
  const std::optional<RankSet> ranks = RanksThatSet(guard, found->second, world, asked);
  asked.pop_back();
  return ranks;
}

std::optional<RankSet> Reach::RanksThatSet(const Guard& guard, std::span<const ir::ExprId> stored, const traces::World& world,
                                           std::vector<Variable>& asked) const {
  const ir::Module& module = program_.module_of(guard.function);
  RankSet ranks;
  bool starts_empty = false;
  for (const ir::ExprId value : stored) {
    const bool is_empty = IsNothing(module, value);
    starts_empty = starts_empty || is_empty;
    if (is_empty) continue;
    const Site site{guard.function, value};
    // What is set under a test of itself is set already.
    const bool asks_itself = std::ranges::any_of(Guards(site), [&](const Guard& other) { return other.test == guard.test; });
    if (asks_itself) return std::nullopt;
    RankSet here = RankSet::All(world.size());
    for (const Guard& other : Guards(site)) {
      const ir::ExprKind kind = module[other.test].kind;
      if (kind != ir::ExprKind::Name) here.bits &= Passing(other, world, asked).bits;
    }
    ranks = ranks | here;
  }
  return starts_empty ? std::optional(ranks) : std::nullopt;
}

RankSet Reach::RanksThatCall(FuncId function, const traces::World& world) const {
  return In(world, [&](Known& known) {
    return known.callers.Of(function.index, [&] {
      Walk walk;
      return RanksOfCallers(function, known, walk);
    });
  });
}

RankSet Reach::RanksOfCallers(FuncId function, Known& known, Walk& walk) const {
  if (const auto seen = walk.callers_of.find(function.index); seen != walk.callers_of.end()) return seen->second;
  const std::vector<Comer>& comers = known.comers.Of(function.index, [&] { return ComersTo(function, known); });
  const RankSet all = RankSet::All(known.world.size());
  if (comers.empty() || std::ranges::find(walk.on_way, function) != walk.on_way.end()) return all;
  walk.on_way.push_back(function);
  RankSet ranks;
  for (const Comer& comer : comers) {
    RankSet there = comer.ranks;
    if (!there.empty() && walk.on_way.size() < kLongestWayOfRanks) {
      there = there & RanksOfMakers(comer.function, known, walk);
      there = there & RanksOfCallers(comer.function, known, walk);
    }
    ranks = ranks | there;
  }
  walk.on_way.pop_back();
  walk.callers_of.emplace(function.index, ranks);
  return ranks;
}

// Those of whom something is said: none, if nobody calls a function.
std::vector<Reach::Comer> Reach::ComersTo(FuncId function, Known& known) const {
  std::vector<Site> callers(index_.CallersOf(function).begin(), index_.CallersOf(function).end());
  callers.insert(callers.end(), index_.GivenTo(function).begin(), index_.GivenTo(function).end());
  // What nobody calls says nothing of who comes, where others call it.
  const auto is_unused = [&](const Site& caller) {
    const bool makes_job = launch_ != nullptr && launch_->MakesJob(caller.function);
    return !makes_job && index_.GivenTo(caller.function).empty() && index_.IsCalledByNobody(caller.function);
  };
  if (!std::ranges::all_of(callers, is_unused)) std::erase_if(callers, is_unused);
  const bool has_job = std::ranges::any_of(callers, [&](const Site& caller) { return !IsOutsideJob(caller); });
  const RankSet all = RankSet::All(known.world.size());
  // `if gpus > 1: (save() on one rank) else: save()`: the arm without a test of ranks is for where there are none.
  const auto is_without_ranks = [&](const Site& caller) {
    if (RanksWithin(caller, known) != all) return false;
    return std::ranges::any_of(callers, [&](const Site& other) {
      if (other.function != caller.function || other.expr == caller.expr || RanksWithin(other, known).count() != 1) return false;
      return AreInTwoArms(program_, index_, caller, other);
    });
  };
  std::vector<Comer> comers;
  for (const Site& caller : callers) {
    if ((has_job && IsOutsideJob(caller)) || is_without_ranks(caller)) continue;
    RankSet ranks = RanksWithin(caller, known);
    if (IsLeftToOne(caller)) ranks = ranks & RankSet::Of(0);
    if (ranks.empty()) continue;
    const bool is_known = !comers.empty() && comers.back().function == caller.function;
    if (is_known) comers.back().ranks = comers.back().ranks | ranks;
    else comers.push_back({caller.function, ranks});
  }
  // All callers are seen, and no rank comes to them.
  if (comers.empty() && !callers.empty()) comers.push_back({callers.front().function, {}});
  return comers;
}

// `rank_zero_only(lambda: save(path))()`: what is handed to such a decorator runs on one rank.
bool Reach::IsLeftToOne(const Site& site) const {
  const auto is_guard = [&](ir::ExprId expr) {
    const variation::CallFact* call = facts_.call(site.function, expr);
    return call != nullptr && call->kind == variation::CallKind::Known && knowledge_[call->entry].guard;
  };
  const ir::Module& module = program_.module_of(site.function);
  if (module[site.expr].kind != ir::ExprKind::Call) return false;
  return is_guard(site.expr) || is_guard(ir::CalleeOf(module[site.expr]));
}

bool Reach::IsOutsideJob(const Site& caller) const {
  if (launch_ == nullptr) return false;
  const RunBy run_by = launch_->Of(caller);
  return run_by == RunBy::OneProcess || run_by == RunBy::Workers || run_by == RunBy::Tests || IsApartFromJob({&caller, 1});
}

// The ranks that make objects of the class whose method a function is: elsewhere there is nothing to call it on.
RankSet Reach::RanksOfMakers(FuncId function, Known& known, Walk& walk) const {
  const binding::ClassId owner = program_.funcs[function].owner;
  const base::NameId name = program_.names->Find("__init__");
  const FuncId init = owner && name ? program_.FindMethod(owner, name) : FuncId::None();
  if (!init || init == function) return RankSet::All(known.world.size());
  return RanksOfCallers(init, known, walk);
}

bool Reach::IsRepeated(const Site& site) const {
  std::set<uint32_t> seen;
  return IsRepeated(site, seen);
}

bool Reach::IsRepeated(const Site& site, std::set<uint32_t>& seen) const {
  if (!index_.LoopsAround(site).empty()) return true;
  if (!seen.insert(site.function.index).second) return false;
  return std::ranges::any_of(index_.CallersOf(site.function), [&](const Site& caller) { return IsRepeated(caller, seen); });
}

}  // namespace allranks::objects
