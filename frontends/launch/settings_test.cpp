#include "frontends/launch/settings.h"

#include <gtest/gtest.h>

#include <map>

namespace allranks::launch_files {
namespace {

using Files = std::map<std::string, std::string>;

launch::SettingsFile Composed(const Files& files, const std::string& name = "train") {
  return ComposeSettings("conf", name, [&](const std::string& path) -> std::optional<SettingsText> {
    const auto text = files.find(path);
    if (text == files.end()) return std::nullopt;
    const source::SourceFile file = source::MakeSourceFile(path, text->second).value();
    return SettingsText{.tree = ReadYaml(file, source::FileId{0}).tree, .package = PackageIn(text->second)};
  });
}

std::string Found(const launch::SettingsFile& file, const launch::SettingKeys& keys) {
  const std::optional<launch::WrittenSetting> setting = file.Find(keys);
  return setting ? setting->text : "?";
}

const Files kFiles = {{"conf/trainer/ddp.yaml", "devices: 8\n"}, {"conf/trainer/one.yaml", "devices: 1\n"}};

Files With(const std::string& train, Files more = {}) {
  Files files = kFiles;
  files["conf/train.yaml"] = train;
  files.merge(more);
  return files;
}

TEST(ComposeSettingsTest, AnOptionStandsBelowItsGroup) {
  EXPECT_EQ(Found(Composed(With("defaults: [trainer: ddp, _self_]\nlr: 0.1\n")), {"trainer", "devices"}), "8");
  EXPECT_EQ(Found(Composed(With("defaults: [trainer: ddp, _self_]\nlr: 0.1\n")), {"lr"}), "0.1");
}

TEST(ComposeSettingsTest, WhatComesLaterCountsMore) {
  EXPECT_EQ(Found(Composed(With("defaults: [trainer: ddp, _self_]\ntrainer: {devices: 2}\n")), {"trainer", "devices"}), "2");
  EXPECT_EQ(Found(Composed(With("defaults: [_self_, trainer: ddp]\ntrainer: {devices: 2}\n")), {"trainer", "devices"}), "8");
  // Without `_self_` that depends on the version of Hydra.
  EXPECT_EQ(Found(Composed(With("defaults: [trainer: ddp]\ntrainer: {devices: 2}\n")), {"trainer", "devices"}), "?");
}

TEST(ComposeSettingsTest, PackagesPutAFileElsewhere) {
  EXPECT_EQ(Found(Composed(With("defaults: [trainer@fit: one, _self_]\n")), {"fit", "devices"}), "1");
  EXPECT_EQ(Found(Composed(With("defaults: [trainer@_global_: one, _self_]\n")), {"devices"}), "1");
  const Files own = {{"conf/experiment/a.yaml", "# @package _global_\ntrainer: {devices: 4}\n"}};
  EXPECT_EQ(Found(Composed(With("defaults: [trainer: ddp, experiment: a, _self_]\n", own)), {"trainer", "devices"}), "4");
}

TEST(ComposeSettingsTest, WhatIsNotThereOrIsOverriddenIsUnknown) {
  EXPECT_EQ(Found(Composed(With("defaults: [trainer: missing, _self_]\nlr: 1\n")), {"trainer", "devices"}), "?");
  EXPECT_EQ(Found(Composed(With("defaults: [optional trainer: missing, _self_]\nlr: 1\n")), {"lr"}), "1");
  EXPECT_EQ(Found(Composed(With("defaults: [trainer: ddp, override trainer: one, _self_]\n")), {"trainer", "devices"}), "?");
  EXPECT_EQ(Found(Composed(With("defaults: [trainer: '${kind}', _self_]\n")), {"trainer", "devices"}), "?");
}

TEST(ComposeSettingsTest, FilesThatNameOneAnotherEnd) {
  const Files circle = {{"conf/a.yaml", "defaults: [b, b]\nx: 1\n"}, {"conf/b.yaml", "defaults: [a, a]\ny: 2\n"}};
  EXPECT_EQ(Found(Composed(circle, "a"), {"x"}), "?");
}

}  // namespace
}  // namespace allranks::launch_files
