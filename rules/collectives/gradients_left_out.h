// Gradients that some ranks have and others do not, reduced by hand one by one: `if p.grad is None: continue` before `all_reduce(p.grad)`.
//
// Mostly that test comes out alike on all ranks: a parameter that no forward uses has no gradient anywhere. It does not where a model of the
// program uses one of its parts for some batches only, as its `forward` reads in them.
#pragma once

#include <string_view>

#include "rules/rule.h"

namespace allranks::rules {

void CheckGradientsLeftOut(const Context& context, std::string_view code, FindingSink& sink);

}  // namespace allranks::rules
