#include "analyzer/variation/own_fields.h"

#include "analyzer/variation/program_test.h"

namespace allranks::variation {
namespace {

class OwnFieldsTest : public ProgramTest {
 protected:
  OwnFields fields() { return OwnFields(tables()); }
};

constexpr std::string_view kWriters = R"(
class Writer:
    def __init__(self, rank, path):
        self.is_main = rank == 0
        self.path = path
        self.count = 0
    def write(self):
        self.count += 1
first = Writer(dist.get_rank(), "a")
second = Writer(0, "b")
)";

TEST_F(OwnFieldsTest, InWhichObjectsOfAClassDiffer) {
  Read(std::string(kWriters));
  EXPECT_TRUE(fields().IsOwnToObjects(Class("Writer"), Name("is_main")));
  EXPECT_FALSE(fields().IsReplaced(Class("Writer"), Name("is_main")));
  // What a method stores is not what the object was made with.
  EXPECT_TRUE(fields().IsReplaced(Class("Writer"), Name("count")));
  EXPECT_FALSE(fields().IsOwnToObjects(Class("Writer"), Name("count")));
}

TEST_F(OwnFieldsTest, AnObjectKeepsWhatItWasMadeWith) {
  Read(std::string(kWriters));
  OwnFields own = fields();
  const ValueId made = own.MadeObject(Class("Writer"), {{Name("is_main"), store().False()}}, false, Function("write"));
  EXPECT_EQ(store().KnownField(made, Name("is_main")), store().False());
  EXPECT_FALSE(store().KnownField(made, Name("count")));
}

TEST_F(OwnFieldsTest, AParameterIsTheObjectThatIsHandedIn) {
  Read(std::string(kWriters));
  const ValueId given = store().Param(Function("write"), 0);
  const ValueId seen = store().Make(Value::Instance(Class("Writer")), {});
  const ValueId meant = fields().ObjectMeant(given, seen);
  ASSERT_TRUE(store()[meant].is_same_object());
  EXPECT_EQ(store().MeantBy(meant), given);
  EXPECT_EQ(fields().ObjectMeant(seen, seen), seen);
}

TEST_F(OwnFieldsTest, RecordsAndConstantsOfTheClass) {
  Read(R"(
import dataclasses
@dataclasses.dataclass
class Options:
    sync: bool = True
    steps: int = 8
    limit = 5
)");
  Fields made = {{Name("sync"), store().False()}};
  fields().AddDefaults(Class("Options"), made);
  fields().AddConstants(Class("Options"), made);
  const Fields expected = {{Name("sync"), store().False()}, {Name("steps"), store().Int(8)}, {Name("limit"), store().Int(5)}};
  EXPECT_EQ(made, expected);
}

TEST_F(OwnFieldsTest, WhatALibraryYieldsIsNoObjectOfTheProject) {
  Read("");
  const ValueId yielded = store().Derived(tables().NameSymbol("argparse.ArgumentParser.parse_args"), {});
  EXPECT_TRUE(fields().MayBeOfProject(store().Fresh({})));
  store().SetOperation(tables().NameSymbol("argparse.ArgumentParser.parse_args"), Name("argparse.ArgumentParser.parse_args"));
  EXPECT_FALSE(fields().MayBeOfProject(yielded));
}

}  // namespace
}  // namespace allranks::variation
