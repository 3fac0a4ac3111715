#include "analyzer/variation/built_in_results.h"

#include "analyzer/variation/parts_test.h"

namespace allranks::variation {
namespace {

class BuiltInResultsTest : public PartsTest {
 protected:
  BuiltInResults results{tables, ir::Language::Python};
};

TEST_F(BuiltInResultsTest, OfADisplay) {
  const ValueId tests = List({RankIs(0), RankIs(1)});
  const ValueId parts[] = {RankIs(0), RankIs(1)};
  EXPECT_EQ(results.OfDisplay("any", tests), store.Or(parts));
  EXPECT_EQ(results.OfDisplay("all", tests), store.And(parts));
  EXPECT_EQ(results.OfDisplay("sorted", List({store.Int(2), store.Int(1)})), List({store.Int(1), store.Int(2)}));
  EXPECT_EQ(results.OfDisplay("sum", List({store.Int(2), Rank()})), store.Binary(ir::BinaryOp::Add, store.Int(2), Rank()));
  EXPECT_EQ(results.OfDisplay("max", Derived("builtins.range", {Rank()})), store.Binary(ir::BinaryOp::Sub, Rank(), store.Int(1)));
  EXPECT_FALSE(results.OfDisplay("sum", List({Setting()})));
  EXPECT_FALSE(results.OfDisplay("sorted", List({Rank(), store.Int(1)})));
}

TEST_F(BuiltInResultsTest, QuantifiedOverDataOnly) {
  const ValueId number = store.Counted(tables.NameSymbol("builtins.len"), {});
  EXPECT_TRUE(results.Quantified(store.NewSymbol(), Derived(kComprehended, {OfData(), number}), true));
  EXPECT_FALSE(results.Quantified(store.NewSymbol(), Derived(kComprehended, {RankIs(0), number}), true));
  EXPECT_FALSE(results.Quantified(store.NewSymbol(), Setting(), true));
}

TEST_F(BuiltInResultsTest, NamedTuples) {
  const auto point = results.NamedTupleClass(Text("x, y"));
  ASSERT_TRUE(point);
  EXPECT_EQ(point, results.NamedTupleClass(List({Text("x"), Text("y")})));
  EXPECT_FALSE(results.NamedTupleClass(Setting()));
  const CallArgument by_place[] = {{.kind = ir::ArgKind::Positional, .keyword = {}, .expr = {}, .value = Rank()},
                                   {.kind = ir::ArgKind::Keyword, .keyword = names.Intern("y"), .expr = {}, .value = store.Int(1)}};
  const ValueId made = results.NamedTuple(store.NewSymbol(), *point, by_place);
  ASSERT_TRUE(made);
  EXPECT_EQ(store.KnownAttribute(made, names.Intern("x")), Rank());
  EXPECT_EQ(store.KnownItem(made, store.Int(1)), store.Int(1));
  EXPECT_FALSE(results.NamedTuple(store.NewSymbol(), *point, std::span(by_place).first(1)));
}

TEST_F(BuiltInResultsTest, TextsByWhatTheyBeginWith) {
  EXPECT_EQ(results.StartsWith(Text("env://"), Text("env")), store.True());
  EXPECT_EQ(results.StartsWith(Text("env"), Text("env://")), store.False());
  const ValueId path = Derived("f-string", {Text("file:///tmp/"), Setting()});
  EXPECT_EQ(results.StartsWith(path, Text("file://")), store.True());
  EXPECT_EQ(results.StartsWith(path, Text("tcp://")), store.False());
  // What follows decides.
  EXPECT_FALSE(IsConstant(store[results.StartsWith(path, Text("file:///tmp/a"))]));
  EXPECT_EQ(results.SpelledOut(Derived("f-string", {Text("on_"), Text("end")})), Text("on_end"));
  EXPECT_EQ(results.SpelledOut(path), path);
}

}  // namespace
}  // namespace allranks::variation
