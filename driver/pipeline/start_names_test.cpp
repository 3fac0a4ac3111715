#include "driver/pipeline/start_names.h"

#include <gtest/gtest.h>

namespace allranks::pipeline {
namespace {

bool Names(const std::vector<std::string>& code, std::string_view text) { return StartNames(code).NamesProgram(text); }

TEST(StartNamesTest, FindsFilesByTheirWholeNames) {
  const std::vector<std::string> code = {"tools/train.py", "eval-all.py"};
  EXPECT_TRUE(Names(code, "python train.py"));
  EXPECT_TRUE(Names(code, "python ../tools/train.py --lr 1"));
  EXPECT_TRUE(Names(code, "train.py"));
  EXPECT_TRUE(Names(code, "python ${FOLDER}train.py"));
  EXPECT_TRUE(Names(code, "python \"eval-all.py\""));
  EXPECT_FALSE(Names(code, "python pretrain.py"));
  EXPECT_FALSE(Names(code, "python my_train.py"));
  EXPECT_FALSE(Names(code, "rm train.pyc"));
  EXPECT_FALSE(Names(code, ".py"));
}

TEST(StartNamesTest, FindsModules) {
  const std::vector<std::string> code = {"pkg/train.py", "tool/__main__.py"};
  EXPECT_TRUE(Names(code, "python -m pkg.train"));
  EXPECT_TRUE(Names(code, "python -m tool"));
  EXPECT_TRUE(Names(code, "python -m $MODULE"));
  EXPECT_FALSE(Names(code, "python -m pkg.evaluate"));
}

}  // namespace
}  // namespace allranks::pipeline
