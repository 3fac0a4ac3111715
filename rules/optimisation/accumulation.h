// What rules about accumulation windows have in common: the loss that is added, and how a report shows a window.
#pragma once

#include <optional>
#include <string_view>

#include "rules/finding_parts.h"

namespace allranks::rules {

// `loss` of `loss.backward()` and of `scaler.scale(loss).backward()`; none where a framework is handed it.
ir::ExprId LossOf(const Context& context, const objects::Site& backward);

// How often the optimizer steps, as a label at its step says it.
std::string_view HowOften(const objects::Period& period);

// Sets DDP's flag, which its forward reads, first thing in each round of the loop to whether the optimizer steps in it.
// None where that test, or the wrapped model, is not seen.
std::optional<findings::Fix> ReduceWhereItSteps(const Context& context, const objects::AccumulationWindow& window,
                                                const objects::Site& backward);

// One step of the optimizer with so many micro-steps as `period` says, and some where it says nothing.
witness::Witness AccumulationWitness(const Context& context, variation::ValueId period, source::Span backward);

}  // namespace allranks::rules
