#include "driver/server/workspace.h"

#include <algorithm>

#include "driver/pipeline/policy.h"
#include "driver/server/options_of_folder.h"

namespace allranks::server {

namespace {

bool HasSameFiles(const std::map<std::string, std::string>& a, const std::map<std::string, std::string>& b) {
  return std::ranges::equal(a, b, {}, &std::pair<const std::string, std::string>::first, &std::pair<const std::string, std::string>::first);
}

}  // namespace

source::FileId Snapshot::FileAt(const std::string& path) const {
  const std::string shown = paths.Shown(paths.Relative(path));
  for (uint32_t i = 0; i < analysed.files.size(); ++i) {
    if (analysed.files[source::FileId{i}].path == shown) return source::FileId{i};
  }
  return {};
}

ir::ModuleId Snapshot::ModuleOf(source::FileId file) const {
  const ir::Modules& modules = analysed.program.modules;
  for (uint32_t i = 0; i < modules.size(); ++i) {
    if (modules[ir::ModuleId{i}].file == file) return ir::ModuleId{i};
  }
  return {};
}

Indices::Indices(const Snapshot& snapshot)
    : index(snapshot.analysed.program, *snapshot.analysed.knowledge, snapshot.analysed.facts),
      values(snapshot.analysed.program, *snapshot.analysed.knowledge, snapshot.analysed.facts),
      guards(snapshot.analysed.program, index),
      ranks(snapshot.analysed.program, *snapshot.analysed.knowledge, snapshot.analysed.facts, index, guards) {}

const Indices& Workspace::indices() {
  if (indices_ == nullptr) indices_ = std::make_unique<Indices>(*snapshot_);
  return *indices_;
}

// Names in the remembered IR are those of the snapshot's table.
void Workspace::Forget() {
  snapshot_.reset();
  memory_ = {};
}

std::string Workspace::Trace(ir::ModuleId module, const std::string& function) {
  pipeline::Analysed& a = snapshot_->analysed;
  return traces::PrintTrace(a.program, *a.knowledge, a.facts, a.files, module, function);
}

base::Result<bool> Workspace::Configure(const Settings& settings, const OpenFiles& open) {
  base::Result<FolderOptions> read = OptionsOfFolder({folder_, is_whole_, open.overlays}, settings, files_);
  if (!read) return base::Fail(read.error().message);
  pipeline::Options& options = read->options;
  // Half-written code may ask for more than anybody waits for.
  options.bounds.per_file = std::chrono::seconds(5);
  if (!keeps_cache_) options.cache_folder.clear();
  std::string texts;
  for (const std::string& path : options.knowledge_files) texts += path + "\n" + files_.Read(path).value_or("") + "\n";
  const bool has_other_paths = options_ && (options_->root != options.root ||
                                            options_->working_directory != options.working_directory);
  if (texts != knowledge_texts_ || has_other_paths) {
    Forget();
  }
  knowledge_texts_ = std::move(texts);
  options_ = std::move(options);
  baseline_ = std::move(read->baseline);
  return true;
}

base::Result<pipeline::Output> Workspace::RunPipeline() {
  try {
    base::Result<pipeline::Output> out = pipeline::Run(*options_, files_, snapshot_->analysed, &memory_);
    if (!out && !memory_.stop.stop_requested()) Forget();
    return out;
  } catch (const std::exception& error) {
    // Whatever went wrong, the next edit begins from nothing.
    Forget();
    return base::Fail("internal error: " + std::string(error.what()) + "; please report it");
  }
}

base::Result<bool> Workspace::Analyse(const Settings& settings, OpenFiles open, bool disk_is_unchanged,
                                      std::stop_token stop, pipeline::Progress progress) {
  indices_.reset();
  // A file that was opened just now may stand in a folder with a configuration of its own.
  const bool has_new_files = options_ && !is_whole_ && !HasSameFiles(options_->overlays, open.overlays);
  if (!options_ || !disk_is_unchanged || has_new_files) {
    disk_is_unchanged = false;
    if (const base::Result<bool> done = Configure(settings, open); !done) {
      options_.reset();
      if (snapshot_ != nullptr) snapshot_->is_complete = false;
      return base::Fail(done.error().message);
    }
  }
  // Names that were typed and are gone again stay in the table; once they are too many it is made anew.
  constexpr size_t kMostNewNames = 20'000;
  if (snapshot_ != nullptr && snapshot_->analysed.names.size() > first_names_ + kMostNewNames) {
    Forget();
    disk_is_unchanged = false;
  }
  const bool is_first = snapshot_ == nullptr;
  if (is_first) snapshot_ = std::make_unique<Snapshot>(pipeline::PathMap(options_->root, options_->working_directory));
  snapshot_->is_complete = false;
  memory_.stop = std::move(stop);
  memory_.disk_is_unchanged = disk_is_unchanged;
  options_->progress = std::move(progress);
  options_->overlays = open.overlays;
  base::Result<pipeline::Output> out = RunPipeline();
  if (!out) return base::Fail(out.error().message);
  snapshot_->open = std::move(open);
  snapshot_->is_complete = true;
  if (out->is_same) return true;
  std::erase_if(out->findings, [&](const findings::Finding& finding) {
    const std::string path = snapshot_->paths.Relative(snapshot_->analysed.files[finding.span.file].path);
    return !pipeline::IsShown(options_->policies.Of(path), finding);
  });
  if (baseline_) baseline::TakeKnown(*baseline_, out->findings);
  if (is_first) first_names_ = snapshot_->analysed.names.size();
  snapshot_->output = std::move(*out);
  return true;
}

}  // namespace allranks::server
