#pragma once

#include <string>
#include <string_view>

namespace allranks::server {

// The absolute path that a `file:` URI names; empty for any other URI.
std::string PathOfUri(std::string_view uri);
// What an `untitled:` URI calls a text that was never saved: a name, or the absolute path that it is to have; empty for any
// other URI.
std::string UntitledName(std::string_view uri);

}  // namespace allranks::server
