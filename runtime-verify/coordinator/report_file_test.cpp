#include "runtime-verify/coordinator/report_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "witness/json.h"

namespace allranks::verify {
namespace {

using testing::HasSubstr;
using Json = nlohmann::ordered_json;

constexpr std::string_view kWitness =
    R"({"schema":"allranks.witness/1","finding":"AR101/1","world":2,"comms":[{"id":"world","ranks":[0,1]}],)"
    R"("classes":[{"id":"a","ranks":[0]},{"id":"b","ranks":[1]}],)"
    R"("ops":{"a":[{"id":"x","op":"barrier","comm":"world","at":{"uri":"t.py","line":3}}],"b":[]},)"
    R"("expect":{"effect":"deadlock"}})";

std::string Sarif() {
  return R"({"version":"2.1.0","runs":[{"results":[{"ruleId":"AR101","level":"error","message":{"text":"m"},)"
         R"("locations":[{"physicalLocation":{"artifactLocation":{"uri":"t.py"},"region":{"startLine":3}}}],)"
         R"("partialFingerprints":{"p":"1"},"properties":{"confidence":"certain","witness":)" +
         std::string(kWitness) + "}},{\"ruleId\":\"AR002\"}]}]}";
}

std::string ErrorOf(const std::string& text) {
  std::string error;
  EXPECT_FALSE(ReportFile::FromText(text, &error).has_value()) << text.substr(0, 200);
  return error;
}

ReportFile Read(const std::string& text) {
  std::string error;
  std::optional<ReportFile> file = ReportFile::FromText(text, &error);
  EXPECT_TRUE(file.has_value()) << error;
  return std::move(*file);
}

TEST(ReportFileTest, AWitnessAlone) {
  const ReportFile file = Read(std::string(kWitness));
  EXPECT_EQ(file.kind(), ReportFile::Kind::Witness);
  ASSERT_EQ(file.findings().size(), 1u);
  EXPECT_EQ(file.findings()[0].code, "AR101/1");
}

TEST(ReportFileTest, AJsonReport) {
  const ReportFile file =
      Read(R"({"version":1,"findings":[{"code":"AR101","message":"m","location":{"path":"t.py",)"
           R"("start":{"line":3,"column":1}},"witness":)" +
           std::string(kWitness) +
           R"(},{"code":"AR002","witness":null},{"code":"AR103","witness":{"schema":"other"}}]})");
  ASSERT_EQ(file.findings().size(), 3u);
  EXPECT_EQ(file.findings()[0].place, "t.py:3");
  EXPECT_TRUE(file.findings()[0].witness.has_value());
  EXPECT_FALSE(file.findings()[1].witness.has_value());
  EXPECT_EQ(file.findings()[1].refused, "");
  EXPECT_THAT(file.findings()[2].refused, HasSubstr("`allranks.witness/1` is expected"));
}

TEST(ReportFileTest, VerdictsChangeNothingElseOfASarifReport) {
  const ReportFile file = Read(Sarif());
  ASSERT_EQ(file.findings().size(), 2u);
  Verdict verdict{.kind = VerdictKind::Inconclusive, .reason = "out of time", .backend = "gloo"};
  verdict.ran = *file.findings()[0].witness;
  Json out = Json::parse(file.WithVerdicts({verdict, std::nullopt}));
  Json& result = out["runs"][0]["results"][0];
  EXPECT_EQ(result["properties"]["allranks/verify"]["verdict"], "inconclusive");
  EXPECT_EQ(result["rank"], 50.0);
  EXPECT_THAT(
      out["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].get<std::string>(),
      HasSubstr("out of time"));
  result["properties"].erase("allranks/verify");
  result.erase("rank");
  out["runs"][0].erase("invocations");
  EXPECT_EQ(out, Json::parse(Sarif()));
}

TEST(ReportFileTest, WhatIsNoReportIsRefused) {
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("neither a witness nor"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("neither a witness nor"));
  EXPECT_THAT(ErrorOf("{\"runs\""), HasSubstr("not valid JSON"));
  EXPECT_THAT(ErrorOf(std::string(1 << 20, '[')), HasSubstr("nested deeper than 64 levels"));
  EXPECT_THAT(ErrorOf(R"({"schema":"allranks.witness/1","world":1000000000})"), HasSubstr("missing"));
}

TEST(ReportFileTest, AnyJsonIsTaken) {
  for (const char* text : {R"({"runs":[3,null,{"results":[1,[],{"properties":7,"locations":[]}]}]})",
                           R"({"findings":[3,null,{"code":5,"location":{"start":[]}}]})"}) {
    std::string error;
    const std::optional<ReportFile> file = ReportFile::FromText(text, &error);
    ASSERT_TRUE(file.has_value()) << error;
    std::vector<std::optional<Verdict>> verdicts(file->findings().size(), Verdict{});
    EXPECT_FALSE(file->WithVerdicts(verdicts).empty());
  }
}

}  // namespace
}  // namespace allranks::verify
