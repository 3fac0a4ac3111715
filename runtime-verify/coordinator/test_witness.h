// For tests: a witness that is nothing but a scenario.
#pragma once

#include <utility>

#include "witness/witness.h"

namespace allranks::verify {

inline witness::Witness World(uint32_t world, witness::Scenario scenario, uint32_t nodes = 1) {
  witness::Witness w{.finding = "AR", .world = world, .nodes = nodes};
  w.scenario = std::move(scenario);
  return w;
}

}  // namespace allranks::verify
