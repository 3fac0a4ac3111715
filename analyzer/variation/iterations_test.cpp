#include "analyzer/variation/iterations.h"

#include "analyzer/variation/program_test.h"

namespace allranks::variation {
namespace {

class IterationsTest : public ProgramTest {
 protected:
  void SetUp() override { Read("items = 1\n"); }

  Iteration Over(ValueId iterable, bool ignores_order = false) {
    const Containers containers(tables(), ir::Language::Python);
    const ClassMembers members(tables());
    const FuncId function = program().func(ir::ModuleId{0}, ir::kTopLevel);
    Iterations iterations(tables(), containers, members, function, [](ir::ExprId, ValueId) { return std::optional<Iteration>(); });
    iterations.IgnoreOrder(ignores_order);
    return iterations.Over(ir::ExprId{0}, iterable);
  }
  ValueId Rank() { return store().Coordinate(knowledge::Coordinate::Rank); }
  ValueId Int(int64_t number) { return store().Int(number); }
  ValueId Derived(std::string_view operation, std::initializer_list<ValueId> kids) {
    return store().Derived(tables().NameSymbol(operation), std::vector<ValueId>(kids));
  }
  ValueId List(std::initializer_list<ValueId> items) { return store().Tuple(std::vector<ValueId>(items)); }
  bool DiffersByRank(ValueId value) { return store().axes(value).has(Axis::Global); }
};

TEST_F(IterationsTest, ADisplayYieldsOneOfItsItems) {
  const Iteration one = Over(List({Int(4)}));
  EXPECT_EQ(one.element, Int(4));
  EXPECT_EQ(one.trip_count, Int(1));
  const Iteration two = Over(List({Int(4), Rank()}));
  EXPECT_EQ(store()[two.element].kind, ValueKind::Select);
  EXPECT_EQ(two.trip_count, Int(2));
}

TEST_F(IterationsTest, ARangeRunsAsOftenAsItsBoundsSay) {
  EXPECT_EQ(Over(Derived("builtins.range", {Rank()})).trip_count, Rank());
  EXPECT_EQ(Over(Derived("builtins.range", {Int(2), Int(5)})).trip_count, Int(3));
  EXPECT_EQ(Over(Derived("builtins.range", {Int(0), Int(5), Int(2)})).trip_count, Int(3));
  EXPECT_EQ(Over(Derived("builtins.range", {Int(5), Int(0), Int(-1)})).trip_count, Int(5));
}

TEST_F(IterationsTest, ZippedSequencesEndWithTheShortest) {
  const Iteration zipped = Over(Derived("builtins.zip", {List({Int(1), Int(2)}), List({Int(3)})}));
  EXPECT_EQ(zipped.trip_count, Int(1));
  EXPECT_EQ(store()[zipped.element].kind, ValueKind::Tuple);
  EXPECT_EQ(Over(Derived("builtins.enumerate", {List({Int(3)})})).trip_count, Int(1));
}

TEST_F(IterationsTest, OneOfTwoSequences) {
  const ValueId is_main = store().Compare(ir::CompareOp::Eq, Rank(), Int(0));
  const Iteration either = Over(store().Select(is_main, List({Int(7)}), List({})));
  EXPECT_EQ(either.element, Int(7));
  EXPECT_EQ(either.trip_count, store().Select(is_main, Int(1), Int(0)));
}

TEST_F(IterationsTest, ARanksOwnDataIsAsMuchAsThatOfTheOthers) {
  const ValueId batches = store().Fresh(Axes::Of(Axis::Data));
  EXPECT_TRUE(store().axes(Over(batches).element).has(Axis::Data));
  EXPECT_TRUE(store().axes(Over(batches).trip_count).empty());
  EXPECT_TRUE(store().axes(Over(store().WithMark(batches, tables().RaggedMark())).trip_count).has(Axis::Data));
  EXPECT_TRUE(DiffersByRank(Over(store().Fresh(Axes::Of(Axis::Global))).trip_count));
}

TEST_F(IterationsTest, TextsOfASetComeInNoOrder) {
  const ValueId items[] = {store().Str(Name("a")), store().Str(Name("b"))};
  const ValueId set = store().Make(Value::Tuple(true), items);
  EXPECT_TRUE(store().axes(Over(set).element).has(Axis::HashOrder));
  EXPECT_FALSE(store().axes(Over(set, true).element).has(Axis::HashOrder));
  EXPECT_FALSE(store().axes(Over(Derived("builtins.sorted", {set})).element).has(Axis::HashOrder));
}

TEST_F(IterationsTest, KeysAndItemsOfADictionary) {
  const ValueId items[] = {store().Str(Name("a")), Int(1)};
  const ValueId table = store().Make(Value::Dict(), items);
  EXPECT_EQ(Over(table).element, items[0]);
  EXPECT_EQ(Over(Derived("items", {table})).element, List({items[0], items[1]}));
  EXPECT_EQ(Over(Derived("values", {table})).element, items[1]);
}

}  // namespace
}  // namespace allranks::variation
