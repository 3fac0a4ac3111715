#pragma once

#include <string>
#include <string_view>

namespace allranks::server {

// The absolute path that a `file:` URI names; empty for any other URI.
std::string PathOfUri(std::string_view uri);

}  // namespace allranks::server
