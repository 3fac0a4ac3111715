#include "driver/fixes/replace_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace allranks::fixes {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ReplaceFileTest : public ::testing::Test {
 protected:
  ReplaceFileTest() {
    std::string pattern = (fs::temp_directory_path() / "allranks.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    path_ = folder_ / "a.py";
    std::ofstream(path_) << "old\n";
  }
  ~ReplaceFileTest() override { fs::remove_all(folder_); }
  static std::string Read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  size_t FilesThere() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_, path_;
};

TEST_F(ReplaceFileTest, KeepsTheMode) {
  fs::permissions(path_, static_cast<fs::perms>(0750));
  ASSERT_TRUE(ReplaceFile(folder_, path_, "old\n", "new\n").has_value());
  EXPECT_EQ(Read(path_), "new\n");
  EXPECT_EQ(fs::status(path_).permissions(), static_cast<fs::perms>(0750));
  EXPECT_EQ(FilesThere(), 1u);
}

TEST_F(ReplaceFileTest, FollowsALink) {
  const fs::path link = folder_ / "link.py";
  fs::create_symlink(path_, link);
  ASSERT_TRUE(ReplaceFile(folder_, link, "old\n", "new\n").has_value());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(Read(path_), "new\n");
}

TEST_F(ReplaceFileTest, AFolderThatIsALinkOutOfTheProjectNowIsLeftAlone) {
  fs::create_directory(folder_ / "project");
  fs::create_symlink("..", folder_ / "project/sub");
  const auto result = ReplaceFile(folder_ / "project", folder_ / "project/sub/a.py", "old\n", "new\n");
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, HasSubstr("outside the project"));
  EXPECT_EQ(Read(path_), "old\n");
}

TEST_F(ReplaceFileTest, AFileThatChangedMeanwhileIsLeftAlone) {
  const auto result = ReplaceFile(folder_, path_, "older\n", "new\n");
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, HasSubstr("changed"));
  EXPECT_EQ(Read(path_), "old\n");
  EXPECT_EQ(FilesThere(), 1u);
}

TEST_F(ReplaceFileTest, AReadOnlyFileIsLeftAlone) {
  fs::permissions(path_, static_cast<fs::perms>(0444));
  const auto result = ReplaceFile(folder_, path_, "old\n", "new\n");
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, HasSubstr("read-only"));
  EXPECT_EQ(Read(path_), "old\n");
}

}  // namespace
}  // namespace allranks::fixes
