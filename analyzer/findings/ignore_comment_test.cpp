#include "analyzer/findings/ignore_comment.h"

#include <gtest/gtest.h>

namespace allranks::findings {
namespace {

// The file after `codes` were accepted at the first "barrier". Statements are given as texts, outer ones as `header|body`.
std::string Accept(const std::string& text, const std::vector<std::string>& statements, std::vector<std::string_view> codes = {"AR101"}) {
  source::SourceFiles files;
  const source::FileId id = files.Add(*source::MakeSourceFile("a.py", text));
  FileSyntax syntax{.file = id};
  for (const std::string& statement : statements) {
    const size_t bar = statement.find('|');
    const std::string header = statement.substr(0, bar);
    const std::string rest = bar == std::string::npos ? "" : statement.substr(bar + 1);
    const auto begin = static_cast<uint32_t>(text.find(header + rest));
    const auto header_end = static_cast<uint32_t>(begin + header.size());
    syntax.statements.push_back({begin, static_cast<uint32_t>(header_end + rest.size()), header_end});
  }
  if (const size_t at = text.find("# "); at != std::string::npos) {
    syntax.comments.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(std::min(text.find('\n', at), text.size())), 0});
  }
  const auto edit = IgnoreEdit(files[id], syntax, static_cast<uint32_t>(text.find("barrier")), std::move(codes), "known");
  if (!edit) return "nothing";
  return text.substr(0, edit->span.begin) + edit->replacement + text.substr(edit->span.end);
}

TEST(IgnoreCommentTest, AtTheEndOfTheLine) {
  EXPECT_EQ(Accept("  barrier()\n", {"barrier()"}), "  barrier()  # allranks: ignore[AR101] known\n");
  EXPECT_EQ(Accept("barrier()\r\n", {"barrier()"}, {"AR104", "AR101", "AR104"}),
            "barrier()  # allranks: ignore[AR101, AR104] known\r\n");
  EXPECT_EQ(Accept("if barrier():\n  x\n", {"if barrier()|:\n  x", "x"}), "if barrier():  # allranks: ignore[AR101] known\n  x\n");
}

TEST(IgnoreCommentTest, AboveAStatementThatGoesOn) {
  EXPECT_EQ(Accept("x\n  y = barrier(\n    1)\n", {"x", "y = barrier(\n    1)"}),
            "x\n  # allranks: ignore[AR101] known\n  y = barrier(\n    1)\n");
  EXPECT_EQ(Accept("y = \\\r\n  barrier()\r\n", {"y = \\\r\n  barrier()"}),
            "# allranks: ignore[AR101] known\r\ny = \\\r\n  barrier()\r\n");
}

TEST(IgnoreCommentTest, JoinsTheListThatIsThere) {
  EXPECT_EQ(Accept("barrier()  # allranks: ignore[AR104] old\n", {"barrier()"}),
            "barrier()  # allranks: ignore[AR104, AR101] old\n");
}

TEST(IgnoreCommentTest, LeavesOtherCommentsAlone) {
  EXPECT_EQ(Accept("barrier()  # noqa\n", {"barrier()"}), "# allranks: ignore[AR101] known\nbarrier()  # noqa\n");
}

TEST(IgnoreCommentTest, NothingWithoutAStatement) { EXPECT_EQ(Accept("barrier\n", {}), "nothing"); }

}  // namespace
}  // namespace allranks::findings
