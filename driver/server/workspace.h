// One folder of the workspace: its analysis as it stands, and what changes need of the next one.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "driver/baseline/baseline.h"
#include "driver/pipeline/memory.h"
#include "driver/pipeline/paths.h"
#include "driver/pipeline/pipeline.h"
#include "driver/server/client.h"
#include "driver/server/folder_files.h"

namespace allranks::server {

// How the client names what it has open, as of an analysis.
struct OpenFiles {
  std::map<std::string, std::string> overlays;             // absolute path -> bytes
  std::map<std::string, std::string> uris;                 // absolute path -> URI
  std::map<std::string, std::vector<std::string>> cells;   // absolute path of a notebook -> URIs of its cells
  std::map<std::string, int64_t> versions;                 // by URI, of files and cells
};

// What an analysis found; of interest until the next one begins.
struct Snapshot {
  explicit Snapshot(pipeline::PathMap path_map) : paths(std::move(path_map)) {}
  pipeline::PathMap paths;
  pipeline::Analysed analysed;
  pipeline::Output output;
  OpenFiles open;
  bool is_complete = false;

  std::string PathOf(source::FileId file) const { return paths.Absolute(paths.Relative(analysed.files[file].path)); }
  // Absolute path; none if the file was not analysed.
  source::FileId FileAt(const std::string& path) const;
  // The main module of a file.
  ir::ModuleId ModuleOf(source::FileId file) const;
};

// The rule-based questions of hovers and hints need indices over the whole program; made when first asked for.
struct Indices {
  explicit Indices(const Snapshot& snapshot);
  objects::ProgramIndex index;
  objects::Values values;
  objects::Guards guards;
  objects::RanksAt ranks;
};

class Workspace {
 public:
  // `is_whole`: all of the folder is checked, and not only what is open in it.
  Workspace(const std::string& folder, const source::FileSystem& files, bool keeps_cache, bool is_whole)
      : folder_(folder), files_(folder, files), keeps_cache_(keeps_cache), is_whole_(is_whole) {}

  const std::string& folder() const { return folder_; }
  bool is_whole() const { return is_whole_; }

  // What a run from this folder on the command line would do, over the open texts. `disk_is_unchanged`: only open
  // texts differ from the last time. A stopped analysis, or one whose configuration is wrong, is an error.
  [[nodiscard]] base::Result<bool> Analyse(const Settings& settings, OpenFiles open, bool disk_is_unchanged,
                                           std::stop_token stop, pipeline::Progress progress);

  // nullptr until an analysis has succeeded.
  const Snapshot* snapshot() const { return snapshot_ != nullptr && snapshot_->is_complete ? snapshot_.get() : nullptr; }
  const Indices& indices();
  // What `allranks trace` prints of a function.
  std::string Trace(ir::ModuleId module, const std::string& function);

 private:
  base::Result<bool> Configure(const Settings& settings, const OpenFiles& open);
  base::Result<pipeline::Output> RunPipeline();
  void Forget();

  std::string folder_;
  FolderFiles files_;
  bool keeps_cache_;
  bool is_whole_;
  std::optional<pipeline::Options> options_;
  std::optional<baseline::Baseline> baseline_;
  std::string knowledge_texts_;          // of the user's own files, to see when they change
  size_t first_names_ = 0;               // names there were after the first analysis
  std::unique_ptr<Snapshot> snapshot_;   // names and IR of the last run stay in it
  pipeline::Memory memory_;
  std::unique_ptr<Indices> indices_;
};

}  // namespace allranks::server
