#include "frontends/python/string_literal.h"

#include <cstdint>

#include "analyzer/source/utf8.h"

namespace allranks::python {
namespace {

constexpr uint32_t kReplacement = 0xfffd;
constexpr std::string_view kSpecial = "\\\r{}";

// The value of a digit in any base up to 16, or 16.
uint32_t DigitOf(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<uint32_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<uint32_t>(c - 'A' + 10);
  return 16;
}

bool IsScalar(uint32_t point) { return point < 0xd800 || (point > 0xdfff && point <= 0x10ffff); }

}  // namespace

StringPrefix PrefixOf(std::string_view opening) {
  StringPrefix prefix;
  for (const char c : opening) {
    if (c == 'b' || c == 'B') prefix.bytes = true;
    if (c == 'r' || c == 'R') prefix.raw = true;
    if (c == 'f' || c == 'F' || c == 't' || c == 'T') prefix.format = true;
  }
  return prefix;
}

void LiteralText::Add(std::string_view source, StringPrefix prefix) {
  if (too_long_ || source.empty()) return;
  // Escapes only shorten, so that a source this long stays too long, or is an odd one that may go.
  if (text_.size() + source.size() <= 4 * kLongest) {
    if (source.find_first_of(kSpecial) == std::string_view::npos) {
      text_ += source;
    } else {
      Decode(source, prefix);
    }
    if (text_.size() <= kLongest) return;
  }
  too_long_ = true;
  text_.clear();
}

void LiteralText::Decode(std::string_view source, StringPrefix prefix) {
  size_t at = 0;
  while (at < source.size()) {
    const char c = source[at];
    const char next = at + 1 < source.size() ? source[at + 1] : '\0';
    if (c == '\r') {
      text_ += '\n';
      at += next == '\n' ? 2 : 1;
    } else if (prefix.format && (c == '{' || c == '}') && next == c) {
      text_ += c;
      at += 2;
    } else if (c == '\\' && !prefix.raw && at + 1 < source.size()) {
      at += 1 + DecodeEscape(source.substr(at + 1), prefix);
    } else {
      text_ += c;
      ++at;
    }
  }
}

size_t LiteralText::DecodeEscape(std::string_view rest, StringPrefix prefix) {
  const char c = rest[0];
  switch (c) {
    case '\n':
      return 1;
    case '\r':
      return rest.size() > 1 && rest[1] == '\n' ? 2 : 1;
    case '\\':
    case '\'':
    case '"':
      text_ += c;
      return 1;
    case 'a':
      text_ += '\a';
      return 1;
    case 'b':
      text_ += '\b';
      return 1;
    case 'f':
      text_ += '\f';
      return 1;
    case 'n':
      text_ += '\n';
      return 1;
    case 'r':
      text_ += '\r';
      return 1;
    case 't':
      text_ += '\t';
      return 1;
    case 'v':
      text_ += '\v';
      return 1;
    case 'x':
      return DecodeNumber(rest, 1, 2, 16, prefix.bytes);
    default:
      break;
  }
  if (c >= '0' && c <= '7') return DecodeNumber(rest, 0, 3, 8, prefix.bytes);
  if (!prefix.bytes && c == 'u') return DecodeNumber(rest, 1, 4, 16, false);
  if (!prefix.bytes && c == 'U') return DecodeNumber(rest, 1, 8, 16, false);
  if (!prefix.bytes && c == 'N' && rest.size() > 1 && rest[1] == '{') {
    // The table of character names is not worth its size here.
    const size_t close = rest.find('}');
    source::AppendUtf8(kReplacement, &text_);
    return close == std::string_view::npos ? rest.size() : close + 1;
  }
  // Python keeps the backslash of an escape that it does not know.
  text_ += '\\';
  text_ += c;
  return 1;
}

size_t LiteralText::DecodeNumber(std::string_view rest, size_t first_digit, size_t most_digits, uint32_t base,
                                 bool bytes) {
  uint64_t value = 0;
  size_t at = first_digit;
  while (at < rest.size() && at < first_digit + most_digits && DigitOf(rest[at]) < base) {
    value = value * base + DigitOf(rest[at]);
    ++at;
  }
  const uint32_t point = static_cast<uint32_t>(value);
  if (bytes) {
    text_ += static_cast<char>(point & 0xff);
  } else {
    source::AppendUtf8(value <= 0x10ffff && IsScalar(point) ? point : kReplacement, &text_);
  }
  return at;
}

}  // namespace allranks::python
