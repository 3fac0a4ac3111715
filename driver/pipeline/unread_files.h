// What the files say that no stage reads: they mention nothing of the knowledge base, but may call or name what others define.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "driver/pipeline/launch_scan.h"
#include "driver/pipeline/selection.h"

namespace allranks::pipeline {

class UnreadFiles {
 public:
  UnreadFiles(const LaunchInput& input, const LaunchFiles& launch_files, const Selection& selection);

  // Whether one of them names both a Python file and a name in it, as `from train import main` and `train:main` do. Reads all
  // of them.
  bool Name(std::string_view path, std::string_view name) const;
  // Whether a Python file lies in a folder that is packaged, for others to install and import.
  bool IsPackaged(std::string_view path) const;
  // Whether what they say was of any importance.
  bool WereAsked() const { return were_asked_; }

 private:
  bool Names(std::string_view module, std::string_view name) const;
  bool IsOfPackage(std::string_view folder) const;
  std::string TextOf(const std::string& path) const;

  const LaunchInput& in_;
  std::vector<std::string> unread_;         // relative to the root
  std::vector<std::string> packaging_;      // setup.py and its like
  mutable bool were_asked_ = false;
  mutable std::map<std::pair<std::string, std::string>, bool> named_;  // by name of the file and name in it
  mutable std::map<std::string, bool, std::less<>> packaged_;          // by folder
};

}  // namespace allranks::pipeline
