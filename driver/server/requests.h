// What is asked of one document: a file each.
#pragma once

#include "driver/server/target.h"

namespace allranks::server {

// The rule behind a code; else what the expression there is on each rank, and who reaches a collective.
Json Hover(const Target& target, source::LineColumn place);

// `ranks: 0` at the first line of what only some ranks reach.
Json InlayHints(const Target& target, const Range& range);

// "3 collectives, aligned on all ranks" above each function that issues some.
Json CodeLenses(const Target& target);

// `only`: kinds of actions that are wanted; null: any.
Json CodeActions(const Target& target, const Range& range, const Json& only);

}  // namespace allranks::server
