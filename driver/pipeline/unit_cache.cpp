#include "driver/pipeline/unit_cache.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "frontends/cpp/helper.h"

namespace allranks::pipeline {
namespace {

constexpr CacheBounds kUnitBounds = {.entries = 20'000, .bytes = uint64_t{1} << 30};
constexpr size_t kLargestUnit = size_t{64} << 20;

cpp::Told ToldOf(source::EntryKind kind) {
  switch (kind) {
    case source::EntryKind::File: return cpp::Told::File;
    case source::EntryKind::Directory: return cpp::Told::Folder;
    default: return cpp::Told::Other;
  }
}

}  // namespace

UnitCache::UnitCache(std::string folder, std::string_view key, const source::FileSystem& files) : folder_(std::move(folder), key, "units"), files_(files) {
  if (folder_.IsUsed()) helper_ = cpp::HelperIdentity();
}

std::string UnitCache::SubjectOf(const cpp::Request& request) const { return DigitsOf(helper_ + cpp::Write(request)); }

std::optional<cpp::Reply> UnitCache::Find(const std::string& path, const cpp::Request& request) const {
  if (!IsUsed()) return std::nullopt;
  const std::optional<std::string> bytes = folder_.Find(DigitsOf(path), SubjectOf(request), kLargestUnit);
  if (!bytes) return std::nullopt;
  base::Result<cpp::Reply> reply = cpp::ReadReply(*bytes);
  if (!reply || !IsAsSeen(*reply)) return std::nullopt;
  return std::move(*reply);
}

bool UnitCache::Keep(const std::string& path, const cpp::Request& request, const cpp::Reply& reply, bool may_write) {
  if (!IsUsed() || !reply.is_complete || !IsAsSeen(reply)) return false;
  if (!may_write) return true;
  const std::string bytes = cpp::Write(reply);
  // One that would never be read again.
  if (bytes.size() < kLargestUnit / 2) folder_.Keep(DigitsOf(path), SubjectOf(request), bytes);
  return true;
}

void UnitCache::Prune() const { folder_.Prune(kUnitBounds); }

bool UnitCache::IsAsSeen(const cpp::Reply& reply) const {
  return std::ranges::all_of(reply.asked, [this](const cpp::Asked& asked) {
    const Sort sort = asked.told == cpp::Told::Text       ? Sort::Text
                      : asked.told == cpp::Told::Names    ? Sort::Names
                      : asked.told == cpp::Told::RealPath ? Sort::RealPath
                                                          : Sort::Kind;
    const Answer answer = AnswerOf(sort, asked.path);
    return answer.told == asked.told && answer.hash == asked.hash;
  });
}

UnitCache::Answer UnitCache::AnswerOf(Sort sort, const std::string& path) const {
  std::unordered_map<std::string, Answer>& answers = answers_[static_cast<size_t>(sort)];
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = answers.find(path); known != answers.end()) return known->second;
  }
  const Answer answer = AnswerNow(sort, path);
  const std::lock_guard lock(mutex_);
  return answers.try_emplace(path, answer).first->second;
}

UnitCache::Answer UnitCache::AnswerNow(Sort sort, const std::string& path) const {
  if (sort == Sort::Text) {
    const base::Result<std::string> text = files_.Read(path);
    return text ? Answer{cpp::Told::Text, cpp::HashOf(*text)} : Answer{};
  }
  if (sort == Sort::Names) {
    const base::Result<std::vector<source::DirectoryEntry>> entries = files_.List(path);
    if (!entries) return {};
    std::vector<std::string> names;
    for (const source::DirectoryEntry& entry : *entries) names.push_back(entry.name);
    return {cpp::Told::Names, cpp::HashOfNames(std::move(names))};
  }
  if (sort == Sort::RealPath) {
    const base::Result<std::string> resolved = files_.Canonical(path);
    return resolved ? Answer{cpp::Told::RealPath, cpp::HashOf(*resolved)} : Answer{};
  }
  const base::Result<source::EntryKind> kind = files_.Kind(path);
  return {kind ? ToldOf(*kind) : cpp::Told::Nothing, {}};
}

}  // namespace allranks::pipeline
