#pragma once

#include <string>
#include <string_view>

namespace allranks::base {

// The text with ASCII letters in lower case.
inline std::string Lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace allranks::base
