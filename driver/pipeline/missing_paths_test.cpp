#include "driver/pipeline/missing_paths.h"

#include <gtest/gtest.h>

namespace allranks::pipeline {
namespace {

launch::Word Written(const std::string& text) { return launch::Word(launch::Piece{.text = text, .origin = {}}); }

TEST(MissingPathsTest, TheOnlyFileOfTheNameFurtherDown) {
  const std::vector<std::string> files = {"a/scripts/one/run.sh", "configs/datasets/imagenet.yml", "configs/one/twin.yml", "configs/two/twin.yml"};
  const MissingPaths missing(files, {});
  EXPECT_EQ(missing.MeantBy("configs/imagenet.yml", ""), "configs/datasets/imagenet.yml");
  EXPECT_EQ(missing.MeantBy("./configs/imagenet.yml", "a/scripts"), "configs/datasets/imagenet.yml");
  EXPECT_EQ(missing.MeantBy("scripts/run.sh", "a/scripts"), "scripts/one/run.sh");
  EXPECT_EQ(missing.MeantBy("scripts/run.sh", "b"), "");
  EXPECT_EQ(missing.MeantBy("configs/twin.yml", ""), "");
  EXPECT_EQ(missing.MeantBy("datasets/imagenet.yml", ""), "");
  EXPECT_EQ(missing.MeantBy("downloads/imagenet.yml", ""), "");
}

TEST(MissingPathsTest, NearlyTheNameBesideIt) {
  const std::vector<std::string> files = {"configs/base.yml", "configs/train_large.yaml", "configs/train_v1.yaml"};
  const MissingPaths missing(files, {});
  EXPECT_EQ(missing.MeantBy("configs/base.yaml", ""), "configs/base.yml");
  EXPECT_EQ(missing.MeantBy("configs/base.yaml", "", true), "");
  EXPECT_EQ(missing.MeantBy("configs/trian_large.yaml", ""), "configs/train_large.yaml");
  EXPECT_EQ(missing.MeantBy("configs/train_v2.yaml", ""), "");
  EXPECT_EQ(missing.MeantBy("configs/{name}.yaml", ""), "");
}

TEST(MissingPathsTest, ANameThatGoesOn) {
  const std::vector<std::string> files = {"options/speaker-v6.yml", "options/vocoder_a.yml", "options/vocoder_b.yml", "options/speakers.yml"};
  const MissingPaths missing(files, {});
  EXPECT_EQ(missing.LongerThan("options/speaker.yml", "docs"), "options/speaker-v6.yml");
  EXPECT_EQ(missing.LongerThan("options/speaker.yaml", ""), "");
  EXPECT_EQ(missing.LongerThan("options/vocoder.yml", ""), "");
  EXPECT_EQ(missing.LongerThan("options/speak.yml", ""), "");
  EXPECT_EQ(missing.LongerThan("speaker.yml", "options"), "");
}

TEST(MissingPathsTest, TheOnlyFileOfAName) {
  const std::vector<std::string> files = {"scripts/train.sh", "a/run.sh", "b/run.sh"};
  const MissingPaths missing(files, {});
  EXPECT_EQ(missing.OnlyNamed("train.sh"), "scripts/train.sh");
  EXPECT_EQ(missing.OnlyNamed("run.sh"), "");
}

TEST(ReadByTest, NeitherResultsNorData) {
  const std::vector<launch::Word> args = {Written("--config"), Written("a.yaml"), Written("--output_path=b.yaml"), Written("--data"), Written("c.json"),
                                          Written("--ds_config=d.json"), Written("e.py")};
  const std::vector<launch::Word> read = ReadBy(args);
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].text(), "a.yaml");
  EXPECT_EQ(read[1].text(), "d.json");
  EXPECT_EQ(read[2].text(), "e.py");
}

TEST(ReadByTest, AnOptionHasOneValue) {
  const std::vector<launch::Word> args = {Written("--output"), Written("a"), Written("b.yaml"), Written("--cfg"), Written("c"), Written("d.json"),
                                          Written("--save"), Written("--config"), Written("e.yaml")};
  const std::vector<launch::Word> read = ReadBy(args);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].text(), "b.yaml");
  EXPECT_EQ(read[1].text(), "e.yaml");
}

}  // namespace
}  // namespace allranks::pipeline
