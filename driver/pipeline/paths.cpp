#include "driver/pipeline/paths.h"

#include <vector>

namespace allranks::pipeline {

std::string Normalized(std::string_view path) {
  const bool absolute = path.starts_with('/');
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (part != ".." || !absolute) {
      parts.push_back(part);
    }
  }
  std::string out = absolute ? "/" : "";
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += '/';
    out += parts[i];
  }
  return out;
}

std::string Join(std::string_view directory, std::string_view name) {
  if (directory.empty()) return std::string(name);
  std::string path(directory);
  if (!path.ends_with('/')) path += '/';
  return path.append(name);
}

std::string_view DirectoryOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return path.substr(0, slash == 0 ? 1 : slash);
}

std::string_view NameOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool IsInside(std::string_view path, std::string_view directory) {
  if (directory.empty()) return !path.starts_with('/');
  if (!path.starts_with(directory)) return false;
  return path.size() == directory.size() || directory.ends_with('/') || path[directory.size()] == '/';
}

PathMap::PathMap(std::string_view root, std::string_view working_directory)
    : working_directory_(working_directory.empty() ? "/" : Normalized(working_directory)),
      root_(root.starts_with('/') ? Normalized(root) : Normalized(Join(working_directory_, root))),
      root_as_given_(Normalized(root)),
      inside_(IsInside(working_directory_, root_)) {
  // A project below the working directory is named from there, however it was found.
  if (!inside_ && IsInside(root_, working_directory_))
    root_as_given_ = root_.substr(working_directory_.size() + (working_directory_.ends_with('/') ? 0 : 1));
  if (!inside_ || working_directory_ == root_) return;
  below_ = working_directory_.substr(root_.size() + (root_.ends_with('/') ? 0 : 1));
  climb_ = "../";
  for (const char c : below_) {
    if (c == '/') climb_ += "../";
  }
}

std::string PathMap::Relative(std::string_view path) const {
  const std::string absolute =
      path.starts_with('/') ? Normalized(path) : Normalized(Join(working_directory_, path));
  if (absolute == root_) return "";
  if (!IsInside(absolute, root_)) return absolute;
  return absolute.substr(root_.size() + (root_.ends_with('/') ? 0 : 1));
}

std::string PathMap::Absolute(std::string_view relative) const {
  return relative.empty() || relative.starts_with('/') ? std::string(relative.empty() ? root_ : relative)
                                                       : Join(root_, relative);
}

std::string PathMap::Shown(std::string_view relative) const {
  if (relative.starts_with('/')) return std::string(relative);
  if (!inside_) return relative.empty() ? root_as_given_ : Join(root_as_given_, relative);
  if (below_.empty()) return relative.empty() ? "." : std::string(relative);
  if (relative == below_) return ".";
  if (IsInside(relative, below_)) return std::string(relative.substr(below_.size() + 1));
  const std::string climbed = climb_ + std::string(relative);
  return climbed.ends_with('/') ? climbed.substr(0, climbed.size() - 1) : climbed;
}

}  // namespace allranks::pipeline
