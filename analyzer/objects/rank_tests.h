// Which ranks of a job pass a test. Its value says so, on each rank by the evaluator of traces; a test whether something is there is passed
// by those that come to a place which fills it (filled_places.h). A test that neither decides, but whose words speak of ranks (rank_words.h),
// is taken to let the first one through: that can silence a rule and cannot make it speak.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/objects/filled_places.h"
#include "analyzer/objects/guards.h"
#include "analyzer/objects/rank_words.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

class RankTests {
 public:
  RankTests(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
            const ProgramIndex& index, const Guards& guards);

  // Those for which it may come out as it says.
  traces::RankSet Passing(const Guard& guard, const traces::World& world) const;
  // All but those for which a loop surely has no round. `loop`: as Guards::LoopsAround says it.
  traces::RankSet MayEnter(const Guard& loop, const traces::World& world) const;

 private:
  // `asked`: things that are asked for already, each by the places that fill the one before.
  using Asked = std::vector<FilledThing>;
  traces::RankSet Passing(const Guard& guard, const traces::World& world, Asked& asked) const;
  std::optional<bool> TruthInCalls(FuncId function, ValueId test) const;
  std::optional<traces::RankSet> ThatFill(const Guard& guard, const traces::World& world, Asked& asked) const;
  traces::RankSet PassingToward(const Site& place, bool is_field, const traces::World& world, Asked& asked) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Guards& guards_;
  FilledPlaces filled_;
  RankWords words_;
  Values values_;
};

}  // namespace allranks::objects
