#include "witness/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allranks::witness {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Witness Example() {
  Witness w;
  w.finding = "AR101/3f9c2b7d";
  w.world = 4;
  w.nodes = 2;
  w.comms = {{"world", {0, 1, 2, 3}}, {"dp0", {0, 2}}};
  w.classes = {{"r0", {0}, "rank == 0"}, {"rest", {1, 2, 3}, ""}};
  Op reduce{.id = "a",
            .op = "all_reduce",
            .comm = "world",
            .count = 4,
            .redop = "sum",
            .source = "torch.distributed.all_reduce",
            .at = {"train.py", 41}};
  Op broadcast{.id = "b",
               .op = "broadcast",
               .comm = "world",
               .dtype = "i64",
               .root = 3,
               .sync = false,
               .source = "",
               .at = {"train.py", 44}};
  Op send{.id = "c", .op = "send", .comm = "dp0", .peer = 1, .source = "", .at = {"a \"b\"/\u00e9.py", 1}};
  w.ops = {{reduce, send}, {broadcast}};
  w.fence = false;
  w.effect = Effect::Corruption;
  w.stuck = {{0, "a"}, {3, "b"}};
  w.quiet_ms = 10;
  w.total_ms = 20;
  return w;
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string ErrorOf(const std::string& text) {
  const auto read = ReadJson(text);
  EXPECT_FALSE(read.witness.has_value()) << text.substr(0, 1000);
  return read.error;
}

TEST(WitnessJsonTest, ComesBackAsItWas) {
  const auto read = ReadJson(WriteJson(Example()));
  ASSERT_TRUE(read.witness.has_value()) << read.error;
  EXPECT_EQ(*read.witness, Example());
}

TEST(WitnessJsonTest, TheFormOfTheContract) {
  const std::string text = R"({"schema":"allranks.witness/1","finding":"AR101/3f9c","world":4,
 "comms":[{"id":"world","ranks":[0,1,2,3]},{"id":"dp0","ranks":[0,2]}],
 "classes":[{"id":"r0","ranks":[0],"guard":"rank == 0"},{"id":"rest","ranks":[1,2,3]}],
 "ops":{"r0":[{"id":"a","op":"all_reduce","comm":"world","count":4,"dtype":"f32","redop":"sum","sync":true,
               "at":{"uri":"train.cc","line":41}}],
        "rest":[]},
 "after":{"fence":true},
 "expect":{"effect":"deadlock","stuck":[{"rank":0,"op":"a"}]},
 "limits":{"quiet_ms":3000,"total_ms":60000}})";
  const auto read = ReadJson(text);
  ASSERT_TRUE(read.witness.has_value()) << read.error;
  EXPECT_EQ(read.witness->ops[0][0].at.line, 41u);
  EXPECT_EQ(read.witness->effect, Effect::Deadlock);
}

TEST(WitnessJsonTest, KeysNobodyKnowsAreRefused) {
  const std::string good = WriteJson(Example());
  EXPECT_EQ(ErrorOf(Replaced(good, "\"world\":4", "\"wrld\":4")), "unknown key `wrld`");
  EXPECT_EQ(ErrorOf(Replaced(good, "\"redop\"", "\"run\"")), "ops.r0[0]: unknown key `run`");
  EXPECT_EQ(ErrorOf(Replaced(good, "{\"rank\":0,", "{\"rank\":0,\"x\":1,")),
            "expect.stuck[0]: unknown key `x`");
}

TEST(WitnessJsonTest, MissingKeysAndWrongTypesNameTheirPlace) {
  const std::string good = WriteJson(Example());
  EXPECT_EQ(ErrorOf(Replaced(good, "\"world\":4,", "")), "key `world` is missing");
  EXPECT_EQ(ErrorOf(Replaced(good, "\"world\":4", "\"world\":\"4\"")), "world: a whole number is expected");
  EXPECT_EQ(ErrorOf(Replaced(good, "\"world\":4", "\"world\":4.5")), "world: a whole number is expected");
  EXPECT_EQ(ErrorOf(Replaced(good, "\"world\":4", "\"world\":-4")), "world: the number is out of range");
  EXPECT_EQ(ErrorOf(Replaced(good, "\"world\":4", "\"world\":99999999999")),
            "world: the number is out of range");
  EXPECT_EQ(ErrorOf(Replaced(good, "\"sync\":true", "\"sync\":1")),
            "ops.r0[0].sync: true or false is expected");
  EXPECT_EQ(ErrorOf("[]"), "an object is expected");
}

TEST(WitnessJsonTest, WhatMakesNoSenseIsRefused) {
  const std::string good = WriteJson(Example());
  EXPECT_EQ(ErrorOf(Replaced(good, "\"world\":4", "\"world\":1")), "world: 1 is outside 2..1024");
  EXPECT_EQ(ErrorOf(Replaced(good, "[1,2,3]", "[1,2]")), "classes: rank 3 is in none");
  EXPECT_EQ(ErrorOf(Replaced(good, "[1,2,3]", "[0,1,2,3]")), "classes[1].ranks: rank 0 is in two classes");
  EXPECT_EQ(ErrorOf(Replaced(good, "[0,2]", "[0,4]")), "comms[1].ranks: rank 4 is not below the world size");
  EXPECT_EQ(ErrorOf(Replaced(good, "\"comm\":\"dp0\"", "\"comm\":\"tp\"")),
            "ops.r0[1].comm: there is no communicator `tp`");
  EXPECT_EQ(ErrorOf(Replaced(good, "\"root\":3", "\"root\":4")),
            "ops.rest[0].root: is not a rank of the communicator");
  EXPECT_EQ(ErrorOf(Replaced(good, "\"peer\":1,", "")), "ops.r0[1].peer: is missing");
  EXPECT_EQ(ErrorOf(Replaced(good, "\"op\":\"send\"", "\"op\":\"system\"")),
            "ops.r0[1].op: `system` is not known");
  EXPECT_EQ(ErrorOf(Replaced(good, "\"rest\":[", "\"others\":[")), "ops: there is no class `others`");
  EXPECT_EQ(ErrorOf(Replaced(good, "{\"rank\":3,\"op\":\"b\"}", "{\"rank\":3,\"op\":\"a\"}")),
            "expect.stuck[1].op: rank 3 has no operation `a`");
  EXPECT_EQ(ErrorOf(Replaced(good, "corruption", "fire")), "expect.effect: `fire` is not known");
}

TEST(WitnessJsonTest, BoundsHold) {
  const std::string good = WriteJson(Example());
  EXPECT_EQ(ErrorOf(Replaced(good, "\"count\":4,", "\"count\":65537,")),
            "ops.r0[0].count: is outside 1..65536");
  EXPECT_EQ(ErrorOf(Replaced(good, "\"total_ms\":20", "\"total_ms\":9999999")),
            "limits.total_ms: is outside 1..180000");
  EXPECT_EQ(ErrorOf(std::string(2 << 20, ' ')), "larger than 1048576 bytes");
  Witness many = Example();
  many.ops[1].assign(257, many.ops[1][0]);
  EXPECT_EQ(ErrorOf(WriteJson(many)), "ops.rest: more than 256 elements");
  Witness big = Example();
  big.stuck.clear();
  big.ops[1].clear();
  for (int i = 0; i < 100; ++i) {
    big.ops[1].push_back({.id = std::to_string(i),
                          .op = "barrier",
                          .comm = "world",
                          .count = 65536,
                          .dtype = "f64",
                          .redop = "",
                          .source = "",
                          .at = {}});
  }
  EXPECT_EQ(ErrorOf(WriteJson(big)), "ops.rest: needs more than the bytes a rank may use");
}

TEST(WitnessJsonTest, ScenariosComeBack) {
  Witness w = Example();
  for (const Scenario& scenario :
       {Scenario(DeviceOrdinal{.devices = 2, .ordinals = {0, 1, 2, -3}}),
        Scenario(EpochOrder{.samples = 10, .epochs = 2, .seed = 7, .set_epoch = true}),
        Scenario(
            UnevenBatches{.samples = {3, 3, 2, 0}, .batch = {1, 1, 1, 2}, .drop_last = true, .join = true}),
        Scenario(LearningRate{.batch = 4, .accumulation = 2, .learning_rate = 0.125, .scaled = true}),
        Scenario(UnusedParameter{.buckets = 3, .unused = {{1}, {}, {0, 2}, {}}, .find_unused = true}),
        Scenario(SampleShares{
            .samples = 10, .batch = 2, .workers = 3, .by_rank = true, .by_worker = true, .seeds = {1, 2, 3, 4}}),
        Scenario(Accumulation{.micro_steps = 8, .buckets = 3, .no_sync = true}),
        Scenario(AveragedGradient{.batch = 16, .learning_rate = 0.5, .divided = true}),
        Scenario(TensorMemory{.backend = "cpu:gloo,cuda:nccl", .device = "cuda"}),
        Scenario(FileOrder{.writers = {0, 2}}),
        Scenario(LaunchedRanks{.processes = 2, .awaited = 2, .nodes = {0, 1}, .places = {0, 0}, .numbers = {0, -1}})}) {
    w.scenario = scenario;
    const auto read = ReadJson(WriteJson(w));
    ASSERT_TRUE(read.witness.has_value()) << read.error;
    EXPECT_EQ(*read.witness, w);
  }
}

TEST(WitnessJsonTest, ScenariosThatMakeNoSenseAreRefused) {
  const std::string good = WriteJson(Example());
  const auto error_of = [&](const std::string& scenario) {
    return ErrorOf(Replaced(good, "\"limits\"", "\"scenario\":" + scenario + ",\"limits\""));
  };
  EXPECT_EQ(error_of("3"), "scenario: an object is expected");
  EXPECT_EQ(error_of("{}"), "scenario: key `name` is missing");
  EXPECT_EQ(error_of(R"({"name":"fire"})"), "scenario.name: `fire` is not known");
  EXPECT_EQ(error_of(R"({"name":"epoch-order","x":1})"), "scenario: unknown key `x`");
  EXPECT_EQ(error_of(R"({"name":"epoch-order","epochs":1000000})"), "scenario.epochs: is outside 2..64");
  EXPECT_EQ(error_of(R"({"name":"device-ordinal","devices":2,"ordinals":[0]})"),
            "scenario.ordinals: needs one entry for each rank");
  EXPECT_EQ(error_of(R"({"name":"learning-rate","learning_rate":-1})"),
            "scenario.learning_rate: is not positive");
  EXPECT_EQ(error_of(R"({"name":"unused-parameter","unused":[[9],[],[],[]]})"),
            "scenario.unused: names a bucket that is not there");
  EXPECT_EQ(error_of(R"({"name":"uneven-batches","samples":[1,1,1,1],"batch":[1,0,1,1]})"),
            "scenario.batch: an entry is 0");
  EXPECT_EQ(error_of(R"({"name":"sample-shares","seeds":[1]})"), "scenario.seeds: needs one entry for each rank");
  EXPECT_EQ(error_of(R"({"name":"sample-shares","workers":0})"), "scenario.workers: is outside 1..64");
  EXPECT_EQ(error_of(R"({"name":"accumulation","micro_steps":0})"), "scenario.micro_steps: is outside 1..4096");
  EXPECT_EQ(error_of(R"({"name":"averaged-gradient","learning_rate":0})"), "scenario.learning_rate: is not positive");
  EXPECT_EQ(error_of(R"({"name":"tensor-memory","backend":"nccl","device":"tpu"})"),
            "scenario.device: is neither cpu nor cuda");
  EXPECT_EQ(error_of(R"({"name":"file-order","writers":[0,1,2,3]})"),
            "scenario.writers: needs a rank, and leaves one to read");
  EXPECT_EQ(error_of(R"({"name":"file-order","writers":[2,0]})"), "scenario.writers: is not in order");
  EXPECT_EQ(error_of(R"({"name":"launched-ranks","processes":0,"awaited":1,"nodes":[0],"places":[0],"numbers":[0]})"),
            "scenario.processes: is outside 1..1024");
  EXPECT_EQ(error_of(R"({"name":"launched-ranks","processes":1,"awaited":1,"nodes":[0,1],"places":[0],"numbers":[0,1]})"),
            "scenario.places: needs one entry for each launcher");
}

TEST(WitnessJsonTest, ManyKeysAreRefusedAtOnce) {
  std::string text = "{";
  for (int i = 0; i < 60000; ++i) text += "\"k" + std::to_string(i) + "\":0,";
  EXPECT_EQ(ErrorOf(text + "\"z\":0}"), "more than 1024 keys");
}

TEST(WitnessJsonTest, BrokenJson) {
  EXPECT_THAT(ErrorOf(""), StartsWith("not valid JSON"));
  EXPECT_THAT(ErrorOf("{\"schema\": "), StartsWith("not valid JSON"));
  EXPECT_THAT(ErrorOf("{\"schema\": \"\xff\"}"), StartsWith("not valid JSON"));
  EXPECT_EQ(ErrorOf("{\"world\":2,\"world\":3}"), "key `world` stands there twice");
  EXPECT_THAT(ErrorOf(std::string(100000, '[')), HasSubstr("nesting deeper"));
}

TEST(WitnessJsonTest, TextThatIsNotUtf8IsWrittenAsJsonAllTheSame) {
  Witness w = Example();
  w.ops[0][0].at.uri = "a\xff.py";
  const auto read = ReadJson(WriteJson(w));
  ASSERT_TRUE(read.witness.has_value()) << read.error;
  EXPECT_EQ(read.witness->ops[0][0].at.uri, "a\xef\xbf\xbd.py");
}

}  // namespace
}  // namespace allranks::witness
