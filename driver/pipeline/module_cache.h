// What files were read as before, kept on disk: a file that did not change is not parsed again.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"
#include "driver/pipeline/selection.h"

namespace allranks::pipeline {

// One file a source, named after its path: a cache never holds more files than the project had. An entry counts only for
// the text and the build of allranks that it was made of and by, and only if a run of the same user made it (cache_key.h).
// Anything else found there is ignored. Entries are replaced whole, so several runs may share a folder, and it may be
// deleted at any time.
class ModuleCache {
 public:
  // `folder` is made when something is kept. If it is empty or a link, or there is no key, nothing is looked up or kept.
  ModuleCache(std::string folder, std::string_view key);

  // Any thread. `path` is relative to the root of the project, `content` is of the file's bytes, of which `source_bytes`
  // are its text.
  std::optional<ir::Module> Find(const std::string& path, const Content& content, source::FileId id, size_t source_bytes,
                                 base::Interner& names) const;
  // Where it cannot be written, nothing is kept.
  void Keep(const std::string& path, const Content& content, ir::Module module, const base::Interner& names);

 private:
  std::string EntryOf(const std::string& path) const;
  std::string KeyOf(const Content& content) const;
  void MakeFolder();

  std::string folder_;
  std::string maker_;  // what tells this program and user from others
  std::once_flag made_;
};

}  // namespace allranks::pipeline
