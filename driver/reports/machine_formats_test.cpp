#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "driver/reports/example_report.h"
#include "driver/reports/json_writer.h"
#include "driver/reports/uri.h"
#include "witness/json.h"

namespace allranks::reports {
namespace {

using Json = nlohmann::json;

TEST(JsonTest, TheDocumentedShape) {
  const Json json = Json::parse(RenderJson(MakeExample().report()));
  EXPECT_EQ(json["version"], 1);
  const Json& finding = json["findings"][0];
  EXPECT_EQ(finding["code"], "AR101");
  EXPECT_EQ(finding["severity"], "error");
  EXPECT_EQ(finding["confidence"], "certain");
  EXPECT_EQ(finding["location"], Json::parse(R"({"path": "train loop.py", "start": {"line": 6, "column": 9},
                                                 "end": {"line": 6, "column": 20}})"));
  EXPECT_EQ(finding["function"], "save");
  EXPECT_EQ(finding["labels"][4]["location"]["path"], "helpers.py");
  EXPECT_EQ(finding["labels"][0]["role"], "condition");
  EXPECT_TRUE(witness::ReadJson(finding["witness"].dump()).witness.has_value());
  EXPECT_EQ(json["ledger"]["unknownReasons"][0]["reason"], "group unknown");
  EXPECT_EQ(json["errors"], Json::array());
}

TEST(JsonTest, AnyBytesGiveValidJson) {
  EXPECT_EQ(JsonQuoted("a\"\\\n\x01\xff\u2028"), "\"a\\\"\\\\\\n\\u0001\xef\xbf\xbd\\u2028\"");
}

TEST(UriTest, PercentEncoding) {
  EXPECT_EQ(UriOf("a/b c%#?.py"), "a/b%20c%25%23%3F.py");
  EXPECT_EQ(UriOf("/x/\xc3\xa9.py"), "file:///x/%C3%A9.py");
  EXPECT_EQ(UriOf("a:b.py"), "a%3Ab.py");
  EXPECT_EQ(UriOf("../a.py"), "../a.py");
}

TEST(SarifTest, PlacesFlowsAndRules) {
  const Json json = Json::parse(RenderSarif(MakeExample().report()));
  EXPECT_EQ(json["version"], "2.1.0");
  const Json& run = json["runs"][0];
  const Json& result = run["results"][0];
  const Json& rule = run["tool"]["driver"]["rules"][result["ruleIndex"].get<size_t>()];
  EXPECT_EQ(rule["id"], "AR101");
  const Json& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "train%20loop.py");
  EXPECT_EQ(place["region"], Json::parse(R"({"startLine": 6, "startColumn": 9, "endLine": 6, "endColumn": 20})"));
  EXPECT_EQ(result["relatedLocations"].size(), 5u);
  EXPECT_EQ(result["properties"]["confidence"], "certain");
  const Json& flows = result["codeFlows"][0]["threadFlows"];
  ASSERT_EQ(flows.size(), 2u);
  EXPECT_EQ(flows[0]["id"], "rank 0");
  EXPECT_EQ(flows[1]["locations"][0]["location"]["message"]["text"],
            "ranks 1-3: `torch.distributed.all_reduce`, waits here");
}

TEST(SarifTest, RanksThatDoNothingHaveNoFlow) {
  Example example = MakeExample();
  example.findings[0].witness->ops[1].clear();
  const Json json = Json::parse(RenderSarif(example.report()));
  EXPECT_EQ(json["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"].size(), 1u);
}

TEST(SarifTest, ThePlaceOfACallOfSeveralLinesIsItsFirst) {
  Example example = MakeExample();
  example.findings[0].span.end = static_cast<uint32_t>(example.files[source::FileId{0}].text.size());
  const Json result = Json::parse(RenderSarif(example.report()))["runs"][0]["results"][0];
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"],
            Json::parse(R"({"startLine": 6, "startColumn": 9, "endLine": 6, "endColumn": 20})"));
}

TEST(SarifTest, TheMessageLinksWhatItRestsOnAndCodeIsNoLink) {
  Example example = MakeExample();
  example.findings[0].message.args[1] = "ranks[0](1)";
  const Json result = Json::parse(RenderSarif(example.report()))["runs"][0]["results"][0];
  const std::string text = result["message"]["text"];
  EXPECT_TRUE(text.starts_with("Only rank 0 reaches `ranks[0\\](1)`. See [the condition](1), [why it varies](2), ")) << text;
  EXPECT_TRUE(text.ends_with(". Call it on every rank.")) << text;
}

TEST(SarifTest, AcceptedFindingsAreThereWithTheReasonWhereAskedFor) {
  Example example = MakeExample();
  const std::vector<findings::Suppressed> suppressed = {{example.findings[0], "one rank only", example.SpanOf("# only one writes")}};
  example.findings.clear();
  Report report = example.report();
  report.suppressed = suppressed;
  EXPECT_TRUE(Json::parse(RenderSarif(report))["runs"][0]["results"].empty());
  EXPECT_EQ(Json::parse(RenderSarif(report))["runs"][0]["properties"]["suppressed"], 1);
  report.sarif_suppressed = true;
  const Json result = Json::parse(RenderSarif(report))["runs"][0]["results"][0];
  EXPECT_EQ(result["suppressions"][0]["kind"], "inSource");
  EXPECT_EQ(result["suppressions"][0]["justification"], "one rank only");
}

TEST(SarifTest, BaselineAndCategory) {
  Example example = MakeExample();
  const std::vector<findings::Finding> known = example.findings;
  Report report = example.report();
  report.known = known;
  report.has_baseline = true;
  report.category = "gpu/";
  EXPECT_EQ(Json::parse(RenderSarif(report))["runs"][0]["results"].size(), 1);
  report.sarif_known = true;
  const Json run = Json::parse(RenderSarif(report))["runs"][0];
  EXPECT_EQ(run["results"][0]["baselineState"], "new");
  EXPECT_EQ(run["results"][1]["baselineState"], "unchanged");
  EXPECT_EQ(run["automationDetails"]["id"], "gpu/");
}

// GitHub refuses more. The least severe go, and that is told.
TEST(SarifTest, WhatIsTooMuchIsCut) {
  constexpr size_t kMost = 25000;
  Example example = MakeExample();
  const findings::Finding small{.code = "AR003", .severity = findings::Severity::Info, .span = example.findings[0].span,
                                .message = {"m", {}}};
  std::vector<findings::Finding> findings(kMost, small);
  findings.push_back(example.findings[0]);
  example.findings = std::move(findings);
  const Json run = Json::parse(RenderSarif(example.report()))["runs"][0];
  EXPECT_EQ(run["results"].size(), kMost);
  EXPECT_EQ(run["results"][0]["ruleId"], "AR101");
  EXPECT_EQ(run["invocations"][0]["toolExecutionNotifications"][0]["level"], "warning");
}

TEST(SarifTest, WhatCouldNotBeDoneIsANotification) {
  const Example example = MakeExample();
  Report report = example.report();
  report.errors = {"nowhere.py: cannot open"};
  const Json invocation = Json::parse(RenderSarif(report))["runs"][0]["invocations"][0];
  EXPECT_EQ(invocation["executionSuccessful"], false);
  EXPECT_EQ(invocation["toolExecutionNotifications"][0]["message"]["text"], "nowhere.py: cannot open");
}

}  // namespace
}  // namespace allranks::reports
