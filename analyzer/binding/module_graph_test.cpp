#include <gtest/gtest.h>

#include "analyzer/binding/program.h"

namespace allranks::binding {
namespace {

ModuleGraph GraphOf(std::vector<std::string> paths, std::string root_name) { return ModuleGraph(std::move(paths), {"", "src"}, std::move(root_name)); }

// A checkout that is the package itself is imported from the folder around it, by the name of its folder.
TEST(ModuleGraphTest, RootThatIsAPackage) {
  const ModuleGraph graph = GraphOf({"__init__.py", "core/__init__.py", "core/run.py", "train.py"}, "lab");
  EXPECT_EQ(graph.Resolve("train.py", 0, "lab.core.run"), "core/run.py");
  EXPECT_EQ(graph.Resolve("core/run.py", 0, "lab.core"), "core/__init__.py");
  EXPECT_EQ(graph.Resolve("core/run.py", 0, "lab"), "__init__.py");
}

TEST(ModuleGraphTest, NamesOfOthers) {
  const ModuleGraph package = GraphOf({"__init__.py", "core/run.py", "train.py"}, "lab");
  EXPECT_EQ(package.Resolve("train.py", 0, "other.core.run"), "");
  EXPECT_EQ(package.Resolve("train.py", 0, "labs.core.run"), "");
  EXPECT_EQ(package.Resolve("train.py", 0, "lab.core.missing"), "");
  // Without `__init__.py` the folder is none that is imported.
  EXPECT_EQ(GraphOf({"core/run.py", "train.py"}, "lab").Resolve("train.py", 0, "lab.core.run"), "");
}

}  // namespace
}  // namespace allranks::binding
