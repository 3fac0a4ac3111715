// What files were read as before, kept on disk: a file that did not change is not parsed again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"
#include "driver/pipeline/cache_folder.h"
#include "driver/pipeline/selection.h"

namespace allranks::pipeline {

// One file a source, named after its path; what belongs to sources that are gone stays until it is pruned. An entry counts only
// for the text that it was made of.
class ModuleCache {
 public:
  // As CacheFolder.
  ModuleCache(std::string folder, std::string_view key) : folder_(std::move(folder), key, "ir") {}

  // Any thread. `path` is relative to the root of the project, `content` is of the file's bytes, of which `source_bytes`
  // are its text.
  std::optional<ir::Module> Find(const std::string& path, const Content& content, source::FileId id, size_t source_bytes,
                                 base::Interner& names) const;
  // Where it cannot be written, nothing is kept.
  void Keep(const std::string& path, const Content& content, ir::Module module, const base::Interner& names);
  // At the end of a run.
  void Prune() const;

 private:
  CacheFolder folder_;
};

}  // namespace allranks::pipeline
