#include "driver/fixes/apply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allranks::fixes {
namespace {

using findings::Applicability;
using findings::Finding;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr source::FileId kFile{0};

class Apply : public ::testing::Test {
 protected:
  void Text(std::string bytes, std::string path = "a.py") {
    files_.Add(*source::MakeSourceFile(std::move(path), std::move(bytes)));
  }
  void Edits(std::vector<findings::Edit> edits, Applicability applicability = Applicability::Safe) {
    Finding finding{.code = "AR201", .span = edits[0].span};
    finding.fixes.push_back({.title = "mend", .applicability = applicability, .edits = std::move(edits)});
    findings_.push_back(std::move(finding));
  }
  static findings::Edit At(uint32_t begin, uint32_t end, std::string text) { return {{kFile, begin, end}, std::move(text)}; }
  Application Run(Applicability least = Applicability::Safe) { return ApplyFixes(files_, findings_, least); }

  source::SourceFiles files_;
  std::vector<Finding> findings_;
};

TEST_F(Apply, EditsAnywhereInAFile) {
  Text("one two three\n");
  Edits({At(8, 13, "3")});
  Edits({At(0, 3, "1")});
  EXPECT_EQ(Run().texts.at("a.py"), "1 two 3\n");
}

TEST_F(Apply, KeepsByteOrderMarkLineEndsAndStrayBytes) {
  Text("\xef\xbb\xbfone\r\n\xff\r\n");
  Edits({At(0, 3, "1")});
  EXPECT_EQ(Run().texts.at("a.py"), "\xef\xbb\xbf" "1\r\n\xff\r\n");
}

TEST_F(Apply, AFixIsAppliedWholeOrNotAtAll) {
  Text("one two three\n");
  Edits({At(0, 3, "1")});
  Edits({At(2, 5, "x"), At(8, 13, "3")});
  const Application done = Run();
  EXPECT_EQ(done.texts.at("a.py"), "1 two three\n");
  EXPECT_EQ(done.postponed, 1u);
  EXPECT_EQ(done.applied.size(), 1u);
}

TEST_F(Apply, ALineBeforeOneThatIsTakenAway) {
  Text("one\ntwo\nthree\n");
  Edits({At(4, 8, ""), At(14, 14, "four\n")});
  Edits({At(4, 4, "1.5\n")});
  EXPECT_EQ(Run().texts.at("a.py"), "one\n1.5\nthree\nfour\n");
}

TEST_F(Apply, OneImportForTwoFixes) {
  Text("a\nb\n");
  Edits({At(0, 0, "import os\n"), At(0, 1, "x")});
  Edits({At(0, 0, "import os\n"), At(2, 3, "y")});
  EXPECT_EQ(Run().texts.at("a.py"), "import os\nx\ny\n");
}

TEST_F(Apply, UnsafeFixesOnlyWhenAskedFor) {
  Text("one\n");
  Edits({At(0, 3, "1")}, Applicability::Unsafe);
  EXPECT_THAT(Run().texts, IsEmpty());
  EXPECT_EQ(Run(Applicability::Unsafe).texts.at("a.py"), "1\n");
}

TEST_F(Apply, NotebooksNeedTheirJson) {
  const std::string json = R"({"cells": [{"cell_type": "code", "metadata": {}, "source": ["one\n", "two"]}], "nbformat": 4, "metadata": {}})";
  Text(json, "a.ipynb");
  Edits({At(0, 3, "1")});
  EXPECT_THAT(Run().texts, IsEmpty());
  const Application done = ApplyFixes(files_, findings_, Applicability::Safe, [&](const std::string&) -> base::Result<std::string> { return json; });
  EXPECT_EQ(done.texts.at("a.ipynb"), R"({"cells": [{"cell_type": "code", "metadata": {}, "source": ["1\n", "two"]}], "nbformat": 4, "metadata": {}})");
}

}  // namespace
}  // namespace allranks::fixes
