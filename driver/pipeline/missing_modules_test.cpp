#include "driver/pipeline/missing_modules.h"

#include <gtest/gtest.h>

namespace allranks::pipeline {
namespace {

class MissingModulesTest : public ::testing::Test {
 protected:
  MissingModulesTest() {
    project_.all = {"run/main.py", "run/tools/__init__.py", "sets/pairs.py"};
    project_.import_roots = {"", "src"};
    project_.launch.all = {"start.sh"};
    project_.launch.requirements = {"README.md", "requirements.txt", "setup.py"};
  }

  bool Lacks(std::string_view path, uint32_t level, std::string_view dotted) const {
    return MissingModules(input_, project_).Lacks(path, level, dotted);
  }

  ProjectFiles project_;
  const PathMap paths_{"", ""};
  const source::MemoryFileSystem files_{{{"run/main.py", ""},
                                         {"run/tools/__init__.py", ""},
                                         {"run/tools/fast.cpython-312.so", ""},
                                         {"run/data/a.bin", ""},
                                         {"sets/pairs.py", ""},
                                         {"src/own.py", ""},
                                         {"start.sh", "python run/main.py\n"},
                                         {"README.md", "uses timm\n"},
                                         {"requirements.txt", "einops==0.7\n"},
                                         {"setup.py", "Extension('run.tools.built')\n"}}};
  const std::map<std::string, std::string> overlays_ = {{"run/new.py", ""}};
  const base::Watch watch_{{}};
  const LaunchInput input_{project_.all, paths_, files_, overlays_, 1, watch_};
};

TEST_F(MissingModulesTest, WhereARelativeImportLooks) {
  EXPECT_TRUE(Lacks("run/main.py", 1, "data_sets"));
  EXPECT_TRUE(Lacks("run/main.py", 2, "data.pairs"));
  EXPECT_TRUE(Lacks("run/main.py", 1, "tools.slow"));
  EXPECT_FALSE(Lacks("run/main.py", 2, "sets.pairs"));
  EXPECT_FALSE(Lacks("run/main.py", 1, "new"));
  EXPECT_FALSE(Lacks("run/main.py", 4, "sets"));
}

TEST_F(MissingModulesTest, AFileHasNoParts) {
  EXPECT_TRUE(Lacks("run/main.py", 2, "src.own.part"));
  EXPECT_TRUE(MissingModules(input_, project_).HoldsModule("run/main.py", 1, "tools"));
  EXPECT_TRUE(MissingModules(input_, project_).HoldsModule("sets/pairs.py", 1, "pairs"));
  EXPECT_FALSE(MissingModules(input_, project_).HoldsModule("run/main.py", 1, "data"));
  EXPECT_FALSE(MissingModules(input_, project_).HoldsModule("run/main.py", 3, "run"));
}

TEST_F(MissingModulesTest, WhatABuildMakes) {
  EXPECT_FALSE(Lacks("run/main.py", 1, "tools.fast"));
  EXPECT_FALSE(Lacks("run/main.py", 1, "tools.built"));
  EXPECT_FALSE(Lacks("run/main.py", 1, "_version"));
  EXPECT_FALSE(Lacks("run/main.py", 1, "message_pb2"));
}

TEST_F(MissingModulesTest, WhereAnImportByItsWholeNameMayStart) {
  EXPECT_TRUE(Lacks("run/main.py", 0, "pairs"));
  EXPECT_FALSE(Lacks("run/main.py", 0, "tools"));
  EXPECT_FALSE(Lacks("run/main.py", 0, "sets"));
  EXPECT_FALSE(Lacks("run/main.py", 0, "own"));
  EXPECT_FALSE(Lacks("run/main.py", 0, "torch.nn"));
}

TEST_F(MissingModulesTest, WhatOtherFilesSay) {
  const MissingModules modules(input_, project_);
  EXPECT_TRUE(modules.AreRequired("einops"));
  EXPECT_FALSE(modules.AreRequired("timm"));
  EXPECT_FALSE(modules.AnySetsPythonPath());
}

}  // namespace
}  // namespace allranks::pipeline
