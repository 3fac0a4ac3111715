#include "analyzer/objects/ranks_at.h"

#include <algorithm>

#include "analyzer/objects/passed_tests.h"
#include "analyzer/objects/two_arms.h"

namespace allranks::objects {

using traces::RankSet;

namespace {

// Chains of callers longer than this are not followed: all ranks may come along.
constexpr size_t kLongestWayOfRanks = 8;

}  // namespace

RanksAt::RanksAt(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                 const ProgramIndex& index, const Guards& guards, const Launch* launch, const JobPlaces* places)
    : program_(program), knowledge_(knowledge), facts_(facts), index_(index), guards_(guards), launch_(launch), places_(places),
      tests_(program, knowledge, facts, index, guards), neighbourhood_(program), known_(SmallJob(facts.job)) {
  NoteNamedCalls();
}

template <class Question>
auto RanksAt::In(const traces::World& world, const Question& question) const {
  if (world == known_.world) return question(known_);
  Known once(world);
  return question(once);
}

RankSet RanksAt::At(const Site& site, const traces::World& world) const {
  return In(world, [&](Known& known) { return At(site, known); });
}

RankSet RanksAt::OnWay(std::span<const Site> way, const traces::World& world) const {
  RankSet ranks = RankSet::All(world.size());
  for (const Site& site : way) {
    ranks.bits &= In(world, [&](Known& known) { return Within(site, known); }).bits;
    // A function inside of another one is there for those that come to that.
    const FuncId outer = program_.funcs[site.function].parent;
    if (outer && program_.funcs[outer].function != ir::kTopLevel) ranks.bits &= ThatCall(outer, world).bits;
  }
  for (size_t i = 1; i < way.size(); ++i) {
    // `save(model=None)`, and in there `if model is not None:`: nobody comes along on this way.
    const variation::CallFact* call = facts_.call(way[i - 1].function, way[i - 1].expr);
    if (call == nullptr || call->function != way[i].function) continue;
    const PassedArgs passed{call->function, facts_.args(*call)};
    const PassedTests tests(facts_.values_store, {&passed, 1});
    for (const Guard& guard : guards_.Of(way[i])) {
      const ValueId test = facts_.value(program_.funcs[guard.function].module, guard.test);
      const std::optional<bool> truth = test ? tests.Truth(test) : std::nullopt;
      if (truth && *truth != guard.holds) return {};
    }
  }
  if (!way.empty()) ranks.bits &= At(way.front(), world).bits;
  return ranks;
}

RankSet RanksAt::At(const Site& site, Known& known) const {
  const RankSet ranks = Within(site, known);
  if (ranks.empty()) return ranks;
  return ranks & known.coming.Of(site.function.index, [&] {
    Walk walk;
    const RankSet makers = OfMakers(site.function, known, walk);
    return makers & OfCallers(site.function, known, walk);
  });
}

// Those that the function itself lets through.
RankSet RanksAt::Within(const Site& site, Known& known) const {
  return known.within.Of(uint64_t{site.function.index} << 32 | site.expr.index, [&] {
    RankSet ranks = RankSet::All(known.world.size());
    for (const Guard& guard : guards_.Of(site)) ranks.bits &= Passing(guard, known).bits;
    for (const Guard& loop : guards_.LoopsAround(site)) ranks = ranks & tests_.MayEnter(loop, known.world);
    for (const NestedExit& exit : guards_.NestedExitsBefore(site)) ranks.bits &= Passing(exit.stays, known).bits | ~Passing(exit.outer, known).bits;
    for (const knowledge::EntryId decorator : facts_.functions[site.function].decorators) {
      // Each of the guarding decorators there are lets one rank of the job, or of a node, through.
      if (knowledge_[decorator].guard) ranks.bits &= RankSet::Of(0).bits;
    }
    return ranks;
  });
}

RankSet RanksAt::Passing(const Guard& guard, Known& known) const {
  // Expressions of a module are fewer than half of all numbers.
  const uint32_t outcome = guard.test.index << 1 | (guard.holds ? 1u : 0u);
  return known.passing.Of(uint64_t{guard.function.index} << 32 | outcome, [&] { return tests_.Passing(guard, known.world); });
}

RankSet RanksAt::ThatCall(FuncId function, const traces::World& world) const {
  return In(world, [&](Known& known) {
    return known.callers.Of(function.index, [&] {
      Walk walk;
      return OfCallers(function, known, walk);
    });
  });
}

RankSet RanksAt::OfCallers(FuncId function, Known& known, Walk& walk) const {
  if (const auto seen = walk.callers_of.find(function.index); seen != walk.callers_of.end()) return seen->second;
  const std::vector<Comer>& comers = known.comers.Of(function.index, [&] { return ComersTo(function, known); });
  const RankSet all = RankSet::All(known.world.size());
  if (comers.empty() || std::ranges::find(walk.on_way, function) != walk.on_way.end()) return all;
  walk.on_way.push_back(function);
  RankSet ranks;
  for (const Comer& comer : comers) {
    RankSet there = comer.ranks;
    if (!there.empty() && walk.on_way.size() < kLongestWayOfRanks) {
      there = there & OfMakers(comer.function, known, walk);
      there = there & OfCallers(comer.function, known, walk);
    }
    ranks = ranks | there;
  }
  walk.on_way.pop_back();
  walk.callers_of.emplace(function.index, ranks);
  return ranks;
}

// Those of whom something is said: none, if nobody calls a function.
std::vector<RanksAt::Comer> RanksAt::ComersTo(FuncId function, Known& known) const {
  std::vector<Site> callers(index_.CallersOf(function).begin(), index_.CallersOf(function).end());
  callers.insert(callers.end(), index_.GivenTo(function).begin(), index_.GivenTo(function).end());
  if (callers.empty()) callers = NamedCallsOf(function);
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
    if (Within(caller, known) != all) return false;
    return std::ranges::any_of(callers, [&](const Site& other) {
      if (other.function != caller.function || other.expr == caller.expr || Within(other, known).count() != 1) return false;
      return AreInTwoArms(program_, index_, caller, other);
    });
  };
  std::vector<Comer> comers;
  for (const Site& caller : callers) {
    if ((has_job && IsOutsideJob(caller)) || is_without_ranks(caller)) continue;
    RankSet ranks = Within(caller, known);
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

// `for callback in self.callbacks: callback.on_save(state)`, of objects of which nothing is known.
void RanksAt::NoteNamedCalls() {
  for (uint32_t f = 0; f < program_.funcs.size(); ++f) {
    for (const auto& [expr, call] : facts_.functions[FuncId{f}].calls) {
      const bool is_open = call.kind == variation::CallKind::Unresolved || call.kind == variation::CallKind::Deferred;
      if (!is_open || !call.callee || !facts_.values_store[call.callee].is_derived(variation::DerivedKind::Member)) continue;
      named_calls_[facts_.values_store.DerivedBy(call.callee)].push_back({FuncId{f}, expr});
    }
  }
}

// Of a method that nothing else is seen to call, in a class that no library calls the methods of: calls in the programs that have the class.
std::vector<Site> RanksAt::NamedCallsOf(FuncId function) const {
  const binding::ClassId owner = program_.funcs[function].owner;
  if (!owner) return {};
  const auto calls_methods = [&](base::NameId base) {
    const std::string_view name = program_.text(base);
    return !name.starts_with("abc.") && !name.starts_with("typing.");
  };
  const auto is_of_library = [&](binding::ClassId each) { return std::ranges::any_of(program_.classes[each].external_bases, calls_methods); };
  const binding::ClassInfo& info = program_.classes[owner];
  if (std::ranges::any_of(info.mro, is_of_library) || std::ranges::any_of(info.subclasses, is_of_library)) return {};
  const auto found = named_calls_.find(program_.function(function).name);
  if (found == named_calls_.end()) return {};
  const std::vector<ir::ModuleId> together = neighbourhood_.Of(program_.funcs[function].module);
  std::vector<Site> calls = found->second;
  std::erase_if(calls, [&](const Site& call) { return std::ranges::count(together, program_.funcs[call.function].module) == 0; });
  return calls;
}

// `rank_zero_only(lambda: save(path))()`: what is handed to such a decorator runs on one rank.
bool RanksAt::IsLeftToOne(const Site& site) const {
  const auto is_guard = [&](ir::ExprId expr) {
    const variation::CallFact* call = facts_.call(site.function, expr);
    return call != nullptr && call->kind == variation::CallKind::Known && knowledge_[call->entry].guard;
  };
  const ir::Module& module = program_.module_of(site.function);
  if (module[site.expr].kind != ir::ExprKind::Call) return false;
  return is_guard(site.expr) || is_guard(ir::CalleeOf(module[site.expr]));
}

bool RanksAt::IsOutsideJob(const Site& caller) const {
  if (launch_ == nullptr) return false;
  const RunBy run_by = launch_->Of(caller);
  return run_by == RunBy::OneProcess || run_by == RunBy::Workers || run_by == RunBy::Tests || (places_ != nullptr && places_->IsApart({&caller, 1}));
}

// The ranks that make objects of the class whose method a function is, and those that come to the function that it is made in: elsewhere there is
// nothing to call.
RankSet RanksAt::OfMakers(FuncId function, Known& known, Walk& walk) const {
  RankSet ranks = RankSet::All(known.world.size());
  const FuncId outer = program_.funcs[function].parent;
  if (outer && program_.funcs[outer].function != ir::kTopLevel) ranks = OfMakers(outer, known, walk) & OfCallers(outer, known, walk);
  const binding::ClassId owner = program_.funcs[function].owner;
  const base::NameId name = program_.names->Find("__init__");
  const FuncId init = owner && name ? program_.FindMethod(owner, name) : FuncId::None();
  if (!init || init == function) return ranks;
  // `super().__init__()` of a class that has such a method of its own makes no object that runs this one.
  const auto runs_another = [&](FuncId maker) {
    const binding::ClassId made = program_.funcs[maker].owner;
    const auto is_of_made = [&](const Site& site) { return program_.funcs[site.function].owner == made; };
    return made && made != owner && program_.FindMethod(made, program_.function(function).name) != function &&
           std::ranges::none_of(index_.CallersOf(function), is_of_made);
  };
  const auto makes_other = [&](const Site& caller) { return runs_another(caller.function); };
  const auto callers = index_.CallersOf(init);
  if (std::ranges::none_of(callers, makes_other) || std::ranges::all_of(callers, makes_other)) return ranks & OfCallers(init, known, walk);
  RankSet makers;
  for (const Comer& comer : known.comers.Of(init.index, [&] { return ComersTo(init, known); })) {
    if (!runs_another(comer.function)) makers = makers | (comer.ranks & OfCallers(comer.function, known, walk));
  }
  return ranks & makers;
}

}  // namespace allranks::objects
