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

// The same for a number that is written down in the program with a point or an exponent.
double RateOr(const Context& context, variation::ValueId value, double otherwise);

// The samples of an epoch that make a whole step on every rank, where each takes so many a step.
uint32_t SamplesFor(uint32_t batch, const traces::World& world);

// What each rank does there, as the one operation of the witness.
void AddOperation(const Context& context, std::string kind, std::string source, source::Span span,
                  witness::Witness* witness);

// A place as witnesses name it.
witness::Place PlaceOf(const Context& context, source::Span span);

}  // namespace allranks::rules
