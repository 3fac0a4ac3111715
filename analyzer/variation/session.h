// The analysis of a program that is being edited: after an edit within functions the facts follow from those before it, and
// are the same as if the program had been analysed anew.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/source/source_file.h"
#include "analyzer/variation/facts.h"
#include "analyzer/variation/watched.h"

namespace allranks::variation {

struct Tables;
class Recording;

class Session {
 public:
  Session();
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Brings `facts` up to date. Both references must be to the objects of the update before, and `facts` as that left
  // them, but for arguments added to `Facts::values`.
  void Update(const binding::Program& program, const knowledge::Knowledge& knowledge, const source::SourceFiles& files,
              Facts& facts);

  // Over the updates to come; none: they go on to their end. An update that Cut left behind cannot be followed.
  void SetWatch(base::Watch* watch) { watch_ = watch; }
  // What the last update gave up, the first function of each file.
  const std::vector<CutFunction>& cut() const { return cut_; }

  // Updates are numbered from 1. At the one that began from nothing last all ids of values became others.
  uint32_t update() const { return update_; }
  uint32_t begun_at() const { return begun_at_; }
  // The last update that gave the function other facts, or may have; its defaults and decorators count as its own.
  uint32_t ChangedAt(FuncId function) const { return changed_at_[function.index]; }

 private:
  struct Version {
    std::string path;
    source::FileId file;   // in which places are
    uint64_t content = 0;
    uint64_t outline = 0;
  };
  std::vector<Version> VersionsOf(const binding::Program& program, const source::SourceFiles& files) const;
  bool CanFollow(const std::vector<Version>& now) const;
  void Begin(const binding::Program& program, const knowledge::Knowledge& knowledge, Facts& facts);
  bool Follow(const std::vector<Version>& now, Facts& facts);
  void NoteChanges(const binding::Program& program);

  base::Watch* watch_ = nullptr;
  std::vector<CutFunction> cut_;
  std::vector<Version> versions_;  // by module
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<Recording> recording_;
  uint32_t rounds_ = 0;
  size_t first_size_ = 0;   // of the store of values, when all was evaluated last
  size_t values_ = 0;       // of Facts::values, without what others added
  uint32_t update_ = 0;
  uint32_t begun_at_ = 0;
  std::vector<uint32_t> changed_at_;  // by FuncId
};

}  // namespace allranks::variation
