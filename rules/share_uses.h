// How rules tell what a program makes of one rank's share (analyzer/objects/share_results.h).
#pragma once

#include "analyzer/objects/share_results.h"
#include "rules/finding_parts.h"

namespace allranks::rules {

// Whether some rank of a job comes by, and the others have a share as well: `if local_rank == -1: evaluate()` is for one process, and so is
// the other arm of a test under which the job is made.
bool IsReached(const Context& context, const objects::ShareResults& results, const objects::ShareUse& use);

// The last use of the same kind of the same loop in the same function: totals come after samples.
const objects::ShareUse& LastLike(const Context& context, const objects::ShareResults& results, const objects::ShareUse& first);

// Whether commands start ranks of other programs, and of none that uses this file. How a result comes about matters where several ranks
// run it, and of what was found in such files half was right (docs/precision.md).
bool IsStartedElsewhere(const Context& context, const objects::Site& site);

// Where the function that counts hands its result to those that use it: nothing if it uses it itself.
void AddReturn(const Context& context, const objects::ShareResults& results, const objects::ShareUse& use, Finding& finding);

// Whose share a place shows: "rank 0's", or "one rank's".
std::string_view WhoseShare(const Context& context, const objects::Site& site);

}  // namespace allranks::rules
