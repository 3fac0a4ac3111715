#include "driver/pipeline/unit_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace allranks::pipeline {
namespace {

namespace fs = std::filesystem;

using Files = std::map<std::string, std::string>;

const Files kFiles = {{"/sys/map", "a map"}, {"/p/comm.h", "int n;"}};

class UnitCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("units_" + std::to_string(getpid()) + "_" + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static cpp::Reply ReplyOf() {
    return {.parts = {{.path = "/p/a.cpp", .bytes = 6, .module = "module"}},
            .asked = {{.path = "/p/comm.h", .told = cpp::Told::Text, .hash = cpp::HashOf("int n;")},
                      {.path = "/p/inc/comm.h", .told = cpp::Told::Nothing},
                      {.path = "/sys", .told = cpp::Told::Names, .hash = cpp::HashOfNames({"map"})},
                      {.path = "/sys", .told = cpp::Told::Folder},
                      {.path = "/sys/map", .told = cpp::Told::RealPath, .hash = cpp::HashOf("/sys/map")}},
            .is_complete = true};
  }

  bool Keep(const Files& files, const cpp::Reply& reply, bool may_write = true) const {
    const source::MemoryFileSystem disk(files);
    return UnitCache(folder_.string(), "key", disk).Keep("a.cpp", kRequest, reply, may_write);
  }
  bool Finds(const Files& files, const cpp::Request& request = kRequest, std::string_view key = "key") const {
    const source::MemoryFileSystem disk(files);
    const std::optional<cpp::Reply> reply = UnitCache(folder_.string(), key, disk).Find("a.cpp", request);
    EXPECT_EQ(cpp::Write(reply.value_or(ReplyOf())), cpp::Write(ReplyOf()));
    return reply.has_value();
  }
  fs::path Entry() const {
    for (const auto& entry : fs::directory_iterator(folder_ / "units")) return entry.path();
    return {};
  }

  static const cpp::Request kRequest;
  fs::path folder_;
};

const cpp::Request UnitCacheTest::kRequest = {.path = "/p/a.cpp", .text = "int x;", .directory = "/p", .args = {"-DA"}, .roots = {"/p"}};

TEST_F(UnitCacheTest, GivesBackWhatClangSaidOfTheSameDisk) {
  EXPECT_FALSE(Finds(kFiles));
  EXPECT_TRUE(Keep(kFiles, ReplyOf()));
  EXPECT_TRUE(Finds(kFiles));
  Files more = kFiles;
  more["/p/other.h"] = "nobody asked";
  EXPECT_TRUE(Finds(more));
}

TEST_F(UnitCacheTest, AnotherAnswerOfTheDisk) {
  EXPECT_TRUE(Keep(kFiles, ReplyOf()));
  const Files changes = {{"/p/comm.h", "int m;"}, {"/p/inc/comm.h", "found first"}, {"/sys/set", "a new name"}};
  for (const auto& [path, text] : changes) {
    Files changed = kFiles;
    changed[path] = text;
    EXPECT_FALSE(Finds(changed)) << path;
  }
  for (const auto& [path, text] : kFiles) {
    Files changed = kFiles;
    changed.erase(path);
    EXPECT_FALSE(Finds(changed)) << path;
  }
  EXPECT_TRUE(Finds(kFiles));
}

TEST_F(UnitCacheTest, AnotherRequest) {
  EXPECT_TRUE(Keep(kFiles, ReplyOf()));
  cpp::Request text = kRequest, args = kRequest, directory = kRequest;
  text.text = "int y;";
  args.args.emplace_back("-DB");
  directory.directory = "/";
  for (const cpp::Request& request : {text, args, directory}) EXPECT_FALSE(Finds(kFiles, request));
  EXPECT_FALSE(Finds(kFiles, kRequest, "of somebody else"));
}

TEST_F(UnitCacheTest, WhatALaterRunCannotCountOnIsNotKept) {
  cpp::Reply incomplete = ReplyOf();
  incomplete.is_complete = false;
  EXPECT_FALSE(Keep(kFiles, incomplete));
  // The disk changed while Clang read it.
  EXPECT_FALSE(Keep({{"/sys/map", "a map"}, {"/p/comm.h", "int m;"}}, ReplyOf()));
  EXPECT_TRUE(Keep(kFiles, ReplyOf(), /*may_write=*/false));
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(UnitCacheTest, DamageIsNothing) {
  EXPECT_TRUE(Keep(kFiles, ReplyOf()));
  const fs::path path = Entry();
  std::ifstream in(path, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  for (size_t at = 0; at < good.size(); at += 7) {
    std::string bad = good;
    bad[at] ^= 1;
    std::ofstream(path, std::ios::binary) << bad;
    EXPECT_FALSE(Finds(kFiles)) << at;
    std::ofstream(path, std::ios::binary) << good.substr(0, at);
    EXPECT_FALSE(Finds(kFiles)) << at;
  }
  std::ofstream(path, std::ios::binary) << good;
  EXPECT_TRUE(Finds(kFiles));
}

}  // namespace
}  // namespace allranks::pipeline
