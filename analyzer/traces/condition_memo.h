// What follows from a condition alone, found once for each: whether it is decided, and whether it asks for what a walk in
// running order knows (history.h).
//
// Conditions share their parts: that of a branch holds those of the branches before it. Looked through anew each time, the
// n-th of them takes 2^n steps.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/variation/value.h"

namespace allranks::traces {

using variation::ValueId;

class ConditionMemo {
 public:
  explicit ConditionMemo(const variation::ValueStore& values) : values_(&values) {}

  // What a condition is wherever it is asked: that of `evaluate and x` is false where `evaluate` is.
  std::optional<bool> KnownTruth(ValueId condition);
  // Whether a condition asks for something that is made once, or for the mode of a module.
  bool AsksForMade(ValueId condition) { return Asks(condition, asks_for_made_, &ConditionMemo::IsMade); }
  bool AsksForMode(ValueId condition) { return Asks(condition, asks_for_mode_, &ConditionMemo::IsMode); }
  // Whether the number of ranks is somewhere in it.
  bool AsksForSize(ValueId condition);

 private:
  enum class Answer : uint8_t { NotAsked, No, Yes, Unknown };
  using Answers = std::vector<Answer>;   // by ValueId

  static Answer& At(Answers& answers, ValueId id);
  std::optional<bool> FindTruth(ValueId condition);
  bool Asks(ValueId condition, Answers& answers, bool (ConditionMemo::*is)(ValueId) const);
  bool IsMade(ValueId value) const;
  bool IsMode(ValueId value) const { return values_->IsMode(value); }

  const variation::ValueStore* values_;
  Answers truths_, asks_for_made_, asks_for_mode_, asks_for_size_;
};

}  // namespace allranks::traces
