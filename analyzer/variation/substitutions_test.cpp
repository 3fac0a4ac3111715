#include "analyzer/variation/substitutions.h"

#include <gtest/gtest.h>

#include "analyzer/variation/value.h"

namespace allranks::variation {
namespace {

constexpr FuncId kFunction{7};

class SubstitutionsTest : public testing::Test {
 protected:
  Substitutions::Results& Of(ParamSet params, std::initializer_list<ValueId> arguments, FuncId function = kFunction) {
    const std::vector<ValueId> given(arguments);
    Substitutions::OfCall call;
    return call.Mentioning(params, all, function, given);
  }

  const ParamSet first = ParamSet::Of(0);
  const ParamSet second = ParamSet::Of(1);
  const ValueId a{10}, b{11}, c{12};
  Substitutions all;
};

TEST_F(SubstitutionsTest, CallsShareWhatMentionsOnlyWhatTheyGiveAlike) {
  EXPECT_EQ(&Of(first, {a, b}), &Of(first, {a, c}));
  EXPECT_NE(&Of(second, {a, b}), &Of(second, {a, c}));
  EXPECT_NE(&Of(first | second, {a, b}), &Of(first | second, {a, c}));
}

TEST_F(SubstitutionsTest, OtherFunctionsAndOtherParametersAreOther) {
  EXPECT_NE(&Of(first, {a, a}), &Of(second, {a, a}));
  EXPECT_NE(&Of(first, {a}), &Of(first, {a}, FuncId{8}));
}

TEST_F(SubstitutionsTest, ParametersThatShareABitAreAllTold) {
  constexpr uint32_t kFar = 31;
  ASSERT_TRUE(ParamSet::Of(kFar).has(0));
  std::vector<ValueId> arguments(kFar + 1, a);
  Substitutions::OfCall one;
  Substitutions::Results* const results = &one.Mentioning(ParamSet::Of(kFar), all, kFunction, arguments);
  arguments[0] = b;
  Substitutions::OfCall other;
  EXPECT_NE(&other.Mentioning(ParamSet::Of(kFar), all, kFunction, arguments), results);
}

TEST_F(SubstitutionsTest, WhatIsForgottenIsFoundAnew) {
  constexpr int64_t kMany = 1'000'000;
  ValueStore store;
  const ValueId doubled = store.Binary(ir::BinaryOp::Add, store.Param(kFunction, 0), store.Param(kFunction, 0));
  const auto with = [&](int64_t number) {
    ValueStore::Memo memo;
    const ValueId argument = store.Int(number);
    return store.Substitute(doubled, kFunction, {&argument, 1}, memo);
  };
  for (int64_t i = 0; i < kMany; i += 10) ASSERT_EQ(with(i), store.Int(2 * i));
  EXPECT_EQ(with(10), store.Int(20));
}

}  // namespace
}  // namespace allranks::variation
