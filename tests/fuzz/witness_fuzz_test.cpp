// Feeds the fuzz target with a few thousand mutations of witnesses and reports: the same ones every time.
#include <gtest/gtest.h>

#include <array>

#include "tests/fuzz/feed.h"

namespace allranks::tests {
namespace {

constexpr std::string_view kWitness =
    R"({"schema":"allranks.witness/1","finding":"AR106/1","world":4,"nodes":2,
"comms":[{"id":"world","ranks":[0,1,2,3]},{"id":"g","ranks":[0,2]}],
"classes":[{"id":"a","ranks":[0,2],"guard":"rank == 0"},{"id":"b","ranks":[1,3]}],
"ops":{"a":[{"id":"x","op":"all_reduce","comm":"world","count":4,"dtype":"f16","redop":"max","sync":false,
"at":{"uri":"t.py","line":3}},{"id":"w","op":"wait","comm":"world"},{"id":"s","op":"send","comm":"g","peer":1}],
"b":[{"id":"y","op":"broadcast","comm":"world","root":1},{"id":"z","op":"all_to_all","comm":"world"}]},
"after":{"fence":true},"expect":{"effect":"deadlock","stuck":[{"rank":0,"op":"x"}]},
"limits":{"quiet_ms":10,"total_ms":20}})";

const std::array<std::string, 3> kTexts = {
    std::string(kWitness),
    R"({"schema":"allranks.witness/1","finding":"AR303/1","world":2,"comms":[],"classes":[{"id":"a","ranks":[0,1]}],)"
    R"("ops":{},"expect":{"effect":"semantic"},"scenario":{"name":"uneven-batches","samples":[3,2],"batch":[1,1]}})",
    R"({"runs":[{"results":[{"ruleId":"AR101","properties":{"witness":)" + std::string(kWitness) + "}}]}]}"};

constexpr std::array<std::string_view, 34> kPieces = {"{",
                                                      "}",
                                                      "[",
                                                      "]",
                                                      ",",
                                                      ":",
                                                      "\"",
                                                      "\\",
                                                      "0",
                                                      "-1",
                                                      "1e99",
                                                      "99999999",
                                                      "null",
                                                      "true",
                                                      "\"x\"",
                                                      "\"scenario\"",
                                                      "\"name\"",
                                                      "3,3",
                                                      "1024",
                                                      "\"peer\":0",
                                                      "\"root\":-1",
                                                      "\"epoch-order\"",
                                                      "\"learning-rate\"",
                                                      "\"unused-parameter\"",
                                                      "\"unused\":[[0],[]]",
                                                      "\"sample-shares\"",
                                                      "\"accumulation\"",
                                                      "\"averaged-gradient\"",
                                                      "\"tensor-memory\"",
                                                      "\"file-order\",\"writers\":[0]",
                                                      "\"launched-ranks\",\"numbers\":[-1]",
                                                      "\"recv\"",
                                                      "\xff",
                                                      "\n"};

TEST(WitnessFuzzTest, MutatedTexts) {
  constexpr int kRounds = 1500;
  for (const std::string& original : kTexts) FeedMutated(original, kPieces, kRounds);
}

TEST(WitnessFuzzTest, CutTexts) {
  for (const std::string& text : kTexts) FeedCut(text);
}

}  // namespace
}  // namespace allranks::tests
