#include "driver/server/uri.h"

#include <optional>

#include "driver/pipeline/paths.h"

namespace allranks::server {
namespace {

std::optional<unsigned> Digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

// Without what stands behind `?` or `#`; empty if it is no path.
std::string Decoded(std::string_view uri) {
  uri = uri.substr(0, uri.find_first_of("?#"));
  std::string path;
  for (size_t i = 0; i < uri.size(); ++i) {
    const std::optional<unsigned> high = uri[i] == '%' && i + 2 < uri.size() ? Digit(uri[i + 1]) : std::nullopt;
    const std::optional<unsigned> low = high ? Digit(uri[i + 2]) : std::nullopt;
    if (!low) {
      path += uri[i];
      continue;
    }
    path += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  // A NUL ends names for the system: what follows would name another file.
  if (path.find('\0') != std::string::npos) return {};
  return pipeline::Normalized(path);
}

}  // namespace

std::string PathOfUri(std::string_view uri) {
  constexpr std::string_view kScheme = "file://";
  if (!uri.starts_with(kScheme)) return {};
  uri.remove_prefix(kScheme.size());
  // A host, as in file://localhost/x, names this machine.
  const size_t slash = uri.find('/');
  if (slash == std::string_view::npos) return {};
  return Decoded(uri.substr(slash));
}

std::string UntitledName(std::string_view uri) {
  constexpr std::string_view kScheme = "untitled:";
  if (!uri.starts_with(kScheme)) return {};
  return Decoded(uri.substr(kScheme.size()));
}

}  // namespace allranks::server
