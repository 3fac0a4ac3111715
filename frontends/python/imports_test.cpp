#include "frontends/python/imports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allranks::python {
namespace {

// "import a.b", "from ..m import n, k" of all that is found, one a line.
std::string Scanned(std::string_view text) {
  std::string result;
  for (const ScannedImport& import : ScanImports(text)) {
    result += import.names.empty() ? "import " : "from ";
    result += std::string(import.level, '.') + import.module;
    for (size_t i = 0; i < import.names.size(); ++i) result += (i == 0 ? " import " : ", ") + import.names[i];
    result += '\n';
  }
  return result;
}

TEST(ImportsTest, Plain) {
  EXPECT_EQ(Scanned("import a\nimport b.c as d, e . f,g as h\n"),
            "import a\nimport b.c\nimport e.f\nimport g\n");
}

TEST(ImportsTest, From) {
  EXPECT_EQ(Scanned("from a.b import c as d, e\nfrom f import *\n"),
            "from a.b import c, e\nfrom f import *\n");
  EXPECT_EQ(Scanned("from a import (b,  # why\n   c as d,\n\n e)\n"), "from a import b, c, e\n");
  EXPECT_EQ(Scanned("from a import b, \\\n  c\nfrom d \\\n  import e\r\nfrom f import\\\r\n g"),
            "from a import b, c\nfrom d import e\nfrom f import g\n");
}

TEST(ImportsTest, Relative) {
  EXPECT_EQ(
      Scanned(
          "from . import a\nfrom ..b import c\nfrom .. d.e import f\nfrom ...g import h\nfrom .import i\n"),
      "from . import a\nfrom ..b import c\nfrom ..d.e import f\nfrom ...g import h\nfrom . import i\n");
}

TEST(ImportsTest, WhereStatementsMayStand) {
  EXPECT_EQ(Scanned("def f():\n\timport a; import b\nif x: from c import d\ntry: import e\nexcept E: pass\n"),
            "import a\nimport b\nfrom c import d\nimport e\n");
  EXPECT_EQ(Scanned("import a\rimport b\r\nimport c"), "import a\nimport b\nimport c\n");
}

TEST(ImportsTest, OtherWords) {
  EXPECT_EQ(Scanned("important = 1\nreimport = 2\n# we import x\nx = 'an import'\nimport_ = 3\nx.import\n"),
            "");
  EXPECT_EQ(Scanned("yield from a import b\n"), "");
}

TEST(ImportsTest, CutOff) {
  for (const char* text :
       {"import", "import ", "from", "from a", "from a import", "from a import (", "from . import ",
        "from a import (b", "import a,", "import a.", "from a import b as", "  import", "from import a"}) {
    SCOPED_TRACE(text);
    EXPECT_LE(ScanImports(text).size(), 1u);
  }
}

using testing::ElementsAre;

TEST(ImportsTest, FoldersThatAreAdded) {
  EXPECT_THAT(ScanAddedFolders("sys.path.append('lib')\nsys.path.insert(\n  0, os.path.join(root, \"src\", 'parts'))\n"),
              ElementsAre(ElementsAre("lib"), ElementsAre("src", "parts")));
  EXPECT_THAT(ScanAddedFolders("sys.path.append(root)\nprint(sys.path, 'x')\nsys.path.remove('lib')\n"), ElementsAre(ElementsAre()));
  for (const char* text : {"sys.path.append(", "sys.path.append('lib", "sys.path.insert(0, ("}) EXPECT_LE(ScanAddedFolders(text).size(), 1u);
}

}  // namespace
}  // namespace allranks::python
