#pragma once

#include <string_view>

namespace allranks::server {

// Serves one client on the standard input and output until it leaves; returns the exit code.
int ServeStdio(std::string_view version);

}  // namespace allranks::server
