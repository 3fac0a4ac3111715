// A witness as pictures show it: one lane a rank class.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/source/source_file.h"
#include "witness/witness.h"

namespace allranks::reports {

struct Step {
  std::string text;
  bool waits = false;
};

struct Lane {
  std::string name;
  std::vector<Step> steps;
  std::string ending;  // what becomes of these ranks
  bool waits = false;
};

struct Lanes {
  std::vector<Lane> lanes;
  size_t hidden = 0;  // first steps that all ranks share and that are not among the lanes
};

// `path` is the finding's file: operations in it are named by their line alone. `files` knows the cells of notebooks.
Lanes LanesOf(const witness::Witness& witness, std::string_view path, const source::SourceFiles& files);

// Whether there is anything to see: a rank that waits, or lanes that differ.
bool ShowsDifference(const witness::Witness& witness);

}  // namespace allranks::reports
