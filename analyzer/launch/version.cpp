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

std::optional<Release> ReleaseIn(std::string_view text, int patch) {
  const std::optional<Version> version = VersionIn(text);
  if (!version) return std::nullopt;
  Release release{version->major, version->minor, patch};
  const std::string_view numbers = text.substr(0, text.find_first_not_of("0123456789."));
  const size_t first = numbers.find('.');
  const size_t second = first == std::string_view::npos ? first : numbers.find('.', first + 1);
  if (second != std::string_view::npos) std::from_chars(numbers.data() + second + 1, numbers.data() + numbers.size(), release.patch);
  return release;
}

}  // namespace allranks::launch
