// What an object of a library was made with, and whether that makes what it yields differ between ranks: a loader with a
// sampler of its own gives each rank other batches, one without gives all of them the same.
//
// The idea: an Object keeps what its constructor was given, by parameter (value.h). Which arguments make ranks differ is knowledge
// (`varies_with`).
//
// Unsound: an object whose making was not seen may have been made so, which is what is taken for granted then.
#pragma once

#include "analyzer/variation/tables.h"

namespace allranks::variation {

// What an object of a library was made with; none if it was not passed, or if its making was not seen.
ValueId MadeWith(const Tables& tables, ValueId object, NameId param);

// What a container of a library holds, as the sequence or dictionary that it was made with: the modules of a `ModuleList`; an empty
// sequence if it was made with nothing, and none of anything that is no such container.
ValueId ContentsOf(Tables& tables, ValueId object);
// The same container with other contents.
ValueId WithContents(Tables& tables, ValueId object, ValueId contents);

// Whether the receiver of a call was made with an argument that makes what the call yields differ between ranks.
bool IsMadeToVary(const Tables& tables, const knowledge::Entry& entry, ValueId receiver);

}  // namespace allranks::variation
