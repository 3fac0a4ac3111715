#include "driver/pipeline/module_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "frontends/python/lower.h"

namespace allranks::pipeline {
namespace {

namespace fs = std::filesystem;

source::SourceFile FileOf(const std::string& text) { return *source::MakeSourceFile("train.py", text); }

class ModuleCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("cache_" + std::to_string(getpid()) + "_" +
              testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Keep(const source::SourceFile& file) {
    base::Interner names;
    ModuleCache(folder_.string(), "key").Keep("train.py", ContentOf(file.text), python::Lower(file, source::FileId{0}, names), names);
  }
  // The names of the functions that are found; "none" if nothing is.
  std::string Find(const source::SourceFile& file, const std::string& path = "train.py") {
    base::Interner names;
    const std::optional<ir::Module> module =
        ModuleCache(folder_.string(), "key").Find(path, ContentOf(file.text), source::FileId{3}, file.text.size(), names);
    if (!module) return "none";
    EXPECT_EQ(module->file.index, 3u);
    std::string found;
    for (const ir::Function& function : module->functions) {
      if (function.name) found += std::string(names.View(function.name)) + " ";
    }
    return found;
  }
  fs::path Entry() const {
    for (const auto& entry : fs::directory_iterator(folder_ / "ir")) return entry.path();
    return {};
  }

  fs::path folder_;
};

TEST_F(ModuleCacheTest, GivesBackWhatWasKeptOfTheSameText) {
  const source::SourceFile file = FileOf("def step(): pass\n");
  EXPECT_EQ(Find(file), "none");
  Keep(file);
  EXPECT_NE(Find(file).find("step"), std::string::npos);
  EXPECT_EQ(Find(FileOf("def stop(): pass\n")), "none");
  EXPECT_EQ(Find(file, "other.py"), "none");
}

TEST_F(ModuleCacheTest, OneEntryAFile) {
  Keep(FileOf("a = 1\n"));
  const source::SourceFile newer = FileOf("def later(): pass\n");
  Keep(newer);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "ir"), {}), 1);
  EXPECT_NE(Find(newer).find("later"), std::string::npos);
}

TEST_F(ModuleCacheTest, TellsOthersWhatItIs) {
  Keep(FileOf("a = 1\n"));
  EXPECT_TRUE(fs::exists(folder_ / "CACHEDIR.TAG"));
  std::ifstream in(folder_ / ".gitignore");
  std::string line;
  while (std::getline(in, line) && line != "*") continue;
  EXPECT_EQ(line, "*");
}

// Any byte changed, cut off or added: as if nothing were there.
TEST_F(ModuleCacheTest, DamagedEntriesCountForNothing) {
  const source::SourceFile file = FileOf("def step(): pass\n");
  Keep(file);
  std::ifstream in(Entry(), std::ios::binary);
  const std::string entry((std::istreambuf_iterator<char>(in)), {});
  const auto write = [&](const std::string& bytes) { std::ofstream(Entry(), std::ios::binary | std::ios::trunc) << bytes; };
  for (size_t i = 0; i < entry.size(); i += 7) {
    std::string damaged = entry;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    write(damaged);
    EXPECT_EQ(Find(file), "none") << i;
    write(entry.substr(0, i));
    EXPECT_EQ(Find(file), "none") << i;
  }
  write(entry + "x");
  EXPECT_EQ(Find(file), "none");
  write(entry);
  EXPECT_NE(Find(file), "none");
}

TEST_F(ModuleCacheTest, AFolderThatCannotBeMadeIsNoFault) {
  folder_ = "/proc/no/such/folder";
  const source::SourceFile file = FileOf("a = 1\n");
  Keep(file);
  EXPECT_EQ(Find(file), "none");
}

}  // namespace
}  // namespace allranks::pipeline
