// What becomes of a schedule, as a model says or as was seen on real ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "witness/witness.h"

namespace allranks::witness {

// An operation that never completes, or whose data is wrong, by its place in the rank's schedule.
struct RankOp {
  uint32_t rank = 0;
  uint32_t op = 0;
  friend bool operator==(const RankOp&, const RankOp&) = default;
};

struct StuckOp {
  uint32_t rank = 0;
  uint32_t op = 0;
  std::vector<uint32_t> waits_for;  // ranks that did not come, or came with something else; sorted
  friend bool operator==(const StuckOp&, const StuckOp&) = default;
};

struct Outcome {
  Effect effect = Effect::Clean;
  std::vector<StuckOp> stuck;   // one a rank: the first that does not complete; by rank
  std::vector<RankOp> wrong;    // completed with data of something else; by rank
  std::vector<RankOp> refused;  // the library does not take it: the rank is not in the group
  std::vector<uint32_t>
      cycle;  // ranks of which each waits for the next, the last for the first; empty: none does
  // What was sent and never received: the next operation of the group will take it for its own.
  bool leaves_data = false;
};

}  // namespace allranks::witness
