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
  // Whether files of settings name a class, and each of them below a map that names another class by the same key, as a part of that:
  //
  //   model: {target: ldm.Diffusion, params: {first_stage: {target: ldm.Autoencoder}}}
  bool NameAsPart(std::string_view class_name) const;
  // Whether what they say was of any importance.
  bool WereAsked() const { return were_asked_; }

 private:
  bool Names(std::string_view module, std::string_view name) const;
  bool IsOfPackage(std::string_view folder) const;
  std::string TextOf(const std::string& path) const;
  struct Mentions {
    bool as_part = false;
    bool otherwise = false;
  };
  void FindMentions(const std::string& path, std::string_view class_name, Mentions& found) const;

  const LaunchInput& in_;
  std::vector<std::string> unread_;         // relative to the root
  std::vector<std::string> packaging_;      // setup.py and its like
  std::vector<std::string> settings_;       // YAML
  mutable bool were_asked_ = false;
  mutable std::map<std::pair<std::string, std::string>, bool> named_;  // by name of the file and name in it
  mutable std::map<std::string, bool, std::less<>> packaged_;          // by folder
  mutable std::map<std::string, bool, std::less<>> parts_;             // by name of the class
};

}  // namespace allranks::pipeline
