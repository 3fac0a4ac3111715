// The folder that a path with '/' between its parts names.
#pragma once

#include <string_view>

namespace allranks::base {

// Without the last part; "" where there is no other.
inline std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace allranks::base
