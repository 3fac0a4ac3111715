#include "analyzer/variation/class_members.h"

#include "analyzer/variation/program_test.h"

namespace allranks::variation {
namespace {

class ClassMembersTest : public ProgramTest {
 protected:
  ClassMembers members() { return ClassMembers(tables()); }
  ValueId Some(std::string_view name) { return store().Make(Value::Instance(Class(name)), {}); }
};

TEST_F(ClassMembersTest, FieldsOfAClassAndOfThoseAround) {
  Read(R"(
class Base:
    steps = 3
class Trainer(Base):
    def __init__(self):
        self.rank = dist.get_rank()
)");
  EXPECT_EQ(members().Field(Class("Trainer"), Name("steps"), false), store().Int(3));
  EXPECT_EQ(members().Field(Class("Trainer"), Name("rank"), false), store().Coordinate(knowledge::Coordinate::Rank));
  // What a class takes for granted may be of one below it.
  EXPECT_EQ(members().Field(Class("Base"), Name("rank"), false), store().Coordinate(knowledge::Coordinate::Rank));
  EXPECT_FALSE(members().Field(Class("Base"), Name("other"), false));
}

TEST_F(ClassMembersTest, AConstantThatAClassBelowReplacesIsEither) {
  Read(R"(
class Base:
    distributed = True
class Local(Base):
    distributed = False
)");
  const ValueId own = store().True();
  const auto any = [](binding::ClassId) { return true; };
  EXPECT_NE(members().ConstantOfSome(Class("Base"), Name("distributed"), own, any), own);
  const auto none = [](binding::ClassId) { return false; };
  EXPECT_EQ(members().ConstantOfSome(Class("Base"), Name("distributed"), own, none), own);
}

TEST_F(ClassMembersTest, MethodsByWhatTheyAreCalledOn) {
  Read(R"(
class Base:
    def save(self):
        pass
    @property
    def size(self):
        return 3
class Trainer(Base):
    def save(self):
        pass
)");
  const FuncId own = members().Method(Some("Trainer"), Name("save"));
  EXPECT_EQ(program().funcs[own].owner, Class("Trainer"));
  const ValueId super = store().Make(Value::Instance(Class("Trainer"), InstanceOrigin::Super), {});
  EXPECT_EQ(program().funcs[members().Method(super, Name("save"))].owner, Class("Base"));
  EXPECT_TRUE(members().IsProperty(members().Method(Some("Base"), Name("size"))));
  EXPECT_FALSE(members().IsProperty(own));
}

TEST_F(ClassMembersTest, MembersOfEnumerations) {
  Read(R"(
import enum
class Mode(enum.Enum):
    TRAIN = "train"
    EVAL = "eval"
)");
  EXPECT_TRUE(members().IsPlainEnum(Class("Mode")));
  EXPECT_NE(members().EnumMember(Class("Mode"), Name("TRAIN")), members().EnumMember(Class("Mode"), Name("EVAL")));
  const ValueId text = members().TextOfEnum(Class("Mode"));
  ASSERT_TRUE(text);
  EXPECT_EQ(store()[text].kind, ValueKind::Select);
  EXPECT_TRUE(store().axes(text).empty());
}

TEST_F(ClassMembersTest, WhatALibraryKnowsOfItsClasses) {
  Read(R"(
import torch
class Net(torch.nn.Module):
    pass
)");
  EXPECT_TRUE(members().Known(Some("Net"), Name("eval")));
  EXPECT_FALSE(members().Known(Some("Net"), Name("no_such_method")));
}

}  // namespace
}  // namespace allranks::variation
