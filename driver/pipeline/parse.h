#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/base/interner.h"
#include "analyzer/base/watch.h"
#include "analyzer/binding/program.h"
#include "analyzer/ir/program.h"
#include "analyzer/knowledge/knowledge.h"
#include "analyzer/source/file_system.h"
#include "analyzer/source/source_file.h"
#include "driver/pipeline/module_cache.h"
#include "driver/pipeline/selection.h"
#include "driver/pipeline/unit_cache.h"

namespace allranks::pipeline {

// What was read, with ids in the order of paths, whatever thread read it.
struct Parsed {
  source::SourceFiles files;
  ir::Modules modules;
  base::IdVector<ir::ModuleId, binding::ModuleInfo> infos;
  std::vector<bool> requested;                                // by FileId
  std::vector<std::pair<source::FileId, std::string>> faulty;  // not parsed, and why
  std::vector<std::pair<source::FileId, std::string>> limited;  // not parsed since a bound was reached: which
  std::vector<std::string> problems;                           // with how files are compiled: one line each
  std::set<source::FileId> guessed;                           // C and C++ files that did not parse, compiled nobody knows how
  uint64_t bytes = 0;
  bool is_repeatable = true;  // whether another run reads the same of the same disk
};

struct ParseInput {
  const ProjectFiles& project;
  const PathMap& paths;
  const binding::ModuleGraph& graph;
  const source::FileSystem& files;
  const std::string& compile_commands;  // folder of compile_commands.json; empty: looked for
  const std::vector<std::string>& extra_args;  // of the compiler, for C and C++
  const std::map<std::string, std::string>& overlays;  // by path relative to the root: not what is on disk
  ModuleCache& cache;
  UnitCache& units;
  const knowledge::Knowledge& knowledge;
  unsigned jobs = 0;
  const base::Watch& watch;
  Memory* memory = nullptr;  // of the run before; none: everything is parsed
};

Parsed ParseFiles(const ParseInput& input, Selection& selection, base::Interner& names);

}  // namespace allranks::pipeline
