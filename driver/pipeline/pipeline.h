// From paths to findings: the one way the command line, the language server and the tests go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/result.h"
#include "analyzer/findings/finding.h"
#include "analyzer/findings/suppression.h"
#include "analyzer/ir/program.h"
#include "analyzer/knowledge/knowledge.h"
#include "analyzer/source/file_system.h"
#include "analyzer/source/source_file.h"
#include "analyzer/launch/job.h"
#include "analyzer/objects/launch_lines.h"
#include "analyzer/traces/analysis.h"
#include "driver/pipeline/enumerate.h"
#include "driver/pipeline/memory.h"
#include "driver/pipeline/options.h"

namespace allranks::pipeline {

struct Timing {
  std::string phase;
  double seconds = 0;
  double cpu_seconds = 0;   // of all threads
  uint64_t peak_bytes = 0;  // the most memory the process had held when the phase ended
};

struct Output {
  source::SourceFiles files;              // everything read
  std::vector<findings::Finding> findings;  // of the rules asked for, suppressed ones taken out, sorted
  std::vector<traces::LedgerEntry> ledger;  // of requested files
  std::vector<std::string> checked;       // requested files that were looked at, in order
  std::vector<std::string> requested;     // files whose findings are wanted, relative to the root, sorted
  bool is_same = false;                   // with a memory: all is as the last run left it; nothing else is filled in
  std::vector<PathError> errors;
  std::vector<Timing> timings;
  uint64_t bytes_scanned = 0;             // by the prefilter
  uint64_t bytes_parsed = 0;
  uint32_t files_scanned = 0;
  uint32_t files_parsed = 0;
  uint32_t files_requested = 0;
  size_t files_excluded = 0;              // named by the user, but left out by `force_exclude`
  std::vector<findings::Suppressed> suppressed;  // by comments
  std::vector<findings::FileSyntax> syntax;      // of files with findings
  std::vector<LeftOutPath> left_out;             // of what was asked for, not checked
  size_t read_in_part = 0;                       // C and C++ files that need flags which nothing names
  bool knows_tracked = false;                    // a checkout of git, whose index was read
  size_t unread_importers = 0;                   // files that import those the user named, too many to be read
  std::vector<std::string> notes;                // of knowledge files that replace what is built in: one line each
  std::string index_problem;                     // why it is not known what git tracks
  std::vector<findings::Finding> limits;         // AR003 of requested files, whether it is asked for or not
  std::vector<std::string> cut_files;            // requested files that were given up for time or memory, as shown
  bool is_repeatable = true;                     // whether another run finds the same on the same disk: no helper failed
  std::string stopped_in;                        // the phase in which Options::is_stopped ended the run; empty: it came to its end
  uint64_t steps = 0;                            // of the analysis: the same in every run of the same input
};

// All that the stages made, for those who print it; ids of one stage refer to the stages before it.
struct Analysed {
  base::Interner names;
  std::optional<knowledge::Knowledge> knowledge;
  binding::Program program;
  variation::Facts facts;
  traces::Analysis analysis;
  source::SourceFiles files;
  launch::Launches launches;          // files that start jobs, and what their options mean
  objects::LaunchLines launch_lines;  // what scripts of the project say of how it is started
};

[[nodiscard]] base::Result<Output> Run(const Options& options, const source::FileSystem& files);

// The same, and hands the stages out as well. With `memory` it takes up what an earlier run of the same settings left
// in both; a run that is stopped ends with an error.
[[nodiscard]] base::Result<Output> Run(const Options& options, const source::FileSystem& files, Analysed& analysed,
                                       Memory* memory = nullptr);

}  // namespace allranks::pipeline
