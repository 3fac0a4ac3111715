#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/variation/value.h"

namespace allranks::variation {
namespace {

using knowledge::Coordinate;

class ValueStoreTest : public ::testing::Test {
 protected:
  ValueId Rank() { return store.Coordinate(Coordinate::Rank); }
  ValueId RankIs(int64_t number) { return store.Compare(ir::CompareOp::Eq, Rank(), store.Int(number)); }

  ValueStore store;
};

TEST_F(ValueStoreTest, EqualValuesHaveEqualIds) {
  EXPECT_EQ(RankIs(0), RankIs(0));
  EXPECT_NE(RankIs(0), RankIs(1));
  EXPECT_NE(store.Fresh({}), store.Fresh({}));
}

TEST_F(ValueStoreTest, WhatAValueIsStaysKnownHoweverDeepItsPartsAre) {
  ValueId deep = store.Fresh(Axes::Of(Axis::Data));
  for (int i = 0; i < 100; ++i) deep = store.Derived(1000, {&deep, 1});
  const ValueId tuple = store.Tuple({&deep, 1});
  EXPECT_EQ(store[tuple].kind, ValueKind::Tuple);
  EXPECT_TRUE(store.axes(tuple).has(Axis::Data));
}

TEST_F(ValueStoreTest, ArithmeticOfConstantsFolds) {
  EXPECT_EQ(store.Binary(ir::BinaryOp::Add, store.Int(2), store.Int(3)), store.Int(5));
  EXPECT_EQ(store.Binary(ir::BinaryOp::FloorDiv, store.Int(-7), store.Int(2)), store.Int(-4));
  EXPECT_EQ(store.Binary(ir::BinaryOp::Mod, store.Int(-7), store.Int(2)), store.Int(1));
  EXPECT_EQ(store.Compare(ir::CompareOp::Less, store.Int(1), store.Int(2)), store.True());
}

TEST_F(ValueStoreTest, DivisionByZeroIsNoNumber) {
  const ValueId value = store.Binary(ir::BinaryOp::Mod, store.Int(1), store.Int(0));
  EXPECT_EQ(store[value].kind, ValueKind::Binary);
}

TEST_F(ValueStoreTest, ConnectivesDropNeutralAndStopAtDecisiveParts) {
  const ValueId both[] = {store.True(), RankIs(0)};
  EXPECT_EQ(store.And(both), RankIs(0));
  const ValueId never[] = {store.False(), RankIs(0)};
  EXPECT_EQ(store.And(never), store.False());
  EXPECT_EQ(store.Or(never), RankIs(0));
  EXPECT_EQ(store.Not(store.Not(RankIs(0))), RankIs(0));
}

TEST_F(ValueStoreTest, SelectOfEqualArmsIsTheArm) {
  EXPECT_EQ(store.Select(RankIs(0), store.Int(1), store.Int(1)), store.Int(1));
  EXPECT_TRUE(store.axes(store.Select(RankIs(0), store.Int(1), store.Int(1))).empty());
}

TEST_F(ValueStoreTest, AnArmKnowsWhatItsConditionSays) {
  const ValueId a = store.Fresh({});
  const ValueId b = store.Fresh({});
  const ValueId is_not = store.Compare(ir::CompareOp::NotEq, Rank(), store.Int(0));
  EXPECT_EQ(store.Select(RankIs(0), a, store.Select(RankIs(0), a, b)), store.Select(RankIs(0), a, b));
  EXPECT_EQ(store.Select(RankIs(0), a, store.Select(is_not, b, a)), store.Select(RankIs(0), a, b));
  EXPECT_EQ(store.Select(RankIs(0), store.True(), is_not), store.True());
}

TEST_F(ValueStoreTest, WhatIsMadeWhereItIsNoneIsNotNone) {
  const ValueId given = store.Fresh(Axes::Of(Axis::Global));
  const ValueId is_none = store.Compare(ir::CompareOp::Is, given, store.NoneValue());
  const ValueId made = store.NewTensor(store.NewSymbol(), store.Tuple({}), {});
  const ValueId there = store.Select(is_none, made, given);
  EXPECT_EQ(store.Compare(ir::CompareOp::IsNot, there, store.NoneValue()), store.True());
}

TEST_F(ValueStoreTest, SelectVariesAsItsConditionDoes) {
  const ValueId value = store.Select(RankIs(0), store.Int(1), store.Int(2));
  EXPECT_TRUE(store.axes(value).has(Axis::Global));
  EXPECT_EQ(store.Select(RankIs(0), store.True(), store.False()), RankIs(0));
}

TEST_F(ValueStoreTest, ReducedValueLosesTheAxesOfItsGroupOnly) {
  const Axes both = Axes::Of(Axis::Data) | Axes::Of(Axis::TensorParallel);
  const ValueId reduced = store.Uniform(store.Fresh(both), Axes::Of(Axis::Data), store.NewSymbol());
  EXPECT_EQ(store.axes(reduced), Axes::Of(Axis::TensorParallel));
}

TEST_F(ValueStoreTest, ObjectsDoNotVaryAsTheirPartsDo) {
  const ValueId part = store.Fresh(Axes::Of(Axis::Data));
  const ValueId object = store.Make(Value::Object(NameId{1}), {&part, 1});
  EXPECT_TRUE(store.axes(object).empty());
}

TEST_F(ValueStoreTest, SubstitutionReplacesParametersAndFolds) {
  const FuncId function{7};
  const ValueId condition = store.Compare(ir::CompareOp::Eq, store.Param(function, 0), store.Int(0));
  EXPECT_TRUE(store.has_param(condition));
  EXPECT_TRUE(store.axes(condition).empty());
  ValueStore::Memo memo;
  const ValueId rank[] = {Rank()};
  const ValueId of_rank = store.Substitute(condition, function, rank, memo);
  EXPECT_EQ(of_rank, RankIs(0));
  EXPECT_FALSE(store.has_param(of_rank));
  EXPECT_TRUE(store.axes(of_rank).has(Axis::Global));
  ValueStore::Memo constant_memo;
  const ValueId zero[] = {store.Int(0)};
  EXPECT_EQ(store.Substitute(condition, function, zero, constant_memo), store.True());
}

TEST_F(ValueStoreTest, SubstitutionLeavesOtherFunctionsAlone) {
  const ValueId other = store.Param(FuncId{8}, 0);
  ValueStore::Memo memo;
  const ValueId rank[] = {Rank()};
  EXPECT_EQ(store.Substitute(other, FuncId{7}, rank, memo), other);
}

TEST_F(ValueStoreTest, DeepNestingBecomesUnknownAndKeepsAxes) {
  ValueId value = Rank();
  for (int i = 0; i < 1000; ++i) value = store.Binary(ir::BinaryOp::Add, value, store.Fresh({}));
  EXPECT_TRUE(store.axes(value).has(Axis::Global));
}

TEST_F(ValueStoreTest, MarksTravelWithDerivedValues) {
  const knowledge::MarkId mark{3};
  const ValueId output = store.WithMark(store.Fresh(Axes::Of(Axis::Data)), mark);
  const ValueId loss = store.Derived(store.NewSymbol(), {&output, 1});
  EXPECT_EQ(store[loss].mark, mark);
  EXPECT_EQ(store[store.Binary(ir::BinaryOp::Div, loss, store.Int(2))].mark, mark);
}

class OperationsTest : public ValueStoreTest {
 protected:
  OperationsTest() {
    store.SetOperations({store.NewSymbol(), store.NewSymbol(), store.NewSymbol(), store.NewSymbol(), store.NewSymbol()}, names);
    store.SetVariable(names.Intern("RANK"), Rank());
    store.SetTexts(print, parts);
  }
  ValueId Printed(ValueId number) { return store.Derived(print, {&number, 1}); }
  ValueId Text(std::string_view text) { return store.Str(names.Intern(text)); }
  // `value` with parameter 0 of function 0 replaced.
  ValueId With(ValueId value, ValueId argument) {
    ValueStore::Memo memo;
    return store.Substitute(value, FuncId{0}, {&argument, 1}, memo);
  }

  base::Interner names;
  uint32_t print = store.NewSymbol();
  uint32_t parts = store.NewSymbol();
};

TEST_F(OperationsTest, WhatIsPrintedIsComparedAsANumber) {
  EXPECT_EQ(store.Compare(ir::CompareOp::Eq, Printed(Rank()), Text("0")), RankIs(0));
  EXPECT_EQ(store.Compare(ir::CompareOp::Eq, Text("0"), Printed(Rank())), RankIs(0));
  EXPECT_EQ(store.Compare(ir::CompareOp::Eq, Printed(Rank()), Text("00")), store.False());
  const ValueId pieces[] = {Text("rank "), Rank()};
  const ValueId plain = store.Make(Value::Derived(parts, {}, 0, DerivedKind::Plain), pieces);
  EXPECT_EQ(store.Compare(ir::CompareOp::Eq, plain, Text("rank 0")), RankIs(0));
  EXPECT_EQ(store.Compare(ir::CompareOp::NotEq, plain, Text("node 0")), store.True());
  EXPECT_EQ(store.Compare(ir::CompareOp::Eq, store.Binary(ir::BinaryOp::Add, Text("rank "), Printed(Rank())), Text("rank 0")), RankIs(0));
  // `f"{rank:02d}"`
  const ValueId formatted = store.Derived(parts, pieces);
  EXPECT_EQ(store[store.Compare(ir::CompareOp::Eq, formatted, Text("rank 0"))].kind, ValueKind::Compare);
  EXPECT_EQ(With(Printed(store.Param(FuncId{0}, 0)), store.Int(3)), Text("3"));
  EXPECT_EQ(With(store.Compare(ir::CompareOp::Eq, Printed(store.Param(FuncId{0}, 0)), Text("0")), Rank()), RankIs(0));
}

TEST_F(ValueStoreTest, WhatIsAskedWithItsOppositeIsDecided) {
  const ValueId both[] = {RankIs(0), store.Fresh({}), store.Not(RankIs(0))};
  EXPECT_EQ(store.And(both), store.False());
  EXPECT_EQ(store.Or(both), store.True());
}

TEST_F(OperationsTest, AnObjectIsKnownByItsAttributes) {
  const ValueId items[] = {Text("rank"), Rank(), Text("steps"), store.Int(3)};
  const ValueId place = store.Make(Value::Dict(DictKind::Places, 9), items);
  EXPECT_EQ(store.KnownAttribute(place, names.Intern("rank")), Rank());
  EXPECT_EQ(store.KnownItem(place, store.Int(-1)), store.Int(3));
  const ValueId table = store.Make(Value::Dict(), items);
  EXPECT_FALSE(store.KnownAttribute(table, names.Intern("rank")));
  EXPECT_EQ(store.KnownItem(table, Text("rank")), Rank());
}

TEST_F(OperationsTest, AFieldIsThatOfTheObjectThatIsPassed) {
  const Value of_class = Value::Instance(binding::ClassId{3});
  const ValueId fields[] = {Text("rank"), Rank()};
  const ValueId made = store.WithFields(of_class, fields);
  const uint32_t rank = store.NewSymbol();
  store.SetOperation(rank, names.Intern("rank"));
  const ValueId usual = store.Fresh({});
  const ValueId self = store.SameObject(of_class, store.Param(FuncId{0}, 0));
  const ValueId field = store.Field(rank, self, usual);
  EXPECT_EQ(With(field, made), Rank());
  EXPECT_EQ(With(self, made), made);
  // Of an object of which no more is known it is what all of them have.
  EXPECT_EQ(With(field, store.SomeObject(made)), usual);
  EXPECT_EQ(With(self, store.NoneValue()), store.SomeObject(made));
  // Either of two.
  const ValueId others[] = {Text("rank"), store.Int(0)};
  const ValueId test = store.Fresh({});
  const ValueId either = store.Select(test, made, store.WithFields(of_class, others));
  EXPECT_EQ(With(field, either), store.Select(test, Rank(), store.Int(0)));
}

TEST_F(OperationsTest, ObjectsInObjectsEndSomewhere) {
  const Value of_class = Value::Instance(binding::ClassId{3});
  ValueId list = store.Make(of_class, {});
  ValueId before = list;
  for (int i = 0; i < 5; ++i) {
    const ValueId fields[] = {Text("next"), list};
    before = list;
    list = store.WithFields(of_class, fields);
  }
  EXPECT_EQ(list, before);
}

TEST_F(OperationsTest, AVariableIsReadWhereItsKeyIsKnown) {
  const ValueId open = store.Environment(store.Param(FuncId{0}, 0));
  EXPECT_EQ(store.NumberOf(With(open, Text("RANK"))), Rank());
  EXPECT_EQ(With(store.NumberOf(open), Text("RANK")), Rank());
  EXPECT_NE(With(store.NumberOf(open), Text("SIZE")), Rank());
  EXPECT_EQ(With(store.Compare(ir::CompareOp::Eq, open, Text("0")), Text("RANK")), RankIs(0));
}

TEST_F(OperationsTest, ATextIsTrueIfALauncherSetIt) {
  const ValueId text = store.Environment(Text("RANK"));
  EXPECT_TRUE(store.axes(store.AsCondition(text)).empty());
  EXPECT_TRUE(store.axes(store.Not(text)).empty());
  EXPECT_EQ(store.AsCondition(store.NumberOf(text)), Rank());
  const ValueId operands[] = {text, RankIs(0)};
  const ValueId asked[] = {store.AsCondition(text), RankIs(0)};
  EXPECT_EQ(store.AsCondition(store.And(operands)), store.And(asked));
  EXPECT_EQ(store.Compare(ir::CompareOp::Eq, text, Text("0")), RankIs(0));
  EXPECT_EQ(store.Select(text, store.Int(1), store.Int(2)), store.Int(1));
}

TEST_F(OperationsTest, EachCallReadsItsOwnList) {
  const ValueId element = store.Element(store.Param(FuncId{0}, 0), store.Fresh({}));
  const ValueId keys[] = {Text("RANK")};
  EXPECT_EQ(With(store.NumberOf(store.Environment(element)), store.Tuple(keys)), Rank());
  const ValueId others[] = {Text("SIZE"), Text("WORLD")};
  EXPECT_TRUE(store.axes(With(store.Environment(element), store.Tuple(others))).empty());
}

}  // namespace
}  // namespace allranks::variation
