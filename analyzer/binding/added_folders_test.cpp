#include "analyzer/binding/added_folders.h"

#include <gtest/gtest.h>

namespace allranks::binding {
namespace {

class AddedFoldersTest : public testing::Test {
 protected:
  std::string FileOf(std::string_view from_path, const AddedFolder& added, std::string_view dotted) const {
    return FileInAddedFolder(graph_, from_path, {&added, 1}, dotted);
  }

 private:
  const ModuleGraph graph_{{"lib/nets.py", "main.py", "src/lib/sets/__init__.py", "src/main.py", "tools/run.py"}, {"", "src"}};
};

// Beside the file, and in the folders around it.
TEST_F(AddedFoldersTest, LookedForFromTheFileUp) {
  EXPECT_EQ(FileOf("main.py", {"lib"}, "nets"), "lib/nets.py");
  EXPECT_EQ(FileOf("tools/run.py", {"../lib/"}, "nets"), "lib/nets.py");
  EXPECT_EQ(FileOf("src/main.py", {"./lib"}, "sets"), "src/lib/sets/__init__.py");
  EXPECT_EQ(FileOf("main.py", {"lib"}, "sets"), "");
}

// `os.path.join(root, "src", "lib")`
TEST_F(AddedFoldersTest, TextsOfOneCallAreJoined) {
  EXPECT_EQ(FileOf("main.py", {"src", "lib"}, "sets"), "src/lib/sets/__init__.py");
}

// What the folders around are called, or a folder of the machine, leads to none of the project.
TEST_F(AddedFoldersTest, FoldersThatAreNotNamed) {
  EXPECT_EQ(FileOf("tools/run.py", {".."}, "nets"), "");
  EXPECT_EQ(FileOf("main.py", {"/opt/lib"}, "nets"), "");
  EXPECT_EQ(FileOf("main.py", {}, "nets"), "");
}

}  // namespace
}  // namespace allranks::binding
