// Characters that make a text read differently from what it says (Trojan Source), end its line, or steer a terminal. Both halves of a run
// print texts that are not ours: names of files, code, words of libraries.
#pragma once

namespace allranks::witness {

// Controls, and what changes the direction of text, ends a line or takes no room.
constexpr bool SteersText(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x2069) || c == 0xfeff;
}

}  // namespace allranks::witness
