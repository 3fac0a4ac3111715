#pragma once

#include <string>

namespace allranks::pipeline {

// The bytes by which the linker tells this very program from any other build of it (the GNU build id); empty if it was
// linked without.
std::string BuildId();

}  // namespace allranks::pipeline
