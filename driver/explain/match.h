// Which finding of `check` foretold a hang.
//
// A finding explains it if its schedule has an operation that waits where the job waits: the same line (or a line of the
// call chain) and the same kind, and if nothing else the same group of ranks. That the rank that did not come is where the
// other side of the schedule is counts besides.
#pragma once

#include <optional>

#include "driver/explain/foretold.h"
#include "explain/hang/hang.h"

namespace allranks::explain {

struct Match {
  size_t finding = 0;
  int score = 0;
  std::string because;  // "the waiting line, the kind of the operation and two calls of the chain agree"
};

std::optional<Match> BestMatch(const std::vector<Foretold>& findings, const Recording& recording, const Hang& hang);

// Where none does: one in a function that waiting ranks are in, under a condition that ranks which are missing here are alone
// to meet. What they issue there pairs with operations of the others, so that these wait at another line, later on.
std::optional<size_t> MatchBeside(const std::vector<Foretold>& findings, const Recording& recording, const Hang& hang);

}  // namespace allranks::explain
