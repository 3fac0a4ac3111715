// Noise that is the same on every rank: one seed for all, and a training step that draws from the generator behind it.
#pragma once

#include "rules/rule.h"

namespace allranks::rules {

// Findings of AR308, at most one for each program that seeds.
void CheckSameNoise(const Context& context, std::string_view code, FindingSink& sink);

}  // namespace allranks::rules
