// What only this user's runs know. Cache entries carry it, so that nothing counts of a cache that came with a repository.
//
// A repository could hold entries that were made to hide findings: program and texts are public, and so is all that an
// entry is told by otherwise. Who can read the user's own cache can forge entries of it; nobody else can.
#pragma once

#include <string>

namespace allranks::pipeline {

// ALLRANKS_CACHE_KEY, or the number in a file of the user's, which the first run makes:
// $XDG_STATE_HOME/allranks/cache-key, else ~/.local/state/allranks/cache-key. Empty: there is none, and nothing is cached.
std::string CacheKey();

}  // namespace allranks::pipeline
