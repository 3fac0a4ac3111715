#pragma once

#include "runtime-verify/backends/backend.h"

namespace allranks::verify {

// Gloo over TCP on the given address.
std::unique_ptr<Backend> MakeGlooBackend();

}  // namespace allranks::verify
