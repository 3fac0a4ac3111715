#include "analyzer/source/file_system.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace allranks::source {
namespace {

// A folder of the test's own, removed with it.
class RealFileSystemTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "allranks_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(root_ + "/" + name, std::ios::binary) << text;
    return root_ + "/" + name;
  }

  const RealFileSystem files_;
  std::string root_;
};

TEST_F(RealFileSystemTest, Reads) {
  const std::string big(100'000, 'x');
  EXPECT_EQ(files_.Read(Write("empty", "")).value(), "");
  EXPECT_EQ(files_.Read(Write("nul", std::string("a\0b", 3))).value(), std::string("a\0b", 3));
  EXPECT_EQ(files_.Read(Write("big", big)).value(), big);
  // The system calls such files empty.
  EXPECT_NE(files_.Read("/proc/self/status").value(), "");
}

TEST_F(RealFileSystemTest, SaysWhyItCannotRead) {
  EXPECT_EQ(files_.Read(root_ + "/none").error().message,
            root_ + "/none: cannot open: No such file or directory");
  EXPECT_EQ(files_.Read(root_).error().message, root_ + ": cannot read: Is a directory");
  const std::string pipe = root_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(files_.Read(pipe).error().message, pipe + ": cannot read: neither a file nor a directory");
}

TEST_F(RealFileSystemTest, Lists) {
  Write("b.py", "");
  Write("A.py", "");
  std::filesystem::create_directory(root_ + "/dir");
  std::filesystem::create_directory_symlink("dir", root_ + "/link");
  std::filesystem::create_symlink("nowhere", root_ + "/broken");
  const std::vector<DirectoryEntry> entries = files_.List(root_).value();
  ASSERT_EQ(entries.size(), 5u);
  EXPECT_EQ(entries[0].name, "A.py");
  EXPECT_EQ(entries[0].kind, EntryKind::File);
  EXPECT_EQ(entries[1].name, "b.py");
  EXPECT_EQ(entries[2].name, "broken");
  EXPECT_EQ(entries[2].kind, EntryKind::Other);
  EXPECT_TRUE(entries[2].is_symlink);
  EXPECT_EQ(entries[3].name, "dir");
  EXPECT_EQ(entries[3].kind, EntryKind::Directory);
  EXPECT_FALSE(entries[3].is_symlink);
  EXPECT_EQ(entries[4].name, "link");
  EXPECT_EQ(entries[4].kind, EntryKind::Directory);
  EXPECT_TRUE(entries[4].is_symlink);
  EXPECT_EQ(files_.List(root_ + "/none").error().message,
            root_ + "/none: cannot list: No such file or directory");
  EXPECT_EQ(files_.List(root_ + "/b.py").error().message, root_ + "/b.py: cannot list: Not a directory");
}

TEST_F(RealFileSystemTest, KindAndCanonical) {
  const std::string file = Write("a.py", "");
  std::filesystem::create_symlink("a.py", root_ + "/link");
  std::filesystem::create_directory_symlink("loop", root_ + "/loop");
  EXPECT_EQ(files_.Kind(file).value(), EntryKind::File);
  EXPECT_EQ(files_.Kind(root_).value(), EntryKind::Directory);
  EXPECT_EQ(files_.Kind(root_ + "/link").value(), EntryKind::File);
  EXPECT_FALSE(files_.Kind(root_ + "/loop"));
  EXPECT_EQ(files_.Canonical(root_ + "/link").value(), files_.Canonical(file).value());
  EXPECT_EQ(files_.Canonical(root_ + "/loop").error().message,
            root_ + "/loop: cannot resolve: Too many levels of symbolic links");
}

TEST(MemoryFileSystemTest, ActsLikeADisk) {
  const MemoryFileSystem files({{"a/b.py", "b"}, {"a/c/d.py", "d"}, {"e.py", "e"}, {"/root/f.py", "f"}});
  EXPECT_EQ(files.Read("a/b.py").value(), "b");
  EXPECT_EQ(files.Read("./a//b.py").value(), "b");
  EXPECT_EQ(files.Read("a/c/../b.py").value(), "b");
  EXPECT_EQ(files.Read("/root/f.py").value(), "f");
  EXPECT_EQ(files.Read("a").error().message, "a: cannot read: Is a directory");
  EXPECT_EQ(files.Read("x").error().message, "x: cannot open: No such file or directory");
  EXPECT_EQ(files.Kind("a/c").value(), EntryKind::Directory);
  EXPECT_EQ(files.Kind(".").value(), EntryKind::Directory);
  EXPECT_EQ(files.Kind("e.py").value(), EntryKind::File);
  EXPECT_FALSE(files.Kind("a/x"));
  EXPECT_EQ(files.Canonical("./a/").value(), "a");
  EXPECT_FALSE(files.Canonical("x"));
}

TEST(MemoryFileSystemTest, Lists) {
  const MemoryFileSystem files({{"a/b.py", ""}, {"a/c/d.py", ""}, {"a/c/e.py", ""}, {"f.py", ""}});
  const std::vector<DirectoryEntry> top = files.List(".").value();
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[0].name, "a");
  EXPECT_EQ(top[0].kind, EntryKind::Directory);
  EXPECT_EQ(top[1].name, "f.py");
  const std::vector<DirectoryEntry> inner = files.List("a").value();
  ASSERT_EQ(inner.size(), 2u);
  EXPECT_EQ(inner[0].name, "b.py");
  EXPECT_EQ(inner[1].name, "c");
  EXPECT_FALSE(files.List("x"));
}

}  // namespace
}  // namespace allranks::source
