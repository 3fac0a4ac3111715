// From a file as the job names it to the one on this machine.
//
// A path that --path-map maps is that path and nothing else. Any other is the file that exists under the most of its last
// folders: `/job/src/pkg/train.py` is `pkg/train.py`, or `train.py`, below the root.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/source/file_system.h"

namespace allranks::explain {

// FROM=TO pairs, in the order in which they are tried.
using PathMaps = std::vector<std::pair<std::string, std::string>>;

class LocalFiles {
 public:
  LocalFiles(const source::FileSystem& files, std::string root, PathMaps maps);
  // Empty: there is none.
  const std::string& Find(std::string_view recorded);
  // Whether the job's file could be the one that a report names.
  static bool SameFile(std::string_view recorded, std::string_view reported);

 private:
  std::string Search(std::string_view recorded) const;
  bool Exists(const std::string& path) const;

  const source::FileSystem& files_;
  std::string root_;
  PathMaps maps_;
  std::map<std::string, std::string, std::less<>> found_;
};

}  // namespace allranks::explain
