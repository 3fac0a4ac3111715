#include "analyzer/source/notebook_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/source/notebook.h"

namespace allranks::source {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kNotebook = R"({
 "cells": [
  {"cell_type": "markdown", "source": ["# a"]},
  {
   "cell_type": "code",
   "metadata": {"source": "none"},
   "outputs": [{"text": ["source"], "cells": [{"cell_type": "code", "source": "no"}]}],
   "source": [
    "import os\n",
    "x = \"\\n\"\n",
    "y = 1"
   ]
  },
  {"source": "a = 1\nb = 2\n", "cell_type": "code"},
  {"cell_type": "code", "source": []}
 ],
 "metadata": {}, "nbformat": 4, "nbformat_minor": 5
})";

TEST(NotebookJsonTest, FindsTheSourcesOfCodeCells) {
  const std::vector<CellJson> cells = LocateCells(kNotebook);
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[0].strings.size(), 3u);
  EXPECT_TRUE(cells[0].is_list);
  const JsonExtent one = cells[1].strings.at(0);
  EXPECT_EQ(DecodedString(kNotebook.substr(one.begin, one.end - one.begin)), "a = 1\nb = 2\n");
  EXPECT_TRUE(cells[2].strings.empty());
}

TEST(NotebookJsonTest, SaysWhereEachLineStands) {
  const base::Result<NotebookText> text = ReadNotebook(kNotebook);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->text, "import os\nx = \"\\n\"\ny = 1\na = 1\nb = 2\n\n");
  EXPECT_THAT(LinesInJson(kNotebook), ElementsAre(9, 10, 11, 14, 14, 15, 15));
}

}  // namespace
}  // namespace allranks::source
