// YAML, JSON and TOML as trees of values with their places. Aliases are not followed (an anchor that explodes costs nothing): what they
// stand for is null here.
#pragma once

#include "analyzer/launch/config_tree.h"
#include "analyzer/launch/job.h"
#include "analyzer/source/source_file.h"

namespace allranks::launch_files {

struct ConfigText {
  launch::ConfigTree tree;
  std::vector<launch::ReadProblem> problems;
  std::vector<findings::Extent> comments;
};

ConfigText ReadYaml(const source::SourceFile& file, source::FileId id);
// JSON with the places of its values. Comments are refused, as Python's `json` refuses them.
ConfigText ReadJson(const source::SourceFile& file, source::FileId id);
// `["torchrun", "train.py"]`
bool IsListOfTexts(const std::string& json);
ConfigText ReadToml(const source::SourceFile& file, source::FileId id);

// One statement a member of a map, for suppressions.
std::vector<findings::Extent> StatementsOf(const launch::ConfigTree& tree);

}  // namespace allranks::launch_files
