// Witnesses of findings that are no mismatch of operations: `allranks verify` measures them (docs/runtime-verify.md).
#pragma once

#include "rules/rule.h"
#include "witness/witness.h"

namespace allranks::rules {

// A job without operations of its own: what it leads to follows from the scenario.
witness::Witness ScenarioWitness(const traces::World& world, witness::Effect effect, witness::Scenario scenario);

// One node, as many ranks as it takes to tell a neighbour from the rest.
traces::World OneNode();

// The whole number that a value is, if the program says so and it lies within bounds; `otherwise` if not.
uint32_t NumberWithin(const Context& context, variation::ValueId value, uint32_t least, uint32_t most, uint32_t otherwise);

// A place as witnesses name it.
witness::Place PlaceOf(const Context& context, source::Span span);

}  // namespace allranks::rules
