#pragma once

#include <string_view>

#include "analyzer/base/result.h"
#include "analyzer/knowledge/knowledge.h"

namespace allranks::knowledge {

// Adds what a user's file says to what is built in. Names and kinds of operations that are most likely meant to be ones of the files before are
// errors, unless the entry says that they are meant as written.
base::Result<bool> LoadUsersFile(Knowledge& knowledge, std::string_view file_name, std::string_view toml);

}  // namespace allranks::knowledge
