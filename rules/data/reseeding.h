// A seed of the rank that the training loop undoes.
#pragma once

#include "rules/rule.h"

namespace allranks::rules {

// Findings of AR308: before the loop each rank seeds by its number, and in the loop all seed alike.
void CheckReseeding(const Context& context, std::string_view code, FindingSink& sink);

}  // namespace allranks::rules
