// Names of the project by which commands start its files. Scripts and pages that have none of them start nothing of it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "driver/pipeline/prefilter.h"

namespace allranks::pipeline {

class StartNames {
 public:
  // `code`: the files of the project that hold code, relative to its root.
  explicit StartNames(const std::vector<std::string>& code);

  // Scripts of the shell that start something of the project, by name.
  void SetScripts(const std::vector<std::string>& names);

  // `train.py`, or `-m pkg.train`.
  bool NamesProgram(std::string_view text) const;
  bool Names(std::string_view text) const { return NamesProgram(text) || scripts_.Mentions(text); }

 private:
  bool NamesModule(std::string_view text) const;

  Prefilter programs_;
  std::set<std::string, std::less<>> modules_;  // last parts of their dotted names
  Prefilter scripts_;
};

}  // namespace allranks::pipeline
