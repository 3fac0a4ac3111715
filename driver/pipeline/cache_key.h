// What only this user's runs know. Entries of a cache carry a mark that is made with it (seal.h), so that nothing counts of a cache
// that came with a repository: it could hold entries that were made to hide findings.
//
// An entry does not tell the key: who reads the user's cache can make none.
#pragma once

#include <string>

namespace allranks::pipeline {

// ALLRANKS_CACHE_KEY, or the number in a file of the user's, which the first run makes:
// $XDG_STATE_HOME/allranks/cache-key, else ~/.local/state/allranks/cache-key. Empty: there is none, and nothing is cached.
std::string CacheKey();

}  // namespace allranks::pipeline
