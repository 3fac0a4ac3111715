#pragma once

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace allranks::base {

// The number that the whole of a text writes in decimal, as "0.5" or "-2e-3". std::from_chars reads no double in libc++ before
// version 20. Nothing here sets a locale, so that the point is a point.
inline std::optional<double> DecimalOf(std::string_view text) {
  const auto is_part = [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '-' || c == '+'; };
  if (text.empty() || text[0] == '+' || !std::ranges::all_of(text, is_part)) return std::nullopt;
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  return end == copy.c_str() + copy.size() ? std::optional(number) : std::nullopt;
}

}  // namespace allranks::base
