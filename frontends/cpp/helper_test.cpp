#include "frontends/cpp/helper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace allranks::cpp {
namespace {

using testing::HasSubstr;

// A program of a few lines of shell in the place of the helper.
class HelperTest : public testing::Test {
 protected:
  std::string Program(const std::string& script) {
    const std::string path = testing::TempDir() + "allranks_helper_" +
                             testing::UnitTest::GetInstance()->current_test_info()->name();
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    chmod(path.c_str(), S_IRWXU);
    paths_.push_back(path);
    return path;
  }

  std::string Failure(const std::string& script, const Limits& limits = {}) {
    const base::Result<Reply> reply = Helpers(Program(script), limits).Read({.path = "/a.cpp"});
    return reply ? "none" : reply.error().message;
  }

  ~HelperTest() override {
    for (const std::string& path : paths_) std::filesystem::remove(path);
  }

 private:
  std::vector<std::string> paths_;
};

TEST_F(HelperTest, TooSlow) {
  EXPECT_EQ(Failure("while :; do :; done", {.seconds = 1}), "Clang took longer than 1 s; exclude it or include less");
}

TEST_F(HelperTest, WaitsForever) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(Failure("exec sleep 60", {.seconds = 1}), "Clang took longer than 1 s; exclude it or include less");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

// As on a machine that does other work as well: the clock goes on, its own time does not.
TEST_F(HelperTest, WaitsForTheMachine) {
  EXPECT_THAT(Failure("sleep 2; kill -SEGV $$", {.seconds = 1}), HasSubstr("Clang crashed"));
}

TEST_F(HelperTest, TooLarge) {
  const std::string failure = Failure("echo 'LLVM ERROR: out of memory' >&2; kill -ABRT $$");
  EXPECT_EQ(failure, "Clang needed more than 6144 MiB for it; exclude it or include less");
}

TEST_F(HelperTest, Crash) {
  EXPECT_THAT(Failure("kill -SEGV $$"), HasSubstr("Clang crashed (Segmentation fault"));
}

TEST_F(HelperTest, OfAnotherVersion) {
  EXPECT_THAT(Failure("exit 2"), HasSubstr("`allranks-clang` ended with 2; reinstall allranks"));
  EXPECT_EQ(Failure("echo nonsense"), "this is no answer of this version of allranks-clang");
  EXPECT_THAT(Failure("printf abc"), HasSubstr("`allranks-clang` ended with 0; reinstall allranks"));
}

TEST_F(HelperTest, NotThere) {
  const base::Result<Reply> reply = Helpers("/nowhere/allranks-clang", {}).Read({.path = "/a.cpp"});
  ASSERT_FALSE(reply.has_value());
  EXPECT_THAT(reply.error().message, HasSubstr("ended with 127"));
}

// It does not read its input to the end, and the pipe breaks: no signal of it may end this program.
TEST_F(HelperTest, DoesNotListen) {
  const std::string program = Program("exec 0<&-; sleep 0.2; exit 3");
  const Request request{.path = "/a.cpp", .text = std::string(8 << 20, ' ')};
  EXPECT_FALSE(Helpers(program, {}).Read(request).has_value());
}

}  // namespace
}  // namespace allranks::cpp
