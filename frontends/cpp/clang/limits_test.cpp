// What Clang does with sources that are meant to break it, and that it costs one file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "frontends/cpp/helper.h"

namespace allranks::cpp {
namespace {

using testing::HasSubstr;

Request RequestOf(const std::string& text) {
  return {.path = "/project/a.cpp", .text = text, .directory = "/", .args = {"-x", "c++"}, .roots = {"/project"}};
}

base::Result<Reply> Read(const std::string& text, const Limits& limits = {}) { return Helpers(ALLRANKS_CLANG, limits).Read(RequestOf(text)); }

// Deeper than the stack that Clang has.
std::string TextThatCrashes() {
  std::string text = "int deep = ";
  for (int i = 0; i < 200'000; ++i) text += "- ";
  return text + "1;\n";
}

// Instantiates itself two to the power of sixty times, at a depth that Clang allows.
constexpr const char* kTree = R"(
template <int N, long M> struct Tree { static constexpr long kSum = Tree<N - 1, 2 * M>::kSum + Tree<N - 1, 2 * M + 1>::kSum; };
template <long M> struct Tree<0, M> { static constexpr long kSum = 1; };
long sum() { return Tree<60, 0>::kSum; }
)";

TEST(LimitsTest, TimeOfTemplatesWithoutEnd) {
  const base::Result<Reply> reply = Read(kTree, {.seconds = 1});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().message, "Clang took longer than 1 s; exclude it or include less");
}

TEST(LimitsTest, MemoryOfTemplatesWithoutEnd) {
  if (!kLimitsMemory) GTEST_SKIP() << "a sanitizer needs more address space than any limit";
  const base::Result<Reply> reply = Read(kTree, {.seconds = 60, .memory_bytes = uint64_t{400} << 20});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().message, "Clang needed more than 400 MiB for it; exclude it or include less");
}

// Clang counts the steps by itself.
TEST(LimitsTest, ConstantExpressionWithoutEnd) {
  const base::Result<Reply> reply = Read("constexpr int spin() { for (;;) {} return 0; }\nconstexpr int kSpin = spin();\n");
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  ASSERT_FALSE(reply->errors.empty());
  EXPECT_THAT(reply->errors[0].text, HasSubstr("constant expression"));
}

TEST(LimitsTest, TemplateThatNeedsItself) {
  const base::Result<Reply> reply = Read("template <int N> int f() { return f<N + 1>(); }\nint g() { return f<0>(); }\n");
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  ASSERT_FALSE(reply->errors.empty());
  EXPECT_THAT(reply->errors[0].text, HasSubstr("recursive template instantiation"));
}

TEST(LimitsTest, DeepNesting) {
  std::string text = "int f(int x) { return ";
  constexpr int kDepth = 20000;
  for (int i = 0; i < kDepth; ++i) text += '(';
  text += 'x';
  for (int i = 0; i < kDepth; ++i) text += ')';
  const base::Result<Reply> reply = Read(text + "; }\nint g() { return 1; }\n");
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_GT(reply->error_count, 0u);
}

TEST(LimitsTest, Crash) {
  const base::Result<Reply> reply = Read(TextThatCrashes());
  ASSERT_FALSE(reply.has_value());
  EXPECT_THAT(reply.error().message, HasSubstr("Clang crashed"));
}

TEST(HelpersTest, ACrashLeavesTheOthersAsTheyAre) {
  const std::string good = "#include <mpi.h>\nint f() { return MPI_Barrier(MPI_COMM_WORLD); }\n";
  Helpers alone(ALLRANKS_CLANG, {});
  const base::Result<Reply> expected = alone.Read(RequestOf(good));
  ASSERT_TRUE(expected.has_value()) << expected.error().message;
  Helpers helpers(ALLRANKS_CLANG, {});
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2; ++i) {
      const base::Result<Reply> reply = helpers.Read(RequestOf(good));
      ASSERT_TRUE(reply.has_value()) << reply.error().message;
      EXPECT_EQ(Write(*reply), Write(*expected));
    }
    const base::Result<Reply> crash = helpers.Read(RequestOf(TextThatCrashes()));
    ASSERT_FALSE(crash.has_value());
    EXPECT_THAT(crash.error().message, HasSubstr("Clang crashed"));
  }
}

// The time of a file is its own, however long the process has worked before.
TEST(HelpersTest, EveryFileHasItsTime) {
  std::string slow = "template <int N, long M> struct Tree { static constexpr long kSum = Tree<N - 1, 2 * M>::kSum + Tree<N - 1, 2 * M + 1>::kSum; };\n"
                     "template <long M> struct Tree<0, M> { static constexpr long kSum = 1; };\nlong sum() { return Tree<13, 0>::kSum; }\n";
  Helpers helpers(ALLRANKS_CLANG, {.seconds = 1});
  const auto start = std::chrono::steady_clock::now();
  const auto is_long_enough = [&] { return std::chrono::steady_clock::now() - start > std::chrono::seconds(3); };
  for (int i = 0; i < 100 && !is_long_enough(); ++i) {
    const base::Result<Reply> reply = helpers.Read(RequestOf(slow));
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
  }
}

TEST(LimitsTest, IncludesWhatNeverEnds) {
  const base::Result<Reply> reply = Read("#include \"/dev/zero\"\nint f() { return 1; }\n", {.seconds = 20});
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->parts.size(), 1u);
}

}  // namespace
}  // namespace allranks::cpp
