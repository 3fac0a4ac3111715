#pragma once

#include <string>
#include <string_view>

namespace allranks::reports {

// Text for XML and HTML, inside elements and quoted attributes: what would be markup is escaped; characters that XML
// does not have, bytes that are not UTF-8, and signs that change the direction of text become U+FFFD.
std::string Escaped(std::string_view text);

}  // namespace allranks::reports
