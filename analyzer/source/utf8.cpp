#include "analyzer/source/utf8.h"

#include <cstring>

namespace allranks::source {
namespace {

constexpr uint32_t kFirstSurrogate = 0xd800;
constexpr uint32_t kLastSurrogate = 0xdfff;
constexpr uint32_t kLastCodePoint = 0x10ffff;
constexpr uint64_t kHighBits = 0x8080808080808080ull;

// How many bytes the lead byte announces; zero if it is none.
uint32_t AnnouncedLength(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

uint32_t SmallestOfLength(uint32_t length) { return length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000; }

}  // namespace

DecodedPoint DecodeUtf8(std::string_view text, size_t at) {
  const uint8_t lead = static_cast<uint8_t>(text[at]);
  const DecodedPoint invalid = {.code_point = lead, .length = 1, .valid = false};
  const uint32_t length = AnnouncedLength(lead);
  if (length == 1) return {.code_point = lead, .length = 1, .valid = true};
  if (length == 0 || text.size() - at < length) return invalid;
  uint32_t point = lead & (0x7fu >> length);
  for (uint32_t i = 1; i < length; ++i) {
    const uint8_t next = static_cast<uint8_t>(text[at + i]);
    if ((next & 0xc0u) != 0x80u) return invalid;
    point = (point << 6) | (next & 0x3fu);
  }
  if (point < SmallestOfLength(length) || point > kLastCodePoint) return invalid;
  if (point >= kFirstSurrogate && point <= kLastSurrogate) return invalid;
  return {.code_point = point, .length = length, .valid = true};
}

bool IsValidUtf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    // Nearly all source is ASCII: eight bytes a step.
    while (at + 8 <= text.size()) {
      uint64_t word = 0;
      std::memcpy(&word, text.data() + at, 8);
      if ((word & kHighBits) != 0) break;
      at += 8;
    }
    if (at >= text.size()) break;
    const DecodedPoint point = DecodeUtf8(text, at);
    if (!point.valid) return false;
    at += point.length;
  }
  return true;
}

void AppendUtf8(uint32_t code_point, std::string* text) {
  const auto add = [text](uint32_t byte) { text->push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    add(code_point);
  } else if (code_point < 0x800) {
    add(0xc0 | (code_point >> 6));
    add(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    add(0xe0 | (code_point >> 12));
    add(0x80 | ((code_point >> 6) & 0x3f));
    add(0x80 | (code_point & 0x3f));
  } else {
    add(0xf0 | (code_point >> 18));
    add(0x80 | ((code_point >> 12) & 0x3f));
    add(0x80 | ((code_point >> 6) & 0x3f));
    add(0x80 | (code_point & 0x3f));
  }
}

}  // namespace allranks::source
