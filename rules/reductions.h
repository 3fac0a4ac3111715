// Reductions that a program makes by hand, by what they reduce.
#pragma once

#include <string_view>

#include "rules/rule.h"

namespace allranks::rules {

// `dist.all_reduce(p.grad)`, `dist.all_reduce(p.grad.data)`: a reduction of what such an attribute holds.
bool ReducesAttribute(const Context& context, const objects::KnownCall& call, std::string_view attribute);

}  // namespace allranks::rules
