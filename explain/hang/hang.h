// The first operation that some ranks issued and that did not complete: who is in it, who never came, what follows from it.
//
// Each group has a front: its first turn that is not complete on all members. A front whose missing ranks wait in
// another one follows from that one. What is left is where the job parted: a rank that is in no operation at all, ranks that
// issued different operations in one turn, or a circle of fronts. Where all members are in the front with the same
// operation, no branch of the code decided it.
//
// Unsound where a recorder lost what it saw: its buffer holds the last operations only, dumps may be of different moments,
// and a rank without a dump is only known to be missing one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/readers/recording.h"

namespace allranks::explain {

enum class Cause : uint8_t {
  None,        // nothing is stuck, as far as the recording goes
  Absent,      // some members never issued it
  Mismatch,    // members issued different operations in the same turn
  Circle,      // groups of ranks wait for each other in different operations
  AllArrived,  // all are in it and none completes
  Ended,       // a member left: it raised, or was killed
};

// A rank in an operation.
struct Arrival {
  uint32_t rank = 0;
  std::string kind;
  std::string shapes;
  StackIndex stack = kNoStack;
  OpState state = OpState::Scheduled;
  uint64_t order = 0;
  uint64_t time_ns = 0;
};

// An operation that does not complete.
struct Stall {
  uint32_t group = 0;
  uint64_t turn = 0;           // on the group; 0: not known
  std::string kind;
  std::string shapes;
  std::vector<Arrival> arrived;   // waiting, by rank
  std::vector<uint32_t> through;  // for whom it completed
  std::vector<uint32_t> absent;   // sorted
  std::vector<uint32_t> unheard;  // members of whom there is no record
  bool members_known = true;      // false: nothing says whether more ranks belong to the group
  bool through_unseen = false;    // what those for whom it completed had issued is not recorded
  bool point_to_point = false;
};

// Where a rank that did not come was seen.
struct Whereabouts {
  uint32_t rank = 0;
  std::string last_kind;         // its last operation, on any group; empty: none is known
  StackIndex last_stack = kNoStack;
  uint64_t last_turn = 0;
  uint32_t last_group = 0;
  bool last_completed = false;
  StackIndex stack = kNoStack;   // where it stands now
  std::optional<Ending> ending;
};

struct Hang {
  Cause cause = Cause::None;
  Stall stall;
  std::vector<Stall> circle;      // Circle: those that close it, in order, without `stall`
  std::vector<Stall> following;   // wait for what `stall` waits for
  std::vector<Whereabouts> absent;
  // The last turn of the group that all members issued from the same place; none: there is none, or it is not known.
  std::optional<uint64_t> last_common_turn;
  StackIndex last_common_stack = kNoStack;
  // What each rank issued on the group from then on, where that is known and differs.
  bool sequences_differ_before = false;  // places differ before the stall already
  std::vector<Arrival> first_different;  // by rank, of the turn behind the last common one
};

Hang FindHang(const Recording& recording);

}  // namespace allranks::explain
