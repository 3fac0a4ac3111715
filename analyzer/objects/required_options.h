// Which options a parser refuses to be without: `add_argument("--config", required=True)`, where every way to the parser adds it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"

namespace allranks::objects {

struct RequiredOptions {
  uint32_t parsers = 0;          // that the file makes; of the options of several it is not known which has which
  bool has_other_ways = false;   // parsers of subcommands, or arguments from elsewhere than the command line
  std::vector<std::set<std::string>> options;  // each by all its names
};

RequiredOptions RequiredIn(const ir::Module& module, const base::Interner& names);

// Of a program of several files.
std::vector<std::set<std::string>> RequiredBy(const std::vector<const RequiredOptions*>& files);

}  // namespace allranks::objects
