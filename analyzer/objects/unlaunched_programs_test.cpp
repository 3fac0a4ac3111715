#include "analyzer/objects/unlaunched_programs.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class UnlaunchedProgramsTest : public ObjectsTest {
 protected:
  static constexpr const char* kProgram = "def main():\n  pass\nif __name__ == '__main__':\n  main()\n";

  // Whether lines pass over the program `train.py`.
  bool IsPassedOver(const std::string& text, const LaunchLines& lines, bool starts_ranks = false) {
    Read(text);
    const binding::Neighbourhood neighbourhood(program());
    return FindUnlaunchedPrograms(program(), neighbourhood, lines, [&](ir::ModuleId) { return starts_ranks; })[0];
  }

  static LaunchLine Starts(std::string path) { return {.path = std::move(path), .starts_ranks = true}; }
};

TEST_F(UnlaunchedProgramsTest, ALauncherStartsOneBesideIt) {
  EXPECT_TRUE(IsPassedOver(kProgram, {Starts("other.py")}));
  EXPECT_TRUE(IsPassedOver(kProgram, {{.path = "other.py", .is_job_of_one = true}}));
  EXPECT_FALSE(IsPassedOver(kProgram, {Starts("folder/other.py")}));
  EXPECT_FALSE(IsPassedOver(kProgram, {}));
}

TEST_F(UnlaunchedProgramsTest, ALineStartsIt) {
  EXPECT_FALSE(IsPassedOver(kProgram, {Starts("other.py"), Starts("train.py")}));
  EXPECT_FALSE(IsPassedOver(kProgram, {Starts("other.py"), {.path = "train.py"}}));
  EXPECT_TRUE(IsPassedOver(kProgram, {Starts("other.py"), {.path = "third.py"}}));
}

TEST_F(UnlaunchedProgramsTest, ALineMayStartIt) {
  LaunchLine unknown{.starts_ranks = true, .unknown_below = kRootFolder};
  EXPECT_FALSE(IsPassedOver(kProgram, {Starts("other.py"), unknown}));
  unknown.unknown_name = "pretrain.py";
  EXPECT_TRUE(IsPassedOver(kProgram, {Starts("other.py"), unknown}));
}

TEST_F(UnlaunchedProgramsTest, ItStartsRanksItself) { EXPECT_FALSE(IsPassedOver(kProgram, {Starts("other.py")}, true)); }

}  // namespace
}  // namespace allranks::objects
