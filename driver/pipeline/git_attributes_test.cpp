#include "driver/pipeline/git_attributes.h"

#include <gtest/gtest.h>

namespace allranks::pipeline {
namespace {

TEST(GitAttributesTest, WhatIsGeneratedAndWhatIsNot) {
  const AttributesFile file("*.py text eol=lf\n*_pb2.py linguist-generated\ngen/** text linguist-generated=true\ngen/own.py -linguist-generated\n");
  EXPECT_EQ(file.generated.Ignores("a/x_pb2.py", false), true);
  EXPECT_EQ(file.generated.Ignores("gen/deep/x.py", false), true);
  EXPECT_EQ(file.generated.Ignores("gen/own.py", false), false);
  EXPECT_EQ(file.generated.Ignores("train.py", false), std::nullopt);
  EXPECT_TRUE(file.vendored.empty());
}

TEST(GitAttributesTest, WhatIsVendored) {
  const AttributesFile file("libs/*.py linguist-vendored\n# *.py linguist-vendored\n");
  EXPECT_EQ(file.vendored.Ignores("libs/a.py", false), true);
  EXPECT_EQ(file.vendored.Ignores("a.py", false), std::nullopt);
  EXPECT_TRUE(AttributesFile("*.ipynb filter=x\n").empty());
  EXPECT_TRUE(AttributesFile("*.ipynb linguist-vendored\n").empty());
}

}  // namespace
}  // namespace allranks::pipeline
