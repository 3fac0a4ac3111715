// From paths to findings: the one way the command line, the language server and the tests go.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/result.h"
#include "analyzer/findings/finding.h"
#include "analyzer/ir/program.h"
#include "analyzer/knowledge/knowledge.h"
#include "analyzer/source/file_system.h"
#include "analyzer/source/source_file.h"
#include "analyzer/traces/analysis.h"

namespace allranks::pipeline {

struct Options {
  std::string root = ".";                 // imports are looked up below it; shown paths are relative to it
  std::vector<std::string> paths = {"."}; // files and directories whose findings are wanted
  std::map<std::string, std::string> overlays;  // path -> text that stands in for the file (stdin, open editors)
  std::vector<std::string> knowledge_files;     // the user's own *.toml
  std::vector<std::string> exclude;             // gitignore-style patterns
  bool respect_gitignore = true;
  unsigned jobs = 0;                      // 0: one a core
};

// A path that could not be used; findings of the rest are still there.
struct PathError {
  std::string path;
  std::string message;
};

struct Timing {
  std::string phase;
  double seconds = 0;
};

struct Output {
  source::SourceFiles files;              // everything read
  std::vector<findings::Finding> findings;  // of all rules, sorted; suppression and selection come later
  std::vector<traces::LedgerEntry> ledger;  // of requested files
  std::vector<std::string> checked;       // requested files that were looked at, in order
  std::vector<PathError> errors;
  std::vector<Timing> timings;
  uint64_t bytes_scanned = 0;             // by the prefilter
  uint64_t bytes_parsed = 0;
  uint32_t files_scanned = 0;
  uint32_t files_parsed = 0;
};

[[nodiscard]] base::Result<Output> Run(const Options& options, const source::FileSystem& files);

}  // namespace allranks::pipeline
