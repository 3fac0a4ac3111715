#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace allranks::source {

// One code point of UTF-8 text; a byte that begins no valid sequence stands for itself, with `valid` false.
struct DecodedPoint {
  uint32_t code_point = 0;
  uint32_t length = 1;
  bool valid = true;
};

// Decodes at `at`, which must lie inside `text`. Overlong forms, surrogates and cut-off sequences are
// invalid.
DecodedPoint DecodeUtf8(std::string_view text, size_t at);

bool IsValidUtf8(std::string_view text);

void AppendUtf8(uint32_t code_point, std::string* text);

}  // namespace allranks::source
