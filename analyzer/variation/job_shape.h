#pragma once

#include <cstdint>

namespace allranks::variation {

// What the user says of the jobs of a project; 0: nothing.
struct JobShape {
  uint32_t nodes = 0;
  uint32_t devices = 0;  // processes a node
};

}  // namespace allranks::variation
