#include "frontends/cpp/compile_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontends/cpp/exchange.h"
#include "frontends/cpp/includes.h"

namespace allranks::cpp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ShellWordsTest, QuotesAndBackslashes) {
  EXPECT_THAT(ShellWords(R"(c++ -DA="x y" '-DB=\n' a\ b.cpp "")"), ElementsAre("c++", "-DA=x y", R"(-DB=\n)", "a b.cpp", ""));
  EXPECT_THAT(ShellWords("  "), IsEmpty());
}

TEST(KeptFlagsTest, OnlyWhatDecidesTheMeaning) {
  EXPECT_THAT(KeptFlags({"-O2", "-Iinclude", "-I", "src", "-isystem/usr/x", "-D", "A=1", "-UB", "-std=c++20", "-o", "a.o",
                         "-MF", "a.d", "-Wall", "-march=native", "-c"}),
              ElementsAre("-I", "include", "-I", "src", "-isystem", "/usr/x", "-D", "A=1", "-U", "B", "-std=c++20"));
}

TEST(KeptFlagsTest, NothingThatLoadsOrRuns) {
  EXPECT_THAT(KeptFlags({"-fplugin=x.so", "-fpass-plugin=x.so", "-Xclang", "-load", "-Xclang", "x.so", "-wrapper", "touch,x",
                         "-B", "bin", "-specs=x", "--config", "x.cfg", "-fuse-ld=./ld", "-include-pch", "x.pch"}),
              IsEmpty());
}

TEST(KeptFlagsTest, NvccInClangsWords) {
  EXPECT_THAT(KeptFlags({"-x", "cu", "-Xcompiler", "-DX,-fPIC", "-gencode", "arch=compute_90,code=sm_90", "-rdc=true",
                         "--pre-include=pre.h", "--define-macro", "Y", "-ccbin", "g++", "-isystem=/cuda/include", "-std", "c++17"}),
              ElementsAre("-x", "cuda", "-D", "X", "-include", "pre.h", "-D", "Y", "-isystem", "/cuda/include", "-std=c++17"));
}

TEST(AbsolutePathTest, DotsAndSlashes) {
  EXPECT_EQ(AbsolutePath("/a/b", "../c/./d.cpp"), "/a/c/d.cpp");
  EXPECT_EQ(AbsolutePath("/a", "/x//y/../z"), "/x/z");
  EXPECT_EQ(AbsolutePath("/", "../.."), "/");
}

TEST(CompileCommandsTest, EntriesBothWays) {
  const source::MemoryFileSystem files(std::map<std::string, std::string>{{"/p/build/flags.rsp", "-DFROM_FILE"}});
  const auto commands = CompileCommands::Parse(
      R"([{"file": "../a.cpp", "directory": "/p/build", "command": "c++ @flags.rsp -c ../a.cpp"},
          {"file": "/p/b.c", "directory": "/p", "arguments": ["cc", "-DB", "b.c"]},
          {"file": "/p/b.c", "directory": "/p", "arguments": ["cc", "-DSECOND", "b.c"]},
          {"file": "c.cpp"}, 7, {"directory": "/p", "command": "c++"}])",
      "/p/build", files);
  ASSERT_TRUE(commands.has_value());
  ASSERT_NE(commands->Find("/p/a.cpp"), nullptr);
  EXPECT_THAT(commands->Find("/p/a.cpp")->args, ElementsAre("-D", "FROM_FILE"));
  EXPECT_THAT(commands->Find("/p/b.c")->args, ElementsAre("-D", "B"));
  EXPECT_EQ(commands->Find("/p/build/c.cpp"), nullptr);
  EXPECT_EQ(commands->skipped(), 3u);
}

TEST(CompileCommandsTest, FaultsAreNamed) {
  const source::MemoryFileSystem files(std::map<std::string, std::string>{});
  EXPECT_EQ(CompileCommands::Parse("[{", "/p", files).error().message, "not valid JSON");
  EXPECT_EQ(CompileCommands::Parse("{}", "/p", files).error().message, "not a list of compile commands");
  const auto commands =
      CompileCommands::Parse(R"([{"file": "a.cpp", "directory": "/p", "command": "c++ @gone a.cpp"}])", "/p", files);
  ASSERT_TRUE(commands.has_value());
  EXPECT_THAT(commands->problems(), ElementsAre("the flag file gone, with which a.cpp is compiled, cannot be read"));
}

TEST(DefaultCommandTest, FoldersUpToTheRoot) {
  EXPECT_THAT(DefaultCommand("/p/src/x/a.cpp", "/p/src").args,
              ElementsAre("-idirafter", "/p/src/x", "-idirafter", "/p/src/x/include", "-idirafter", "/p/src/x/src",
                          "-I", "/p/src", "-I", "/p/src/include", "-I", "/p/src/src", "-fopenmp"));
}

TEST(IncludesTest, QuotesAndBrackets) {
  EXPECT_THAT(ScanIncludes("#include \"a.h\"\n  #  include <b/c.h> // x\n#define X\n#include MACRO\n#include \"open\n"),
              ElementsAre("a.h", "b/c.h"));
}

TEST(ExchangeTest, RoundTripAndDamage) {
  const Request request{.path = "/a.cpp", .text = "int x;", .directory = "/", .args = {"-DA"}, .roots = {"/"}};
  const std::string bytes = Write(request);
  ASSERT_TRUE(ReadRequest(bytes).has_value());
  EXPECT_EQ(ReadRequest(bytes)->args, request.args);
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(ReadRequest(bytes.substr(0, size)).has_value());
  const Reply reply{.parts = {{"/a.cpp", 6, "module"}}, .error_count = 2, .errors = {{"/a.cpp", 1, 2, "text"}},
                    .asked = {{"/a.h", Told::Text, {1, 2}}, {"/b.h", Told::Nothing, {}}}, .is_complete = true};
  const std::string answer = Write(reply);
  ASSERT_TRUE(ReadReply(answer).has_value());
  EXPECT_EQ(ReadReply(answer)->errors[0].text, "text");
  EXPECT_EQ(ReadReply(answer)->asked[0].hash, (Hash{1, 2}));
  EXPECT_EQ(Write(*ReadReply(answer)), answer);
  for (size_t size = 0; size < answer.size(); ++size) EXPECT_FALSE(ReadReply(answer.substr(0, size)).has_value());
  EXPECT_FALSE(ReadReply(bytes).has_value());
  EXPECT_FALSE(ReadReply("Segmentation fault\n").has_value());
}

}  // namespace
}  // namespace allranks::cpp
