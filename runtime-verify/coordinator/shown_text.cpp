#include "runtime-verify/coordinator/shown_text.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "witness/steering_characters.h"

namespace allranks::verify {
namespace {

constexpr unsigned char kFirstBeyondAscii = 0x80;

unsigned char ByteAt(std::string_view text, size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0; }

// The character of two or three bytes that begins here; of others it says nothing.
struct Character {
  uint32_t value = 0;
  size_t length = 1;
};

Character CharacterAt(std::string_view text, size_t at) {
  constexpr unsigned kRest = 0x3f, kBits = 6;
  const unsigned first = ByteAt(text, at), second = ByteAt(text, at + 1), third = ByteAt(text, at + 2);
  if (first >= 0xc2 && first < 0xe0 && second >= kFirstBeyondAscii) return {((first & 0x1fu) << kBits) | (second & kRest), 2};
  if (first >= 0xe0 && first < 0xf0 && second >= kFirstBeyondAscii && third >= kFirstBeyondAscii) {
    return {((first & 0xfu) << (2 * kBits)) | ((second & kRest) << kBits) | (third & kRest), 3};
  }
  return {first, 1};
}

// A runner that compares as people read sees nothing in much that is beyond ASCII.
bool IsSecondHash(std::string_view text, size_t at) {
  if (text[at] != '#') return false;
  while (at > 0 && ByteAt(text, at - 1) >= kFirstBeyondAscii) --at;
  return at > 0 && text[at - 1] == '#';
}

// `spelt`: what is shown of such a character.
template <class Spelt>
std::string WithSpelt(std::string_view text, const Spelt& spelt) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Character c = CharacterAt(text, at);
    if (witness::SteersText(c.value) || IsSecondHash(text, at)) out += spelt(c);
    else out += text.substr(at, c.length);
    at += c.length;
  }
  return out;
}

}  // namespace

std::string OneLine(std::string text) {
  std::string out = WithSpelt(text, [](const Character&) { return " "; });
  const size_t begin = out.find_first_not_of(' ');
  if (begin != std::string::npos && std::string_view(out).substr(begin).starts_with("::")) out[begin] = ' ';
  return out;
}

std::string ShownJson(std::string json) {
  // Between strings stand ends of lines; in strings JSON has none.
  return WithSpelt(json, [](const Character& c) { return c.value == '\n' ? std::string("\n") : fmt::format("\\u{:04x}", c.value); });
}

}  // namespace allranks::verify
