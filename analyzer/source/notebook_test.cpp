#include "analyzer/source/notebook.h"

#include <gtest/gtest.h>

namespace allranks::source {
namespace {

TEST(NotebookTest, CodeCellsOneAfterTheOther) {
  const std::string json = R"js({"nbformat": 4, "cells": [
      {"cell_type": "markdown", "source": "# Title"},
      {"cell_type": "code", "source": ["import a\n", "a.b()"], "outputs": [{"data": "x"}]},
      {"cell_type": "raw", "source": "no"},
      {"cell_type": "code", "source": "c()\n"}]})js";
  const SourceFile file = MakeSourceFile("a.ipynb", json).value();
  EXPECT_EQ(file.text, "import a\na.b()\nc()\n");
  ASSERT_TRUE(file.is_notebook());
  ASSERT_EQ(file.cells.size(), 2u);
  EXPECT_EQ(file.cells[0].first_line, 0u);
  EXPECT_EQ(file.cells[0].number, 2u);
  EXPECT_EQ(file.cells[1].first_line, 2u);
  EXPECT_EQ(file.cells[1].number, 4u);
}

TEST(NotebookTest, FirstLinesAreLinesOfTheText) {
  const std::string json = R"js({"cells": [
      {"cell_type": "code", "source": "a\r\nb\rc"},
      {"cell_type": "code", "source": ""},
      {"cell_type": "code", "source": "d"}]})js";
  const SourceFile file = MakeSourceFile("a.ipynb", json).value();
  ASSERT_EQ(file.cells.size(), 3u);
  EXPECT_EQ(LineText(file, file.cells[0].first_line), "a");
  EXPECT_EQ(LineText(file, file.cells[1].first_line), "");
  EXPECT_EQ(LineText(file, file.cells[2].first_line), "d");
}

TEST(NotebookTest, OlderFormat) {
  const base::Result<NotebookText> notebook = ReadNotebook(
      R"({"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": ["a\n", "b"], "language": "python"}]}]})");
  ASSERT_TRUE(notebook);
  EXPECT_EQ(notebook->text, "a\nb\n");
}

TEST(NotebookTest, OtherLanguages) {
  const base::Result<NotebookText> notebook = ReadNotebook(
      R"({"metadata": {"kernelspec": {"language": "R"}}, "cells": [{"cell_type": "code", "source": "a <- 1"}]})");
  ASSERT_TRUE(notebook);
  EXPECT_EQ(notebook->text, "");
  EXPECT_TRUE(notebook->cells.empty());
}

std::string ErrorOf(std::string_view json) {
  const base::Result<SourceFile> file = MakeSourceFile("dir/a.ipynb", std::string(json));
  return file ? "" : file.error().message;
}

TEST(NotebookTest, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf("").substr(0, 43), "dir/a.ipynb: not a notebook: parse error at");
  EXPECT_EQ(ErrorOf("{\"cells\": [}").substr(0, 60),
            "dir/a.ipynb: not a notebook: parse error at line 1, column 1");
  EXPECT_EQ(ErrorOf("[]"), "dir/a.ipynb: not a notebook: the JSON is no object");
  EXPECT_EQ(ErrorOf("{}"), "dir/a.ipynb: not a notebook: it has no list `cells`");
  EXPECT_EQ(ErrorOf("{\"cells\": [\"\xff\"]}").substr(0, 43), "dir/a.ipynb: not a notebook: parse error at");
  EXPECT_NE(ErrorOf(std::string(100'000, '[')), "");
  EXPECT_LT(ErrorOf("{\"cells\": [\"" + std::string(1'000'000, 'A')).size(), 200u) << "a picture cut off";
}

TEST(NotebookTest, OddCellsAreSkipped) {
  const base::Result<NotebookText> notebook = ReadNotebook(
      R"({"cells": [1, null, {}, {"cell_type": 3}, {"cell_type": "code"}, {"cell_type": "code", "source": [1, "a"]}]})");
  ASSERT_TRUE(notebook);
  EXPECT_EQ(notebook->text, "\na\n");
}

TEST(MagicsTest, LineMagicsBecomeComments) {
  EXPECT_EQ(WithoutMagics("%matplotlib inline\n!pip install x\n?print\nprint?\nx.y??\na = 1"),
            "# %matplotlib inline\n# !pip install x\n# ?print\n# print?\n# x.y??\na = 1");
}

TEST(MagicsTest, BlocksKeepAStatement) {
  EXPECT_EQ(WithoutMagics("if a:\n    !ls\n"), "if a:\n    pass  # !ls\n");
}

TEST(MagicsTest, AssignedMagics) {
  EXPECT_EQ(WithoutMagics("files = !ls *.py\na, b = %env X\n"),
            "files = None  # !ls *.py\na, b = None  # %env X\n");
  EXPECT_EQ(WithoutMagics("a = b != c\nf(a=!b)\n"), "a = b != c\nf(a=!b)\n");
}

TEST(MagicsTest, ContinuedMagics) {
  EXPECT_EQ(WithoutMagics("!pip install \\\n  a \\\n  b\nc = 1\n"),
            "# !pip install \\\n#   a \\\n#   b\nc = 1\n");
}

TEST(MagicsTest, CellMagics) {
  EXPECT_EQ(WithoutMagics("%%bash\nls\n\ncd ..\n"), "# %%bash\n# ls\n\n# cd ..\n");
  EXPECT_EQ(WithoutMagics("\n%%time\na = 1\n!ls\n"), "\n# %%time\na = 1\n# !ls\n");
  EXPECT_EQ(WithoutMagics("%%capture out\na = 1\n"), "# %%capture out\na = 1\n");
}

TEST(MagicsTest, OnlyWhereAStatementMayStand) {
  const std::string_view code =
      "x = (a\n  % b)\ny = '''\n!no\n%no\n'''\nz = a \\\n  % b\nw = [  # (\n!c]\n# what?\nv = '?'\n";
  EXPECT_EQ(WithoutMagics(code), code);
}

TEST(MagicsTest, LinesStayLines) { EXPECT_EQ(WithoutMagics("%a\r\n!b\r%c\n"), "# %a\r\n# !b\r# %c\n"); }

}  // namespace
}  // namespace allranks::source
