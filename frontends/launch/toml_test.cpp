#include <gtest/gtest.h>

#include "frontends/launch/yaml.h"

namespace allranks::launch_files {
namespace {

using launch::ConfigId;

source::SourceFile FileOf(const std::string& text) { return source::MakeSourceFile("conf.toml", text).value(); }

// What stands in the file where a value, or its key, is said to.
std::string Placed(const std::string& text, source::Span span) { return text.substr(span.begin, span.end - span.begin); }

TEST(TomlTest, ValuesHaveTheirPlaces) {
  const std::string text = "name = \"größe\"  # é\n[trainer]\ndevices = 8\nsampler = false\nlr = 0.1\nsteps = [1, 22]\n";
  const source::SourceFile file = FileOf(text);
  const ConfigText config = ReadToml(file, source::FileId{0});
  const ConfigId root = config.tree.root();
  EXPECT_TRUE(config.problems.empty());
  const ConfigId devices = config.tree.Find(root, "trainer.devices");
  ASSERT_TRUE(devices);
  EXPECT_EQ(config.tree.Integer(devices), 8);
  EXPECT_EQ(Placed(text, config.tree[devices].span), "8");
  EXPECT_EQ(Placed(text, config.tree[devices].key_span), "devices");
  EXPECT_EQ(config.tree.Boolean(config.tree.Find(root, "trainer.sampler")), false);
  EXPECT_EQ(Placed(text, config.tree[config.tree.Find(root, "trainer.lr")].span), "0.1");
  EXPECT_EQ(Placed(text, config.tree[config.tree.Find(root, "name")].span), "\"größe\"");
  const ConfigId steps = config.tree.Find(root, "trainer.steps");
  ASSERT_EQ(config.tree[steps].children.size(), 2u);
  EXPECT_EQ(Placed(text, config.tree[config.tree[steps].children[1]].span), "22");
}

TEST(TomlTest, TablesMayBeWrittenInOneLineOrByDottedKeys) {
  const ConfigText config = ReadToml(FileOf("trainer.devices = 2\ndata = {workers = 4}\n"), source::FileId{0});
  EXPECT_EQ(config.tree.Integer(config.tree.Find(config.tree.root(), "trainer.devices")), 2);
  EXPECT_EQ(config.tree.Integer(config.tree.Find(config.tree.root(), "data.workers")), 4);
}

TEST(TomlTest, AMistakeIsOneProblemAtItsPlace) {
  const std::string text = "a = 1\nb = \n";
  const ConfigText config = ReadToml(FileOf(text), source::FileId{0});
  EXPECT_TRUE(config.tree.empty());
  ASSERT_EQ(config.problems.size(), 1u);
  EXPECT_GE(config.problems[0].span.begin, text.find('b'));
}

}  // namespace
}  // namespace allranks::launch_files
