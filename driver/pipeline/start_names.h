// Names of the project by which commands start its files. Scripts and pages that have none of them start nothing of it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "driver/pipeline/prefilter.h"

namespace allranks::pipeline {

class StartNames {
 public:
  // `code`: the files of the project that hold code, relative to its root. It is kept elsewhere.
  explicit StartNames(const std::vector<std::string>& code);

  // Scripts of the shell that start something of the project, by name.
  void SetScripts(const std::vector<std::string>& names);

  // `train.py`, or `-m pkg.train`.
  bool NamesProgram(std::string_view text) const;
  bool Names(std::string_view text) const { return NamesProgram(text) || scripts_.Mentions(text); }

 private:
  bool NamesFile(std::string_view text) const;
  bool NamesModule(std::string_view text) const;

  std::unordered_set<std::string_view> names_;  // of files, without ".py", and of packages that are started
  size_t longest_ = 0;
  Prefilter scripts_;
};

}  // namespace allranks::pipeline
