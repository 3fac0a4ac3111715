#include "analyzer/launch/settings_file.h"

#include <gtest/gtest.h>

namespace allranks::launch {
namespace {

// `{a: {b: TEXT}}`
ConfigTree Tree(const std::string& a, const std::string& b, const std::string& text) {
  ConfigTree tree;
  const ConfigId root = tree.Add({.kind = ConfigKind::Map, .key = "", .text = ""});
  const ConfigId map = tree.Add({.kind = ConfigKind::Map, .key = a, .text = "", .parent = root});
  tree.Add({.kind = ConfigKind::Number, .key = b, .text = text, .parent = map});
  return tree;
}

std::string Found(const SettingsFile& file, SettingKeys keys) {
  const std::optional<WrittenSetting> setting = file.Find(keys);
  return setting ? setting->text : "?";
}

TEST(SettingsFileTest, LaterLayersCountMore) {
  SettingsFile file;
  file.Add({.package = {}, .tree = Tree("trainer", "devices", "1")});
  file.Add({.package = {}, .tree = Tree("trainer", "nodes", "2")});
  file.Add({.package = {}, .tree = Tree("trainer", "devices", "8")});
  EXPECT_EQ(Found(file, {"trainer", "devices"}), "8");
  EXPECT_EQ(Found(file, {"trainer", "nodes"}), "2");
  EXPECT_EQ(Found(file, {"trainer", "epochs"}), "?");
}

TEST(SettingsFileTest, AnUnknownLayerHidesWhatIsBeforeItInItsPackage) {
  SettingsFile file;
  file.Add({.package = {}, .tree = Tree("trainer", "devices", "1")});
  file.Add({.package = {"trainer"}, .tree = {}, .is_unknown = true});
  EXPECT_EQ(Found(file, {"trainer", "devices"}), "?");
  file.Add({.package = {"other"}, .tree = Tree("x", "y", "3")});
  EXPECT_EQ(Found(file, {"other", "x", "y"}), "3");
}

TEST(SettingsFileTest, WithoutAnOrderBothHaveToAgree) {
  SettingsFile file;
  file.Add({.package = {}, .tree = Tree("trainer", "devices", "1")});
  file.Add({.package = {}, .tree = Tree("trainer", "devices", "8"), .has_no_order = true});
  EXPECT_EQ(Found(file, {"trainer", "devices"}), "?");
}

TEST(SettingsFileTest, InterpolationsAreUnknown) {
  SettingsFile file;
  file.Add({.package = {}, .tree = Tree("trainer", "devices", "${gpus}")});
  EXPECT_EQ(Found(file, {"trainer", "devices"}), "?");
}

}  // namespace
}  // namespace allranks::launch
