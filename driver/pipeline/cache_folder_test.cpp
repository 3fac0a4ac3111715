#include "driver/pipeline/cache_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace allranks::pipeline {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSubject = "0123";

class CacheFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("folder_" + std::to_string(getpid()) + "_" + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // As runs name entries.
  static std::string Named(const std::string& name) { return DigitsOf(name); }
  CacheFolder Open() const { return {folder_.string(), "key", "kind"}; }
  // Kept, and last used so many hours ago.
  void Keep(const std::string& name, size_t bytes, int hours_ago) const {
    Open().Keep(Named(name), kSubject, std::string(bytes, 'x'));
    Age(Named(name), hours_ago);
  }
  void Age(const std::string& name, int hours_ago) const {
    fs::last_write_time(folder_ / "kind" / name, fs::file_time_type::clock::now() - std::chrono::hours(hours_ago));
  }
  void Prune(const CacheBounds& bounds) const {
    CacheFolder folder = Open();
    folder.Keep(Named("new"), kSubject, "x");
    folder.Prune(bounds);
  }
  bool Has(const std::string& name) const { return fs::exists(folder_ / "kind" / Named(name)); }

  fs::path folder_;
};

TEST_F(CacheFolderTest, TheLeastRecentlyUsedGoBeyondTheNumber) {
  for (int i = 0; i < 5; ++i) Keep("e" + std::to_string(i), 10, i + 1);
  Prune({.entries = 3, .bytes = 1u << 20});
  EXPECT_TRUE(Has("new") && Has("e0") && Has("e1"));
  EXPECT_FALSE(Has("e2") || Has("e3") || Has("e4"));
}

TEST_F(CacheFolderTest, TheLeastRecentlyUsedGoBeyondTheSize) {
  for (int i = 0; i < 5; ++i) Keep("e" + std::to_string(i), 10'000, i + 1);
  Prune({.entries = 100, .bytes = 25'000});
  EXPECT_TRUE(Has("new") && Has("e0") && Has("e1"));
  EXPECT_FALSE(Has("e2") || Has("e3") || Has("e4"));
}

TEST_F(CacheFolderTest, WhatNobodyUsesGoesWithTime) {
  Keep("used", 10, 24 * 40);
  Keep("unused", 10, 24 * 40);
  Keep("young", 10, 24 * 20);
  EXPECT_TRUE(Open().Find(Named("used"), kSubject, 1000).has_value());
  Prune({.entries = 100, .bytes = 1u << 20});
  EXPECT_TRUE(Has("used") && Has("young"));
  EXPECT_FALSE(Has("unused"));
}

TEST_F(CacheFolderTest, WhatIsBeingWrittenStays) {
  Keep("e", 10, 1);
  const std::string young = Named("young") + ".1.tmp", old = Named("old") + ".2.tmp";
  for (const std::string& name : {young, old}) std::ofstream(folder_ / "kind" / name) << "half";
  Age(old, 2);
  Prune({.entries = 2, .bytes = 1u << 20});
  EXPECT_TRUE(fs::exists(folder_ / "kind" / young) && Has("e") && Has("new"));
  EXPECT_FALSE(fs::exists(folder_ / "kind" / old));
}

TEST_F(CacheFolderTest, FilesOfOthersStay) {
  Keep("e", 10, 1);
  const std::string hash = Named("x").substr(1);
  for (const std::string& name : {std::string("events.out"), std::string("a.tmp"), hash, "X" + hash}) {
    std::ofstream(folder_ / "kind" / name) << "theirs";
    Age(name, 24 * 365);
  }
  Prune({.entries = 1, .bytes = 1u << 20});
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "kind"), fs::directory_iterator()), 5);
}

TEST_F(CacheFolderTest, AnEntryIsOfOneNameSubjectAndKind) {
  Keep("e", 10, 0);
  EXPECT_TRUE(Open().Find(Named("e"), kSubject, 1000));
  EXPECT_FALSE(Open().Find(Named("e"), "0124", 1000));
  EXPECT_FALSE(CacheFolder(folder_.string(), "another key", "kind").Find(Named("e"), kSubject, 1000));
  fs::copy_file(folder_ / "kind" / Named("e"), folder_ / "kind" / Named("f"));
  EXPECT_FALSE(Open().Find(Named("f"), kSubject, 1000));
  fs::copy(folder_ / "kind", folder_ / "other");
  EXPECT_FALSE(CacheFolder(folder_.string(), "key", "other").Find(Named("e"), kSubject, 1000));
}

TEST_F(CacheFolderTest, NothingOfAnEntryMakesAnother) {
  Keep("e", 10, 0);
  const fs::path path = folder_ / "kind" / Named("e");
  std::string bytes(Seal::kSize + kSubject.size() + 10, '\0');
  std::ifstream(path).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string forged = bytes;
    forged[i] ^= 1;
    std::ofstream(path) << forged;
    EXPECT_FALSE(Open().Find(Named("e"), kSubject, 1000)) << i;
  }
  std::ofstream(path) << bytes;
  EXPECT_TRUE(Open().Find(Named("e"), kSubject, 1000));
}

TEST_F(CacheFolderTest, GitDoesNotSeeAFolderThatWasThereBefore) {
  folder_ /= ".allranks_cache";
  fs::create_directories(folder_);
  std::ofstream(folder_ / "brought") << "x";
  std::ofstream(folder_ / ".gitignore") << "!*\n";
  Keep("e", 10, 0);
  std::string line, last;
  for (std::ifstream text(folder_ / ".gitignore"); std::getline(text, line);) last = line;
  EXPECT_EQ(last, "*");
  folder_ = folder_.parent_path();
}

TEST_F(CacheFolderTest, AFolderWithOtherFilesKeepsItsOwnMarks) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "train.py") << "x";
  Keep("e", 10, 0);
  EXPECT_FALSE(fs::exists(folder_ / ".gitignore") || fs::exists(folder_ / "CACHEDIR.TAG"));
  EXPECT_TRUE(Open().Find(Named("e"), kSubject, 1000));
}

TEST_F(CacheFolderTest, ARunThatKeptNothingDeletesNothing) {
  Keep("e", 10, 24 * 40);
  Open().Prune({.entries = 0, .bytes = 0});
  EXPECT_TRUE(Has("e"));
}

}  // namespace
}  // namespace allranks::pipeline
