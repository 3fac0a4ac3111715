// Releases as people write them, "2.30" or "1.13.1": of PyTorch and of libraries the first two numbers count.
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

// A release of a package, with the number of its patch.
struct Release {
  int major = 0;
  int minor = 0;
  int patch = 0;
  auto operator<=>(const Release&) const = default;
};

// Of a text that begins with one; `patch`: where none is written.
std::optional<Release> ReleaseIn(std::string_view text, int patch = 0);

}  // namespace allranks::launch
