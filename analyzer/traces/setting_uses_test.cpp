#include "analyzer/traces/setting_uses.h"

#include <gtest/gtest.h>

#include "analyzer/traces/project.h"
#include "analyzer/traces/test_program.h"

namespace allranks::traces {
namespace {

class SettingUsesTest : public TracesTest {
 protected:
  ValueId Setting() { return values().Fresh({}); }
  ValueId ModeIs(std::string_view text) { return values().Compare(ir::CompareOp::Eq, mode_, values().Str(state().program.names->Intern(text))); }

  ValueId mode_;
  void SetUp() override {
    TracesTest::SetUp();
    mode_ = Setting();
  }
};

TEST_F(SettingUsesTest, TriesAreOneWhereNothingTheyTellApartIsAsked) {
  const ValueId saves = Setting(), logs = Setting();
  SettingUses uses(traces(), {saves, logs});
  const Assignment both{{saves.index, 1}, {logs.index, 1}}, no_logs{{saves.index, 1}, {logs.index, 0}};
  const TraceId trace = If(1, saves, Barrier(2));
  EXPECT_EQ(uses.AskedOf(trace, both), uses.AskedOf(trace, no_logs));
  EXPECT_NE(uses.AskedOf(If(1, logs, Barrier(2)), both), uses.AskedOf(If(1, logs, Barrier(2)), no_logs));
  EXPECT_EQ(uses.AskedOf(Barrier(3), both), 0u);
}

TEST_F(SettingUsesTest, WhatACallAsksTheCallerAsks) {
  const ValueId saves = Setting();
  SettingUses uses(traces(), {saves});
  const TraceId call = traces().Scope(At(9), FuncId{1}, If(1, values().Not(saves), Barrier(2)));
  EXPECT_NE(uses.AskedOf(call, {{saves.index, 1}}), uses.AskedOf(call, {{saves.index, 0}}));
}

// Where `mode == "train"` holds `mode` is "train", and that decides `mode == "test"`.
TEST_F(SettingUsesTest, AnEqualitySaysWhatItsSubjectIs) {
  const ValueId trains = ModeIs("train");
  SettingUses uses(traces(), {trains});
  const TraceId other = If(1, ModeIs("test"), Barrier(2));
  EXPECT_NE(uses.AskedOf(other, {{trains.index, 1}}), uses.AskedOf(other, {{trains.index, 0}}));
}

TEST_F(SettingUsesTest, RootsAreAskedForToo) {
  const ValueId root = Setting();
  SettingUses uses(traces(), {root});
  EXPECT_NE(uses.AskedOf(Broadcast(1, root), {{root.index, 1}}), uses.AskedOf(Broadcast(1, root), {{root.index, 0}}));
}

TEST_F(SettingUsesTest, MoreSettingsThanBitsAreStillToldApart) {
  std::vector<ValueId> settings;
  Assignment first, second;
  for (int i = 0; i < 80; ++i) {
    settings.push_back(Setting());
    first[settings.back().index] = second[settings.back().index] = 1;
  }
  second[settings.back().index] = 0;
  SettingUses uses(traces(), settings);
  const TraceId trace = If(1, settings.back(), Barrier(2));
  EXPECT_NE(uses.AskedOf(trace, first), uses.AskedOf(trace, second));
}

// A later try takes over what the first one decided, and only that.
TEST_F(SettingUsesTest, AScenePutsTheSameInItsFingerprintWithAndWithoutTheOther) {
  const ValueId saves = Setting(), logs = Setting();
  const TraceId parts[] = {If(1, saves, Barrier(2)), If(3, logs, Barrier(4)), If(5, RankIs(0), Broadcast(6, saves))};
  const TraceId trace = traces().Seq(parts);
  const VaryingNodes nodes = CollectVarying(state(), trace);
  const World world{.nodes = 1, .per_node = 2, .mesh = {}};
  SettingUses uses(traces(), {saves, logs});
  Scene first(state(), world, {{saves.index, 1}, {logs.index, 1}});
  first.SetUses(uses);
  first.FindClasses(traces(), nodes);
  Scene alone(state(), world, {{saves.index, 0}, {logs.index, 1}});
  alone.FindClasses(traces(), nodes);
  Scene beside(state(), world, {{saves.index, 0}, {logs.index, 1}});
  beside.SetUses(uses, &first);
  beside.FindClasses(traces(), nodes);
  EXPECT_EQ(beside.Fingerprint(), alone.Fingerprint());
  EXPECT_NE(beside.Fingerprint(), first.Fingerprint());
}

TEST_F(SettingUsesTest, QuestionsOfATraceAreThoseOfItsChoices) {
  const TraceId call = traces().Scope(At(9), FuncId{1}, If(1, ModeIs("train"), Barrier(2)));
  const QuestionSet asked = traces().QuestionsIn(call);
  EXPECT_TRUE(asked.MayAsk(Asked(values(), ModeIs("train"))));
  EXPECT_TRUE(asked.MayAsk(Asked(values(), values().Not(ModeIs("test")))));
  EXPECT_FALSE(traces().QuestionsIn(Barrier(3)).MayAsk(Asked(values(), ModeIs("train"))));
}

}  // namespace
}  // namespace allranks::traces
