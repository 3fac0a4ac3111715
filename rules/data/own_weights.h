// Weights that each rank draws for itself and nothing makes alike.
#pragma once

#include "rules/rule.h"

namespace allranks::rules {

// Findings of AR308: a model made under a seed of the rank, whose gradients the program reduces by hand. DDP would send the weights of rank 0.
void CheckOwnWeights(const Context& context, std::string_view code, FindingSink& sink);

}  // namespace allranks::rules
