// What was found and not checked, told to a person.
#pragma once

#include <string>
#include <vector>

#include "driver/pipeline/pipeline.h"

namespace allranks::cli {

struct LeftOutFiles {
  const std::vector<pipeline::LeftOutPath>& paths;
  bool knows_tracked = false;  // what git tracks is among the files
};

// For the summary: a line for each reason, with what to do who wants it checked. `verbose`: a line for each path as well.
std::vector<std::string> LeftOutNotes(const LeftOutFiles& left_out, const pipeline::PathMap& paths, bool verbose);

// "libs/sub/: another repository", a line for each path.
std::vector<std::string> LeftOutLines(const LeftOutFiles& left_out, const pipeline::PathMap& paths);

}  // namespace allranks::cli
