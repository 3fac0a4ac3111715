// Per group the first turn that is not complete on all members, from whatever was recorded of it.
#pragma once

#include <vector>

#include "explain/hang/hang.h"

namespace allranks::explain {

// A front and what the group did before it.
struct Front {
  Stall stall;
  bool is_mismatch = false;
  std::optional<uint64_t> last_common_turn;
  StackIndex last_common_stack = kNoStack;
  std::vector<Arrival> first_different;
};

std::vector<Front> FrontsOfGroups(const Recording& recording);
std::vector<Front> FrontsOfPairs(const Recording& recording);
// Where no operation was recorded: what checks, monitors and stacks tell.
std::vector<Front> FrontsOfChecks(const Recording& recording);

}  // namespace allranks::explain
