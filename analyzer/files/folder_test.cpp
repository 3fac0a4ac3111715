#include "analyzer/files/folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "analyzer/files/write_file.h"

namespace allranks::files {
namespace {

namespace fs = std::filesystem;

// A project with a folder in it, and a folder beside the project.
class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    std::string pattern = testing::TempDir() + "allranks_XXXXXX";
    whole_ = fs::canonical(mkdtemp(pattern.data()));
    top_ = whole_ / "project";
    fs::create_directories(top_ / "sub/deep");
    fs::create_directories(whole_ / "outside/deep");
    for (const char* name : {"project/sub/deep/a", "outside/deep/a"}) std::ofstream(whole_ / name) << "old";
  }
  ~FolderTest() override { fs::remove_all(whole_); }

  static std::string Read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  int ErrorOf(const fs::path& path) const { return PlaceBelow(top_, path).folder.error(); }

  fs::path whole_, top_;
};

TEST_F(FolderTest, APlaceBelowIsFound) {
  const Place place = PlaceBelow(top_, top_ / "sub/../sub/deep/a");
  ASSERT_EQ(place.folder.error(), 0);
  EXPECT_EQ(ReplaceIn(place.folder, place.name, "new"), 0);
  EXPECT_EQ(Read(top_ / "sub/deep/a"), "new");
  EXPECT_EQ(ErrorOf(top_ / "new file"), 0);
  EXPECT_EQ(ErrorOf(top_ / "none/new file"), ENOENT);
}

TEST_F(FolderTest, LinksWithinAreFollowedAndThoseThatLeadOutAreNot) {
  fs::create_symlink("sub/deep", top_ / "in");
  fs::create_symlink("../outside/deep", top_ / "out");
  fs::create_symlink("../outside/deep/a", top_ / "file");
  fs::create_symlink("../outside/new", top_ / "dangling");
  EXPECT_EQ(ErrorOf(top_ / "in/a"), 0);
  EXPECT_EQ(ErrorOf(top_ / "out/a"), EXDEV);
  EXPECT_EQ(ErrorOf(top_ / "file"), EXDEV);
  EXPECT_EQ(ErrorOf(whole_ / "outside/deep/a"), EXDEV);
  EXPECT_EQ(ErrorOf(top_), EXDEV);
  // What leads nowhere is a name that is free, and is replaced.
  const Place place = PlaceBelow(top_, top_ / "dangling");
  ASSERT_EQ(place.folder.error(), 0);
  EXPECT_EQ(ReplaceIn(place.folder, place.name, "new"), 0);
  EXPECT_FALSE(fs::is_symlink(top_ / "dangling"));
  EXPECT_FALSE(fs::exists(whole_ / "outside/new"));
}

TEST_F(FolderTest, AFolderThatIsOpenStaysThatFolder) {
  const Place place = PlaceBelow(top_, top_ / "sub/deep/a");
  fs::rename(top_ / "sub", top_ / "moved");
  fs::create_symlink("../outside", top_ / "sub");
  EXPECT_EQ(ReplaceIn(place.folder, place.name, "new"), 0);
  EXPECT_EQ(Read(top_ / "moved/deep/a"), "new");
  EXPECT_EQ(Read(whole_ / "outside/deep/a"), "old");
}

TEST_F(FolderTest, NoLinkIsFollowedOnTheWay) {
  fs::create_symlink("../outside", top_ / "link");
  const Folder top(top_);
  EXPECT_NE(top.Below("link/deep").error(), 0);
  EXPECT_NE(top.Below("link").error(), 0);
  EXPECT_EQ(top.Below("sub/../../outside").error(), EXDEV);
  EXPECT_EQ(top.Below("sub//deep/").error(), 0);
  EXPECT_EQ(top.Below("").error(), 0);
}

TEST_F(FolderTest, WhoSwapsAFolderForALinkMeanwhileGainsNothing) {
  std::atomic<bool> is_over = false;
  std::thread attacker([&] {
    while (!is_over) {
      fs::rename(top_ / "sub", top_ / "moved");
      fs::create_symlink("../outside", top_ / "sub");
      fs::remove(top_ / "sub");
      fs::rename(top_ / "moved", top_ / "sub");
    }
  });
  const auto write = [&] {
    const Place place = PlaceBelow(top_, top_ / "sub/deep/a");
    return place.folder.error() == 0 && ReplaceIn(place.folder, place.name, "new") == 0;
  };
  for (int i = 0; i < 2000; ++i) write();
  is_over = true;
  attacker.join();
  EXPECT_EQ(Read(whole_ / "outside/deep/a"), "old");
  EXPECT_TRUE(write());
}

}  // namespace
}  // namespace allranks::files
