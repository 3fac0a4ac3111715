#include "driver/pipeline/git_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace allranks::pipeline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

void AddNumber(std::string& bytes, uint32_t number, int size) {
  for (int i = size - 1; i >= 0; --i) bytes.push_back(static_cast<char>((number >> (8 * i)) & 0xff));
}

constexpr uint32_t kFile = 0100644, kLink = 0160000;

// An index of these entries: path and mode, sorted.
std::string Index(uint32_t version, const std::vector<std::pair<std::string, uint32_t>>& entries, size_t object_size = 20) {
  std::string bytes = "DIRC";
  AddNumber(bytes, version, 4);
  AddNumber(bytes, static_cast<uint32_t>(entries.size()), 4);
  std::string last;
  for (const auto& [path, mode] : entries) {
    const size_t begin = bytes.size();
    bytes.append(24, '\0');
    AddNumber(bytes, mode, 4);
    bytes.append(12, '\0');
    bytes.append(object_size, 'x');
    AddNumber(bytes, static_cast<uint32_t>(path.size()), 2);
    if (version == 4) {
      size_t same = 0;
      while (same < std::min(last.size(), path.size()) && last[same] == path[same]) ++same;
      bytes.push_back(static_cast<char>(last.size() - same));
      bytes += path.substr(same) + '\0';
    } else {
      bytes += path + '\0';
      while ((bytes.size() - begin) % 8 != 0) bytes.push_back('\0');
    }
    last = path;
  }
  return bytes + std::string(object_size, 'c');
}

const std::vector<std::pair<std::string, uint32_t>> kEntries = {
    {"a.py", kFile}, {"lib", kLink}, {"sat/model.py", kFile}, {"sat/sub/train.py", kFile}, {"sata.py", kFile}};

TEST(GitIndexTest, EachVersionAndBothSizesOfNames) {
  for (const uint32_t version : {2u, 3u, 4u}) {
    for (const size_t object_size : {size_t{20}, size_t{32}}) {
      const base::Result<GitIndex> index = ReadGitIndex(Index(version, kEntries, object_size));
      ASSERT_TRUE(index) << version << " " << object_size;
      EXPECT_THAT(index->files, ElementsAre("a.py", "sat/model.py", "sat/sub/train.py", "sata.py"));
      EXPECT_THAT(index->submodules, ElementsAre("lib"));
    }
  }
}

TEST(GitIndexTest, FilesAndFolders) {
  const base::Result<GitIndex> index = ReadGitIndex(Index(2, kEntries));
  ASSERT_TRUE(index);
  EXPECT_TRUE(index->Tracks("sat/model.py"));
  EXPECT_FALSE(index->Tracks("sat"));
  EXPECT_TRUE(index->TracksBelow("sat"));
  EXPECT_TRUE(index->TracksBelow("sat/sub"));
  EXPECT_FALSE(index->TracksBelow("sa"));
  EXPECT_TRUE(index->IsSubmodule("lib"));
}

TEST(GitIndexTest, WhatIsCutOffIsNotRead) {
  const std::string whole = Index(2, kEntries);
  for (size_t size = 0; size < whole.size() - 20; size += 7) EXPECT_FALSE(ReadGitIndex(whole.substr(0, size))) << size;
  EXPECT_FALSE(ReadGitIndex("PACK" + whole.substr(4)));
}

// Names of version 4 that each repeat the one before and a byte more: 62 bytes an entry, and names without end.
std::string Growing(uint32_t count) {
  std::string bytes = "DIRC";
  AddNumber(bytes, 4, 4);
  AddNumber(bytes, count, 4);
  for (uint32_t i = 1; i <= count; ++i) {
    bytes.append(24, '\0');
    AddNumber(bytes, kFile, 4);
    bytes.append(12, '\0');
    bytes.append(20, 'x');
    AddNumber(bytes, std::min(i, 0xfffu), 2);
    bytes += std::string("\0a\0", 3);
  }
  return bytes + std::string(20, 'c');
}

TEST(GitIndexTest, NamesThatGrowWithoutEndAreNotRead) {
  EXPECT_TRUE(ReadGitIndex(Growing(4000)));
  const base::Result<GitIndex> index = ReadGitIndex(Growing(70'000));
  ASSERT_FALSE(index);
  EXPECT_THAT(index.error().message, HasSubstr("longer than any system"));
}

TEST(GitIndexTest, NamesThatAreTooLongTogetherAreNotRead) {
  // The stages of a merge have one name: no name is too long by itself.
  std::string bytes = Growing(4000);
  bytes.resize(bytes.size() - 20);
  constexpr uint32_t kMore = 20'000;
  std::string count;
  AddNumber(count, 4000 + kMore, 4);
  bytes.replace(8, 4, count);
  for (uint32_t i = 0; i < kMore; ++i) {
    bytes.append(24, '\0');
    AddNumber(bytes, kFile, 4);
    bytes.append(12, '\0');
    bytes.append(20, 'x');
    AddNumber(bytes, 4000, 2);
    bytes += std::string("\0\0", 2);
  }
  const base::Result<GitIndex> index = ReadGitIndex(bytes + std::string(20, 'c'));
  ASSERT_FALSE(index);
  EXPECT_THAT(index.error().message, HasSubstr("64 MiB"));
}

TEST(GitIndexTest, ASplitIndexIsNotReadInPart) {
  std::string bytes = Index(2, {});
  bytes.insert(12, std::string("link") + std::string("\0\0\0\x14", 4) + std::string(20, 'l'));
  EXPECT_FALSE(ReadGitIndex(bytes));
}

TEST(GitIndexTest, AnExtensionOfAnySizeIsPassedOver) {
  // Eight more than the largest number is none.
  std::string bytes = Index(2, kEntries);
  bytes.insert(bytes.size() - 20, std::string("TREE") + std::string("\xff\xff\xff\xf8", 4));
  EXPECT_TRUE(ReadGitIndex(bytes));
}

TEST(GitIndexTest, OfAWorktreeWhoseRepositoryIsGone) {
  const source::MemoryFileSystem files(std::map<std::string, std::string>{{".git", "gitdir: gone/.git/worktrees/w\n"}, {"a.py", ""}});
  EXPECT_FALSE(FindGitIndex("", files).has_value());
}

TEST(GitIndexTest, OfAWorktree) {
  const source::MemoryFileSystem files(std::map<std::string, std::string>{{".git", "gitdir: main/.git/worktrees/w\n"}, {"main/.git/worktrees/w/index", Index(2, kEntries)}});
  const base::Result<GitIndex> index = FindGitIndex("", files);
  ASSERT_TRUE(index);
  EXPECT_TRUE(index->Tracks("a.py"));
}

TEST(GitIndexTest, NoCheckoutTracksNothing) {
  const base::Result<GitIndex> index = FindGitIndex("", source::MemoryFileSystem(std::map<std::string, std::string>{{"a.py", ""}}));
  ASSERT_TRUE(index);
  EXPECT_THAT(index->files, IsEmpty());
}

}  // namespace
}  // namespace allranks::pipeline
