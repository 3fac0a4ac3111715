// How many elements a tensor has on a rank, and of which type they are: what ranks must agree on where they communicate it.
//
// A tensor is known by how it was made: of sizes (`torch.zeros(n, 4)`), of a list, like another one, or as one of two. What else
// was done to it leaves its size unknown; then nothing is compared, and nothing is proven.
#pragma once

#include <optional>

#include "analyzer/traces/evaluate.h"

namespace allranks::traces {

// None: not known.
std::optional<int64_t> ElementsOf(Evaluator& evaluator, ValueId tensor, uint32_t rank);
ValueId ElementTypeOf(Evaluator& evaluator, ValueId tensor, uint32_t rank);

// Whether a tensor is one of several, or its type is, where ranks may not choose alike.
bool MayBeOfSeveralTypes(const variation::ValueStore& values, ValueId tensor);

// Whether something that ranks may not share has a say in how large it is, or of which type.
bool MayDifferInSize(const variation::ValueStore& values, ValueId tensor);

}  // namespace allranks::traces
