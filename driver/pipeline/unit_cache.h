// What Clang said of translation units, kept on disk: a unit whose text, compile command and helper are the same, and for which
// all that Clang asked of the disk has the same answer, is not read again. Asked are headers of the project and of the system alike:
// their texts are compared, not their times, and what was not there must not be there now.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzer/source/file_system.h"
#include "driver/pipeline/cache_folder.h"
#include "frontends/cpp/exchange.h"

namespace allranks::pipeline {

class UnitCache {
 public:
  // As CacheFolder. `files` are asked once what several units ask.
  UnitCache(std::string folder, std::string_view key, const source::FileSystem& files);

  bool IsUsed() const { return folder_.IsUsed(); }
  // Any thread. `path` is relative to the root of the project.
  std::optional<cpp::Reply> Find(const std::string& path, const cpp::Request& request) const;
  // Whether a later run may count on the reply: the disk is still as Clang saw it. Only then, and where `may_write`, it is kept.
  bool Keep(const std::string& path, const cpp::Request& request, const cpp::Reply& reply, bool may_write);
  // At the end of a run.
  void Prune() const;

 private:
  enum class Sort : uint8_t { Kind, Text, Names, RealPath };
  struct Answer {
    cpp::Told told{};
    cpp::Hash hash;
  };

  std::string SubjectOf(const cpp::Request& request) const;
  bool IsAsSeen(const cpp::Reply& reply) const;
  Answer AnswerOf(Sort sort, const std::string& path) const;
  Answer AnswerNow(Sort sort, const std::string& path) const;

  CacheFolder folder_;
  std::string helper_;
  const source::FileSystem& files_;
  mutable std::mutex mutex_;
  mutable std::array<std::unordered_map<std::string, Answer>, 4> answers_;  // by Sort and path
};

}  // namespace allranks::pipeline
