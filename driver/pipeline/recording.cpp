#include "driver/pipeline/recording.h"

#include "driver/pipeline/git_index.h"

namespace allranks::pipeline {
namespace {

// Ends what stands before it, so that no two lists of texts are the same bytes.
constexpr char kEnd = '\0';

Content OfError(const base::Error& error) { return ContentOf("error" + std::string(1, kEnd) + error.message); }

// git writes its index anew whenever it looks at the files; a run looks at nothing but what is tracked.
Content OfGitIndex(const std::string& bytes) {
  const base::Result<GitIndex> index = ReadGitIndex(bytes);
  if (!index) return OfError(index.error());
  std::string all = "index";
  for (const std::vector<std::string>* names : {&index->files, &index->submodules}) {
    all += kEnd;
    for (const std::string& name : *names) all += name + kEnd;
  }
  return ContentOf(all);
}

Content OfBytes(const std::string& path, const base::Result<std::string>& bytes) {
  if (!bytes) return OfError(bytes.error());
  const bool is_index = bytes->starts_with("DIRC") && NameOf(path) == "index";
  return is_index ? OfGitIndex(*bytes) : ContentOf(*bytes);
}

Content OfList(const std::string& path, const base::Result<std::vector<source::DirectoryEntry>>& entries, const Unlisted& unlisted) {
  if (!entries) return OfError(entries.error());
  std::string all;
  for (const source::DirectoryEntry& entry : *entries) {
    if (unlisted.Is(path, entry.name)) continue;
    all += entry.name + kEnd + static_cast<char>('0' + static_cast<int>(entry.kind)) + (entry.is_symlink ? 'l' : '-');
  }
  return ContentOf(all);
}

Content OfKind(const base::Result<source::EntryKind>& kind) {
  return kind ? ContentOf(std::string(1, static_cast<char>('0' + static_cast<int>(*kind)))) : OfError(kind.error());
}

Content OfCanonical(const base::Result<std::string>& path) { return path ? ContentOf(*path) : OfError(path.error()); }

Content OfSize(const base::Result<uint64_t>& size) { return size ? ContentOf(std::to_string(*size)) : OfError(size.error()); }

std::string AbsoluteOf(const std::string& path, const std::string& working_directory) {
  return Normalized(path.starts_with('/') ? path : Join(working_directory, path));
}

}  // namespace

Unlisted::Unlisted(const std::string& path, std::string working_directory)
    : working_directory_(std::move(working_directory)), path_(AbsoluteOf(path, working_directory_)) {}

bool Unlisted::Is(const std::string& directory, const std::string& name) const {
  return NameOf(path_) == name && AbsoluteOf(Join(directory, name), working_directory_) == path_;
}

Content AnswerNow(Asked asked, const std::string& path, const source::FileSystem& files, const Unlisted& unlisted, std::string* bytes) {
  switch (asked) {
    case Asked::Read: {
      base::Result<std::string> read = files.Read(path);
      const Content answer = OfBytes(path, read);
      if (bytes != nullptr && read) *bytes = std::move(*read);
      return answer;
    }
    case Asked::List: return OfList(path, files.List(path), unlisted);
    case Asked::Kind: return OfKind(files.Kind(path));
    case Asked::Canonical: return OfCanonical(files.Canonical(path));
    case Asked::Size: return OfSize(files.Size(path));
  }
  return {};
}

base::Result<std::string> RecordingFileSystem::Read(const std::string& path) const {
  base::Result<std::string> bytes = files_.Read(path);
  Note(Asked::Read, path, OfBytes(path, bytes));
  return bytes;
}

base::Result<std::vector<source::DirectoryEntry>> RecordingFileSystem::List(const std::string& path) const {
  base::Result<std::vector<source::DirectoryEntry>> entries = files_.List(path);
  Note(Asked::List, path, OfList(path, entries, unlisted_));
  return entries;
}

base::Result<source::EntryKind> RecordingFileSystem::Kind(const std::string& path) const {
  base::Result<source::EntryKind> kind = files_.Kind(path);
  Note(Asked::Kind, path, OfKind(kind));
  return kind;
}

base::Result<std::string> RecordingFileSystem::Canonical(const std::string& path) const {
  base::Result<std::string> whole = files_.Canonical(path);
  Note(Asked::Canonical, path, OfCanonical(whole));
  return whole;
}

base::Result<uint64_t> RecordingFileSystem::Size(const std::string& path) const {
  base::Result<uint64_t> size = files_.Size(path);
  Note(Asked::Size, path, OfSize(size));
  return size;
}

void RecordingFileSystem::Note(Asked asked, const std::string& path, const Content& answer) const {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = answers_.try_emplace(std::pair(asked, path), answer);
  if (!is_new && !(known->second == answer)) has_changed_ = true;
}

std::optional<std::vector<Question>> RecordingFileSystem::Questions() const {
  const std::lock_guard lock(mutex_);
  if (has_changed_) return std::nullopt;
  std::vector<Question> questions;
  for (const auto& [question, answer] : answers_) questions.push_back({.asked = question.first, .path = question.second, .answer = answer});
  return questions;
}

}  // namespace allranks::pipeline
