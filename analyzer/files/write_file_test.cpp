#include "analyzer/files/write_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace allranks::files {
namespace {

namespace fs = std::filesystem;

class WriteFileTest : public testing::Test {
 protected:
  WriteFileTest() {
    std::string pattern = testing::TempDir() + "allranks_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    path_ = folder_ / "out";
  }
  ~WriteFileTest() override { fs::remove_all(folder_); }

  static std::string Read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  void Write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
  auto FilesThere() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }

  fs::path folder_, path_;
};

TEST_F(WriteFileTest, ANewFileHasTheModeOfAnyOther) {
  const mode_t mask = umask(027);
  EXPECT_EQ(ReplaceWhole(path_, "text"), 0);
  umask(mask);
  EXPECT_EQ(Read(path_), "text");
  EXPECT_EQ(fs::status(path_).permissions(), static_cast<fs::perms>(0640));
  EXPECT_EQ(FilesThere(), 1);
}

TEST_F(WriteFileTest, AFileGivesItsMode) {
  Write(path_, "old");
  fs::permissions(path_, static_cast<fs::perms>(0604));
  for (const auto write : {+[](const std::string& path) { return ReplaceWhole(path, "new"); },
                           +[](const std::string& path) { return WriteTo(path, "new"); }}) {
    EXPECT_EQ(write(path_), 0);
    EXPECT_EQ(Read(path_), "new");
    EXPECT_EQ(fs::status(path_).permissions(), static_cast<fs::perms>(0604));
  }
}

TEST_F(WriteFileTest, WhatIsReplacedIsNoLinksTarget) {
  Write(folder_ / "other", "old");
  fs::create_symlink("other", path_);
  EXPECT_EQ(ReplaceWhole(path_, "new"), 0);
  EXPECT_FALSE(fs::is_symlink(path_));
  EXPECT_EQ(Read(folder_ / "other"), "old");
}

TEST_F(WriteFileTest, ALinkStays) {
  Write(folder_ / "other", "old and long");
  fs::create_symlink("other", path_);
  // Whoever has the old file open reads it to its end.
  std::ifstream reader(folder_ / "other");
  EXPECT_EQ(WriteTo(path_, "new", folder_), 0);
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(Read(folder_ / "other"), "new");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "old and long");
}

TEST_F(WriteFileTest, NoLinkLeadsOut) {
  fs::create_directory(folder_ / "inside");
  fs::create_directory(folder_ / "outside");
  Write(folder_ / "outside" / "victim", "old");
  fs::create_symlink("../outside/victim", folder_ / "inside" / "link");
  fs::create_symlink("../outside", folder_ / "inside" / "folder");
  fs::create_symlink("inside", folder_ / "way");
  for (const char* path : {"inside/link", "inside/folder/victim", "inside/folder/new", "way/link"}) {
    EXPECT_EQ(WriteTo(folder_ / path, "new", folder_ / "inside"), EXDEV) << path;
  }
  EXPECT_EQ(Read(folder_ / "outside" / "victim"), "old");
  EXPECT_EQ(WriteTo(folder_ / "inside" / ".." / "outside" / "victim", "old", folder_ / "inside"), 0);
  // What is not named as a part of the folder is not kept in it.
  EXPECT_EQ(WriteTo(folder_ / "outside" / "victim", "new", folder_ / "inside"), 0);
  EXPECT_EQ(Read(folder_ / "outside" / "victim"), "new");
}

TEST_F(WriteFileTest, APipeStays) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = Read(path_); });
  EXPECT_EQ(WriteTo(path_, "text"), 0);
  reader.join();
  EXPECT_EQ(got, "text");
  EXPECT_TRUE(fs::is_fifo(path_));
}

TEST_F(WriteFileTest, APipeThatNobodyReadsIsAnError) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(WriteTo(path_, "text"), ENXIO);
  EXPECT_TRUE(fs::is_fifo(path_));
}

TEST_F(WriteFileTest, ASecretIsNobodyElsesFromTheStart) {
  const mode_t mask = umask(0);
  EXPECT_EQ(ReplaceWhole(path_, "text", Sync::No, kSecretFile), 0);
  umask(mask);
  EXPECT_EQ(fs::status(path_).permissions(), static_cast<fs::perms>(0600));
}

TEST_F(WriteFileTest, WhatADeviceSaysIsAnError) {
  fs::create_symlink("/dev/full", path_);
  EXPECT_EQ(WriteTo(path_, "text"), ENOSPC);
}

TEST_F(WriteFileTest, ErrorsLeaveNothingBehind) {
  EXPECT_EQ(WriteTo(folder_, "text"), EISDIR);
  EXPECT_EQ(WriteTo(folder_ / "none" / "out", "text"), ENOENT);
  EXPECT_EQ(FilesThere(), 0);
}

}  // namespace
}  // namespace allranks::files
