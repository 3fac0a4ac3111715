// The other operations that hang on the cause of a difference: one finding names all places of it.
#pragma once

#include <vector>

#include "rules/rule.h"

namespace allranks::rules {

// Collectives of the function that stand under the same test as the one that the finding is about, where the other arm issues none; or, of a
// `break` or `continue`, those behind it in the round. In order, without the one that the finding names.
std::vector<source::Span> OperationsBeside(const Context& context, const traces::Difference& difference);

}  // namespace allranks::rules
