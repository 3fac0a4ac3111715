// What the conditions of choices ask: what one choice was taken to be answers the others that ask the same.
#pragma once

#include <cstdint>

#include "analyzer/variation/value.h"

namespace allranks::traces {

using variation::ValueId;

// So that `x in s`, `x not in s` and `not x in s` ask the same; `truth`: whether the condition holds if the answer is yes.
struct Question {
  uint64_t key = 0;
  bool truth = true;
  ValueId subject;    // of `x == constant`: what it asks of, and the constant; none of other questions
  ValueId constant;
};
Question Asked(const variation::ValueStore& values, ValueId condition);

// Whether a yes to the one is a no to the other: `mode == "a"`, `mode == "b"`.
bool Excludes(const variation::ValueStore& values, const Question& a, const Question& b);

// The questions of many choices, as a Bloom filter (Bloom 1970): it may hold more than were added, and none that was is missing.
class QuestionSet {
 public:
  void Add(const Question& question);
  void Add(QuestionSet others) { bits_ |= others.bits_; }
  // Whether an answer to `question` may answer one of these.
  bool MayAsk(const Question& question) const;

 private:
  uint64_t bits_ = 0;
};

}  // namespace allranks::traces
