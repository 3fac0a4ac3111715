#include "driver/server/documents.h"

#include <gmock/gmock.h>

#include "driver/server/json_rpc.h"

namespace allranks::server {
namespace {

constexpr const char* kUri = "file:///w/a.py";

Json Edit(uint32_t line, uint32_t from, uint32_t to, const std::string& text) {
  return {{"range", WriteRange({{line, from}, {line, to}})}, {"text", text}};
}

class DocumentsTest : public testing::TestWithParam<ColumnUnit> {
 protected:
  void Open(const std::string& text) {
    documents_.SetEncoding(GetParam());
    documents_.Open({{"uri", kUri}, {"version", 1}, {"text", text}});
  }
  void Change(const Json& changes) { documents_.Change({{"uri", kUri}, {"version", 2}}, changes); }
  std::string Text() const { return documents_.Find(kUri)->file.text; }
  // The column behind one character outside the basic plane and one of two bytes.
  uint32_t Behind() const {
    switch (GetParam()) {
      case ColumnUnit::Utf8: return 6;
      case ColumnUnit::Utf16: return 3;
      case ColumnUnit::CodePoints: return 2;
    }
    return 0;
  }
  Documents documents_;
};

TEST_P(DocumentsTest, ColumnsCountInTheUnitAgreedOn) {
  Open("x\n😀éb\n");
  Change(Json::array({Edit(1, Behind(), Behind() + 1, "c")}));
  EXPECT_EQ(Text(), "x\n😀éc\n");
}

TEST_P(DocumentsTest, ChangesBuildOnOneAnother) {
  Open("one\ntwo\n");
  Change(Json::array({Edit(0, 0, 3, "1\n2"), Edit(1, 1, 1, "x")}));
  EXPECT_EQ(Text(), "1\n2x\ntwo\n");
}

TEST_P(DocumentsTest, PlacesBehindTheEndMeanTheEnd) {
  Open("a\nb");
  Change(Json::array({Edit(0, 90, 99, "!"), Edit(70, 0, 0, "?")}));
  EXPECT_EQ(Text(), "a!\nb?");
}

TEST_P(DocumentsTest, AWrongChangeChangesNothing) {
  Open("a\n");
  const Json backwards = {{"range", WriteRange({{1, 0}, {0, 0}})}, {"text", ""}};
  for (const Json& wrong : {backwards, Json{{"text", 7}}, Json{{"range", 1}, {"text", ""}}, Json(nullptr)}) {
    EXPECT_THROW(Change(Json::array({Edit(0, 0, 1, "z"), wrong})), RequestError) << wrong;
  }
  EXPECT_EQ(Text(), "a\n");
}

TEST_P(DocumentsTest, WhatIsNotOpenCannotChange) {
  EXPECT_THROW(Change(Json::array()), RequestError);
  EXPECT_THROW(documents_.Close({{"uri", kUri}}), RequestError);
}

INSTANTIATE_TEST_SUITE_P(Units, DocumentsTest,
                         testing::Values(ColumnUnit::Utf8, ColumnUnit::Utf16, ColumnUnit::CodePoints));

TEST(NotebookDocumentsTest, CellsBecomeTheBytesOfTheFile) {
  Documents documents;
  const auto cell = [](const char* uri, int kind) { return Json{{"kind", kind}, {"document", uri}}; };
  const auto text = [](const char* uri, const char* source) {
    return Json{{"uri", uri}, {"version", 1}, {"languageId", "python"}, {"text", source}};
  };
  documents.OpenNotebook({{"notebookDocument", {{"uri", "file:///w/n.ipynb"}, {"cells", {cell("c:1", 2), cell("c:2", 1)}}}},
                          {"cellTextDocuments", {text("c:1", "import os\n"), text("c:2", "# text")}}});
  const Json structure = {{"array", {{"start", 1}, {"deleteCount", 1}, {"cells", Json::array({cell("c:3", 2)})}}},
                          {"didOpen", Json::array({text("c:3", "x = 1")})},
                          {"didClose", Json::array({{{"uri", "c:2"}}})}};
  documents.ChangeNotebook({{"notebookDocument", {{"uri", "file:///w/n.ipynb"}}}, {"change", {{"cells", {{"structure", structure}}}}}});
  EXPECT_EQ(documents.CellUri("/w/n.ipynb", 2), "c:3");
  const Json bytes = Json::parse(documents.Overlays().at("/w/n.ipynb"));
  EXPECT_EQ(bytes["cells"][0]["source"], "import os\n");
  EXPECT_EQ(bytes["cells"][1]["source"], "x = 1");
}

}  // namespace
}  // namespace allranks::server
