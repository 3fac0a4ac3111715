#pragma once

#include <string>
#include <string_view>

namespace allranks::reports {

// A path as a URI reference: relative stays relative, absolute becomes file://; what may not stand there is
// percent-encoded (RFC 3986).
std::string UriOf(std::string_view path);

}  // namespace allranks::reports
