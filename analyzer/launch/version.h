// Releases as people write them, "2.30" or "1.13.1", as far as their first two numbers.
#pragma once

#include <compare>
#include <optional>
#include <string_view>

namespace allranks::launch {

struct Version {
  int major = 0;
  int minor = 0;
  auto operator<=>(const Version&) const = default;
};

// Of a text that begins with one.
std::optional<Version> VersionIn(std::string_view text);

}  // namespace allranks::launch
