// The analysis of a program under a watch, which gives functions up that take too long.
#pragma once

#include <vector>

#include "analyzer/base/watch.h"
#include "analyzer/variation/facts.h"

namespace allranks::variation {

// A function that was given up, and with it what follows in its file.
struct CutFunction {
  FuncId function;
  base::CutKind kind{};
};

// As ComputeVariation; `cut` gets the first function of each file that was given up. Throws Cut where `watch` is stopped.
Facts ComputeVariation(const binding::Program& program, const knowledge::Knowledge& knowledge, base::Watch& watch,
                       std::vector<CutFunction>& cut);

}  // namespace allranks::variation
