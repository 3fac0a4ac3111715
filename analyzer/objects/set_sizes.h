// What a program says of how many samples a data set has: by how the set, or what it was made of, was cut.
#pragma once

#include <functional>
#include <span>

#include "analyzer/objects/program_index.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

class SetSizes {
 public:
  SetSizes(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const ProgramIndex& index)
      : program_(program), facts_(facts), index_(index), values_(program, knowledge, facts) {}

  // `names[: len(names) // world_size * world_size]`: the same number for each rank.
  bool IsCutToMultiple(ValueId set) const;
  // `lines[:50000]`, of which `len` of the set speaks: where there are that many, jobs of 2, 4 and 8 ranks share them evenly.
  bool IsCappedAtEven(ValueId set) const;
  // Whether a function that one of these places stands in asks what is left of `len(set) % world_size`: people are told.
  bool IsAskedForRest(std::span<const Site> places, ValueId set) const;

 private:
  bool IsMultiple(ValueId stop) const;
  bool AnyMadeOf(ValueId set, const std::function<bool(ValueId)>& is_so) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  Values values_;
};

}  // namespace allranks::objects
