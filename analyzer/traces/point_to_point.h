// Sends and receives of all ranks, run step by step: does everybody get to the end, and does every message arrive?
//
// Messages between two ranks are matched as MPI says: by communicator and tag, in the order in which they were sent. What is
// begun goes on beside the rank; it waits only where it asks for the end of it. A tag that is not known fits every other.
// What is given up (MPI_Cancel) may have been met before or not: it needs no other half, and may be met by one.
// What a rank leaves in a store stays there for whoever asks: it is neither used up nor lost if nobody does.
// Unsound where receives from whoever sends are: of several senders the one of the lowest rank comes first.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/traces/world.h"

namespace allranks::traces {

enum class StepKind : uint8_t { Send, Recv, StartSend, StartRecv, Wait, Cancel, Probe, Leave, Await, Collective };

constexpr int64_t kAnyPeer = -1;  // a receive from whoever sends
constexpr int64_t kNoPeer = kMostRanks;   // a rank that the job has not
constexpr int64_t kAnyTag = -1;

struct Step {
  StepKind kind{};
  int64_t peer = 0;     // rank of the world, kAnyPeer or kNoPeer
  int64_t tag = kAnyTag;  // Leave, Await: the key
  RankSet members;      // Collective
  uint32_t group = 0;
  uint32_t handle = 0;  // what is begun, and what Wait waits for, or Cancel gives up; 0: nothing
  uint32_t item = 0;    // of the sequence: for the one who asks
};

// A rank that stands for ever at step `at`, where step `of` (often the same) is not done.
struct Stuck {
  size_t at = 0;
  size_t of = 0;
};

struct StepOf {
  uint32_t rank = 0;
  size_t step = 0;
};

struct MessagesRun {
  std::vector<std::optional<Stuck>> stuck;          // by rank
  std::vector<std::pair<StepOf, StepOf>> messages;  // sends and their receives, where no other pair was possible
  std::vector<StepOf> alone;                        // of ranks that came past them: sends and receives without the other half
};

// With `sends_return` a send returns before it is received, as small messages of MPI may.
MessagesRun RunMessages(const std::vector<std::vector<Step>>& ranks, bool sends_return);

// Whether the partner of a step comes later on the other rank: then the order is wrong, and not that half is missing.
bool IsMetLater(const std::vector<std::vector<Step>>& ranks, const std::vector<std::optional<Stuck>>& stuck, uint32_t rank);

}  // namespace allranks::traces
