// A seed that counts the ranks of one node only.
#pragma once

#include "rules/rule.h"

namespace allranks::rules {

// Findings of AR308: `manual_seed(seed + local_rank)` in a program that trains on what is dealt out to the ranks of all nodes.
void CheckLocalSeeds(const Context& context, std::string_view code, FindingSink& sink);

}  // namespace allranks::rules
