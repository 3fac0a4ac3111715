// Names of files: below the project's root, as imports need them, and as they are opened and shown.
#pragma once

#include <string>
#include <string_view>

namespace allranks::pipeline {

// Without "." and "..", as far as the text allows; "" is the place itself.
std::string Normalized(std::string_view path);
std::string Join(std::string_view directory, std::string_view name);
std::string_view DirectoryOf(std::string_view path);
std::string_view NameOf(std::string_view path);
bool IsInside(std::string_view path, std::string_view directory);

class PathMap {
 public:
  // `root` is relative to the working directory or absolute; `working_directory` is absolute, or empty where there
  // is none (files in memory): then the root is where relative paths start.
  PathMap(std::string_view root, std::string_view working_directory);
  // From a path as a user gives it to one relative to the root; what lies outside stays absolute.
  std::string Relative(std::string_view path) const;
  // From a path relative to the root to the one by which it is opened and shown: relative to the working
  // directory where that holds the root or lies in it.
  std::string Shown(std::string_view relative) const;
  // The same as an absolute path.
  std::string Absolute(std::string_view relative) const;

 private:
  std::string working_directory_;
  std::string root_;            // absolute
  std::string root_as_given_;
  std::string climb_;           // "../../": from the working directory to the root
  std::string below_;           // the working directory, relative to the root
  bool inside_ = false;         // the working directory lies in the root
};

}  // namespace allranks::pipeline
