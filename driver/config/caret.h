#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace allranks::config {

// Lines and columns from one, columns in code points; `end_column` 0: unknown.
struct CaretPlace {
  uint32_t line = 1;
  uint32_t column = 1;
  uint32_t end_column = 0;
};

// "allranks.toml:2:1: unknown key `slect`", and below it the line with carets under the place.
std::string AtCaret(std::string_view shown, std::string_view text, const CaretPlace& place, std::string_view what);

}  // namespace allranks::config
