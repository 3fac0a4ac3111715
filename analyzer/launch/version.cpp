#include "analyzer/launch/version.h"

#include <charconv>

namespace allranks::launch {

std::optional<Version> VersionIn(std::string_view text) {
  Version version;
  const char* end = text.data() + text.size();
  const auto [after_major, error] = std::from_chars(text.data(), end, version.major);
  if (error != std::errc()) return std::nullopt;
  if (after_major != end && *after_major == '.') std::from_chars(after_major + 1, end, version.minor);
  return version;
}

}  // namespace allranks::launch
