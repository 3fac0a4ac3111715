#include "analyzer/variation/argument_binding.h"

#include "analyzer/variation/program_test.h"

namespace allranks::variation {
namespace {

class ArgumentBindingTest : public ProgramTest {
 protected:
  // As the first function of the file calls them.
  std::vector<ValueId> Bind(std::string_view function, const std::vector<CallArgument>& args, std::string_view caller = "caller") {
    const Containers containers(tables(), ir::Language::Python);
    const Definitions definitions(tables());
    return ArgumentBinding(tables(), containers, definitions, Function(caller)).ToFunction(Function(function), {}, args).values;
  }
  ValueId Those(ValueId callee, const std::vector<CallArgument>& args) {
    const Containers containers(tables(), ir::Language::Python);
    const Definitions definitions(tables());
    return ArgumentBinding(tables(), containers, definitions, Function("caller")).ThoseThatTake(callee, args);
  }
  CallArgument Arg(ValueId value, ir::ArgKind kind = ir::ArgKind::Positional) { return {.kind = kind, .keyword = {}, .expr = {}, .value = value}; }
  CallArgument Keyword(std::string_view name, ValueId value) {
    return {.kind = ir::ArgKind::Keyword, .keyword = Name(name), .expr = {}, .value = value};
  }
  ValueId Int(int64_t number) { return store().Int(number); }
};

constexpr std::string_view kFunctions = R"(
def train(model, steps=3, *rest, rank, **options):
    pass
def test(model):
    pass
def caller(first, **options):
    pass
)";

TEST_F(ArgumentBindingTest, ByPlaceByNameAndByDefault) {
  Read(std::string(kFunctions));
  const std::vector<ValueId> bound = Bind("train", {Arg(Int(1)), Keyword("rank", Int(2)), Keyword("lr", Int(4))});
  ASSERT_EQ(bound.size(), 5u);
  EXPECT_EQ(bound[0], Int(1));
  EXPECT_EQ(bound[1], Int(3));
  EXPECT_FALSE(bound[2]);
  EXPECT_EQ(bound[3], Int(2));
  const ValueId options[] = {store().Str(Name("lr")), Int(4)};
  EXPECT_EQ(bound[4], store().Make(Value::Dict(DictKind::Keywords), options));
}

TEST_F(ArgumentBindingTest, WhatIsOverGoesIntoTheStarredOne) {
  Read(std::string(kFunctions));
  const ValueId items[] = {Int(3), Int(4)};
  const std::vector<ValueId> bound = Bind("train", {Arg(Int(1)), Arg(Int(2)), Arg(store().Tuple(items), ir::ArgKind::Star)});
  EXPECT_EQ(bound[1], Int(2));
  EXPECT_EQ(bound[2], store().Tuple(items));
}

TEST_F(ArgumentBindingTest, AfterItemsOfUnknownNumberTheRestIsOpen) {
  Read(std::string(kFunctions));
  const std::vector<ValueId> bound = Bind("train", {Arg(store().Fresh({}), ir::ArgKind::Star), Keyword("rank", Int(2))});
  EXPECT_FALSE(bound[0]);
  EXPECT_FALSE(bound[1]);
  EXPECT_EQ(bound[3], Int(2));
}

TEST_F(ArgumentBindingTest, KeywordsOfTheCallerAreHandedOn) {
  Read(std::string(kFunctions));
  const ValueId own = store().Param(Function("caller"), 1);
  const std::vector<ValueId> bound = Bind("train", {Arg(Int(1)), Arg(own, ir::ArgKind::DoubleStar)});
  // `options.get("steps", 3)`
  ASSERT_TRUE(bound[1]);
  EXPECT_TRUE(store().has_param(bound[1]));
  EXPECT_EQ(bound[4], own);
}

TEST_F(ArgumentBindingTest, FunctionsThatTakeSuchArguments) {
  Read(std::string(kFunctions));
  const ValueId test = store().Make(Value::Function(Function("test")), {});
  const ValueId train = store().Make(Value::Function(Function("train")), {});
  const ValueId either = store().Select(store().Fresh({}), test, train);
  EXPECT_EQ(Those(either, {Arg(Int(1))}), test);
  EXPECT_EQ(Those(either, {Arg(Int(1)), Keyword("rank", Int(2))}), train);
  EXPECT_FALSE(Those(either, {}));
  EXPECT_EQ(Those(either, {Arg(store().Fresh({}), ir::ArgKind::Star)}), either);
}

}  // namespace
}  // namespace allranks::variation
