#include "driver/explain/local_files.h"

#include <algorithm>

#include "driver/pipeline/paths.h"

namespace allranks::explain {

LocalFiles::LocalFiles(const source::FileSystem& files, std::string root, PathMaps maps)
    : files_(files), root_(std::move(root)), maps_(std::move(maps)) {}

bool LocalFiles::Exists(const std::string& path) const {
  const base::Result<source::EntryKind> kind = files_.Kind(path);
  return kind && *kind == source::EntryKind::File;
}

const std::string& LocalFiles::Find(std::string_view recorded) {
  const auto known = found_.find(recorded);
  if (known != found_.end()) return known->second;
  return found_.emplace(std::string(recorded), Search(recorded)).first->second;
}

std::string LocalFiles::Search(std::string_view recorded) const {
  for (const auto& [from, to] : maps_) {
    if (!recorded.starts_with(from)) continue;
    std::string_view rest = recorded.substr(from.size());
    if (!from.ends_with('/') && !rest.empty() && rest.front() != '/') continue;
    while (rest.starts_with('/')) rest.remove_prefix(1);
    const std::string mapped = pipeline::Normalized(pipeline::Join(to, rest));
    return Exists(mapped) ? mapped : std::string();
  }
  if (recorded.starts_with('/') && Exists(std::string(recorded))) return std::string(recorded);
  std::string_view rest = recorded;
  while (rest.starts_with('/') || rest.starts_with("./")) rest.remove_prefix(rest.starts_with('/') ? 1 : 2);
  // Nothing above the root is looked at.
  while (!rest.empty() && rest.find("..") == std::string_view::npos) {
    const std::string candidate = pipeline::Normalized(pipeline::Join(root_, rest));
    if (Exists(candidate)) return candidate;
    const size_t slash = rest.find('/');
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
  return {};
}

bool LocalFiles::SameFile(std::string_view recorded, std::string_view reported) {
  while (reported.starts_with("./")) reported.remove_prefix(2);
  if (recorded.empty() || reported.empty()) return false;
  const std::string_view shorter = recorded.size() < reported.size() ? recorded : reported;
  const std::string_view longer = recorded.size() < reported.size() ? reported : recorded;
  if (longer.ends_with(shorter)) return longer.size() == shorter.size() || longer[longer.size() - shorter.size() - 1] == '/' || shorter.starts_with('/');
  // Both are long and begin differently: the last folder and the name must agree.
  const auto tail = [](std::string_view path) {
    const size_t slash = path.rfind('/');
    if (slash == std::string_view::npos || slash == 0) return path;
    const size_t before = path.rfind('/', slash - 1);
    return before == std::string_view::npos ? path : path.substr(before + 1);
  };
  return tail(recorded) == tail(reported);
}

}  // namespace allranks::explain
