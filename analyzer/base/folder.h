// Folders of paths with '/' between their parts.
#pragma once

#include <string_view>

namespace allranks::base {

// Without the last part; "" where there is no other.
inline std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// Whether a path leads into a folder, or into one that lies in it. "" is the folder that all paths begin in.
inline bool IsBelow(std::string_view path, std::string_view folder) {
  return folder.empty() || (path.size() > folder.size() && path[folder.size()] == '/' && path.starts_with(folder));
}

}  // namespace allranks::base
