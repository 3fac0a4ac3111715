#include "analyzer/objects/rank_tests.h"

#include <algorithm>

#include "analyzer/objects/passed_tests.h"

namespace allranks::objects {

using traces::RankSet;

RankTests::RankTests(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                     const ProgramIndex& index, const Guards& guards)
    : program_(program), facts_(facts), index_(index), guards_(guards), filled_(program, facts, index, guards), words_(program, facts, index),
      values_(program, knowledge, facts) {}

RankSet RankTests::MayEnter(const Guard& loop, const traces::World& world) const {
  RankSet ranks = RankSet::All(world.size());
  const ValueId rounds = facts_.trip_count(loop.function, loop.test);
  const ValueId asked = rounds ? rounds : facts_.value(program_.funcs[loop.function].module, loop.test);
  if (!asked || facts_.values_store.axes(asked).empty()) return ranks;
  for (uint32_t rank = 0; rank < world.size(); ++rank) {
    if (values_.TruthOnRank(asked, world, rank) == false) ranks.bits &= ~RankSet::Of(rank).bits;
  }
  return ranks;
}

RankSet RankTests::Passing(const Guard& guard, const traces::World& world) const {
  Asked asked;
  return Passing(guard, world, asked);
}

RankSet RankTests::Passing(const Guard& guard, const traces::World& world, Asked& asked) const {
  const ValueId value = facts_.value(program_.funcs[guard.function].module, guard.test);
  const bool speaks_of_ranks = words_.Speaks(guard.function, guard.test);
  const std::optional<bool> in_calls = value ? TruthInCalls(guard.function, value) : std::nullopt;
  if (in_calls) return *in_calls == guard.holds ? RankSet::All(world.size()) : RankSet{};
  if (const std::optional<RankSet> ranks = ThatFill(guard, world, asked)) return *ranks;
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
std::optional<bool> RankTests::TruthInCalls(FuncId function, ValueId test) const {
  if (!facts_.values_store.has_param(test) || index_.CallersOf(function).empty()) return std::nullopt;
  std::vector<ValueId> passed;
  for (uint32_t i = 0; i < program_.function(function).params.size(); ++i) passed.push_back(facts_.param(function, i));
  const PassedArgs args{function, passed};
  return PassedTests(facts_.values_store, {&args, 1}).Truth(test);
}

// `if best is not None`, where `best` starts as None: those that come to a place that sets it.
std::optional<RankSet> RankTests::ThatFill(const Guard& guard, const traces::World& world, Asked& asked) const {
  const std::optional<Filling> filling = filled_.AskedBy(guard);
  if (!filling || std::ranges::find(asked, filling->thing) != asked.end()) return std::nullopt;
  asked.push_back(filling->thing);
  RankSet ranks;
  for (const Site& place : filling->places) ranks = ranks | PassingToward(place, filling->is_field, world, asked);
  asked.pop_back();
  return filling->is_field && ranks.empty() ? std::nullopt : std::optional(ranks);
}

// Those that pass what stands around and before a place in its function. Of variables that are set where the one is which is asked for,
// nothing is known.
RankSet RankTests::PassingToward(const Site& place, bool is_field, const traces::World& world, Asked& asked) const {
  const ir::Module& module = program_.module_of(place.function);
  RankSet ranks = RankSet::All(world.size());
  for (const Guard& guard : guards_.Of(place)) {
    if (is_field || module[guard.test].kind != ir::ExprKind::Name) ranks.bits &= Passing(guard, world, asked).bits;
  }
  return ranks;
}

}  // namespace allranks::objects
