// What a script decides by values that it sets itself: `N=4`, and further down `if [ $N -eq 4 ]`.
//
// Only what is written counts, or defaults as well where what mostly happens is asked (`least`). Whatever comes from the caller may be
// another value when the script is run.
#pragma once

#include <optional>
#include <vector>

#include "frontends/launch/expansion.h"

namespace allranks::launch_files {

// Of the nodes between `if` or `elif` and `then`: those that are no part of the arm.
std::vector<TSNode> ConditionOf(const std::vector<TSNode>& parts);
// Whether a condition holds that is one comparison: `[ $N -eq 4 ]`, `[[ $A == b ]]`, `(( N > 2 ))`; nothing: not known.
std::optional<bool> Holds(const std::vector<TSNode>& condition, const Expansion& expansion, Sureness least = Sureness::Written);
// Whether an arm of `case` is for the value; nothing: not known.
std::optional<bool> IsChosen(TSNode choice, TSNode arm, const Expansion& expansion, Sureness least = Sureness::Written);

}  // namespace allranks::launch_files
