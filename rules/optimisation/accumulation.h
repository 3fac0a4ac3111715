// Steps that happen every n-th time only: gradient accumulation.
#pragma once

#include <optional>
#include <vector>

#include "rules/rule.h"

namespace allranks::rules {

// The test on the way to a place that comes true every n-th time, because it asks for a remainder; none: every time.
std::optional<objects::Guard> PeriodicGuard(const Context& context, const objects::Site& site);
inline bool IsPeriodic(const Context& context, const objects::Site& site) { return PeriodicGuard(context, site).has_value(); }
// The n of that test; none if there is no such test.
variation::ValueId PeriodOf(const Context& context, const objects::Site& site);

// Calls of `step` of an optimizer, or of a gradient scaler, in a function.
std::vector<objects::Site> OptimizerSteps(const Context& context, binding::FuncId function);
// Whether no test is asked to come out both ways on the way to the two.
bool MeetOnOneWay(const Context& context, const objects::Site& a, const objects::Site& b);
// Whether the innermost loop around both is the same, or there is none around either.
bool ShareTheirLoop(const Context& context, const objects::Site& a, const objects::Site& b);

// Sets DDP's flag, which its forward reads, first thing in each round of the loop to whether the optimizer steps in it.
// None where that test, or the wrapped model, is not seen.
std::optional<findings::Fix> ReduceWhereItSteps(const Context& context, const objects::Site& backward, const objects::Site& step);

// One step of the optimizer with so many micro-steps as `period` says, and some where it says nothing.
witness::Witness AccumulationWitness(const Context& context, variation::ValueId period, source::Span backward);

}  // namespace allranks::rules
