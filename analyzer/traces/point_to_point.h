// Sends and receives of all ranks, run step by step: does everybody get to the end?
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/traces/world.h"

namespace allranks::traces {

enum class StepKind : uint8_t { Send, Recv, StartSend, StartRecv, Collective };

constexpr int64_t kAnyPeer = -1;  // a receive from whoever sends

struct Step {
  StepKind kind{};
  int64_t peer = 0;     // rank of the world, or kAnyPeer
  RankSet members;      // Collective
  uint32_t group = 0;   // Collective
  uint32_t item = 0;    // of the sequence: for the one who asks
};

// By rank: the step at which it waits for ever; none: it gets to the end. With `sends_return` a send returns before it
// is received, as small messages of MPI may.
std::vector<std::optional<size_t>> StuckSteps(const std::vector<std::vector<Step>>& ranks, bool sends_return);

// Whether the partner of a step comes later on the other rank: then the order is wrong, and not that half is missing.
bool IsMetLater(const std::vector<std::vector<Step>>& ranks, const std::vector<std::optional<size_t>>& stuck, uint32_t rank);

}  // namespace allranks::traces
