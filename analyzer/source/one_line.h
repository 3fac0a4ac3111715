// Source on one line of a message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace allranks::source {

// A text whose white space is single blanks. Of one that is longer than `longest` the beginning, and " ...": up to a blank outside of brackets
// and quotes where there is one in its second half, and else up to that length.
std::string OnOneLine(std::string_view text, size_t longest);

}  // namespace allranks::source
