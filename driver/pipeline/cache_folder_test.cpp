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

  CacheFolder Open() const { return {folder_.string(), "key", "kind"}; }
  // Kept, and last used so many hours ago.
  void Keep(const std::string& name, size_t bytes, int hours_ago) const {
    Open().Keep(name, kSubject, std::string(bytes, 'x'));
    Age(name, hours_ago);
  }
  void Age(const std::string& name, int hours_ago) const {
    fs::last_write_time(folder_ / "kind" / name, fs::file_time_type::clock::now() - std::chrono::hours(hours_ago));
  }
  void Prune(const CacheBounds& bounds) const {
    CacheFolder folder = Open();
    folder.Keep("new", kSubject, "x");
    folder.Prune(bounds);
  }
  bool Has(const std::string& name) const { return fs::exists(folder_ / "kind" / name); }

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
  EXPECT_TRUE(Open().Find("used", kSubject, 1000).has_value());
  Prune({.entries = 100, .bytes = 1u << 20});
  EXPECT_TRUE(Has("used") && Has("young"));
  EXPECT_FALSE(Has("unused"));
}

TEST_F(CacheFolderTest, WhatIsBeingWrittenStays) {
  Keep("e", 10, 1);
  for (const char* name : {"young.tmp", "old.tmp"}) std::ofstream(folder_ / "kind" / name) << "half";
  Age("old.tmp", 2);
  Prune({.entries = 2, .bytes = 1u << 20});
  EXPECT_TRUE(Has("young.tmp") && Has("e") && Has("new"));
  EXPECT_FALSE(Has("old.tmp"));
}

TEST_F(CacheFolderTest, ARunThatKeptNothingDeletesNothing) {
  Keep("e", 10, 24 * 40);
  Open().Prune({.entries = 0, .bytes = 0});
  EXPECT_TRUE(Has("e"));
}

}  // namespace
}  // namespace allranks::pipeline
