#include "driver/pipeline/fingerprint.h"

#include <gtest/gtest.h>

#include <set>

namespace allranks::pipeline {
namespace {

using findings::Finding;

std::vector<std::string> Names(const std::string& text, const std::string& function = "save") {
  source::SourceFiles files;
  const source::FileId file = files.Add(*source::MakeSourceFile("a.py", text));
  std::vector<Finding> findings;
  for (size_t at = text.find("barrier"); at != std::string::npos; at = text.find("barrier", at + 1)) {
    const auto begin = static_cast<uint32_t>(at);
    const auto end = static_cast<uint32_t>(text.find(')', at) + 1);
    findings.push_back({.code = "AR101", .span = {file, begin, end}, .message = {"found", {}}, .function = function});
  }
  std::vector<Finding*> pointers;
  for (Finding& finding : findings) pointers.push_back(&finding);
  NameFindings(files, PathMap("/w", "/w"), pointers);
  std::vector<std::string> names;
  for (const Finding& finding : findings) names.push_back(finding.fingerprint);
  return names;
}

TEST(FingerprintTest, SurvivesMovedAndIndentedLines) {
  EXPECT_EQ(Names("barrier(a, b)\n"), Names("x = 1\n\n    barrier(a,\n            b)\n"));
}

TEST(FingerprintTest, TellsEqualOnesApart) {
  const std::vector<std::string> names = Names("barrier()\nbarrier()\nbarrier(1)\n");
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 3u);
}

TEST(FingerprintTest, TheFunctionCounts) { EXPECT_NE(Names("barrier()"), Names("barrier()", "load")); }

}  // namespace
}  // namespace allranks::pipeline
