#include "runtime-verify/coordinator/code_flow.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace allranks::verify {
namespace {

using Json = nlohmann::ordered_json;

witness::Witness OneSkips(uint32_t world) {
  witness::Witness w{.world = world};
  w.comms.push_back({.id = "world", .ranks = {}});
  w.classes = {{.id = "a", .ranks = {0}, .guard = ""}, {.id = "b", .ranks = {}, .guard = ""}};
  for (uint32_t rank = 0; rank < world; ++rank) w.comms[0].ranks.push_back(rank);
  for (uint32_t rank = 1; rank < world; ++rank) w.classes[1].ranks.push_back(rank);
  w.ops = {{{.id = "x", .op = "barrier", .comm = "world", .at = {"t.py", 3}}}, {}};
  return w;
}

// One step, at the line of the operation, that says which operation it is.
Json Result(const std::string& id, const std::string& op) {
  return Json::parse(R"({"codeFlows":[{"threadFlows":[{"id":")" + id +
                     R"(","locations":[{"location":{"physicalLocation":{"region":{"startLine":3}},)" +
                     R"("message":{"text":"rank 0: `barrier`"}},"properties":{"allranks/op":")" + op + R"("}}]}]}]})");
}

std::string TextOf(const Json& result) {
  return result["codeFlows"][0]["threadFlows"][0]["locations"][0]["location"]["message"]["text"];
}

Verdict Hangs(const witness::Witness& ran, std::string backend) {
  Verdict verdict{.kind = VerdictKind::Reproduced, .effect = witness::Effect::Deadlock, .backend = std::move(backend)};
  verdict.trials.push_back({.name = "", .outcome = {.stuck = {{.rank = 0, .op = 0, .waits_for = {1}}}}, .log = {}});
  verdict.ran = ran;
  return verdict;
}

TEST(CodeFlowTest, SaysWhoWaitsForWhom) {
  Json result = Result("rank 0", "x");
  MarkCodeFlow(OneSkips(2), Hangs(OneSkips(2), "sim"), &result);
  EXPECT_EQ(TextOf(result), "rank 0: `barrier` (`allranks verify`: rank 0 waits here for rank 1, computed on sim)");
}

TEST(CodeFlowTest, ALaterVerdictReplacesTheEarlierOne) {
  Json result = Result("rank 0", "x");
  MarkCodeFlow(OneSkips(2), Hangs(OneSkips(2), "sim"), &result);
  MarkCodeFlow(OneSkips(2), Hangs(OneSkips(4), "other"), &result);
  EXPECT_EQ(TextOf(result), "rank 0: `barrier` (`allranks verify`: rank 0 waits here for rank 1, computed on other)");
  MarkCodeFlow(OneSkips(2), {.kind = VerdictKind::Inconclusive, .ran = OneSkips(2)}, &result);
  EXPECT_EQ(TextOf(result), "rank 0: `barrier`");
}

TEST(CodeFlowTest, OtherPlacesAndShapesStayAsTheyAre) {
  for (const Json& untouched :
       {Result("rank 1", "x"), Result("rank 0", "y"), Json::parse(R"({"codeFlows":7})"), Json::parse("{}"),
        Json::parse(R"({"codeFlows":[{"threadFlows":[3,{"id":"rank 0","locations":[{"location":[]}]}]}]})")}) {
    Json result = untouched;
    MarkCodeFlow(OneSkips(2), Hangs(OneSkips(2), "sim"), &result);
    EXPECT_EQ(result, untouched);
  }
}

}  // namespace
}  // namespace allranks::verify
