#include "analyzer/objects/file_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allranks::objects {
namespace {

using variation::Value;
using variation::ValueKind;

class FilePathTest : public ::testing::Test {
 protected:
  FilePathTest() {
    program.names = &names;
    facts.params.resize(4);
    facts.first_param = {0, 2};
    facts.params[0] = store.Param(FuncId{0}, 0);
    facts.params[1] = store.Param(FuncId{0}, 1);
    facts.params[2] = store.Param(FuncId{1}, 0);
    facts.params[3] = store.Param(FuncId{1}, 1);
  }

  ValueId Str(std::string_view text) { return store.Str(names.Intern(text)); }
  ValueId Call(std::string_view operation, std::vector<ValueId> kids) {
    const base::NameId name = names.Intern(operation);
    const uint32_t symbol = 1000 + name.index;
    store.SetOperation(symbol, name);
    return store.Derived(symbol, kids);
  }
  ValueId Binary(ir::BinaryOp op, ValueId left, ValueId right) { return store.Binary(op, left, right); }
  ValueId Option(std::string_view name) { return Call(name, {Call("parse_args", {Str("parser")})}); }
  std::vector<std::string> Names(ValueId value, const CallFrame* frame = nullptr) {
    std::vector<std::string> spelled;
    for (const FilePath& path : PathReader(program, facts).PathsOf(value, frame)) spelled.push_back(path.Name().Spelled());
    return spelled;
  }
  FilePath Path(ValueId value) { return PathReader(program, facts).PathsOf(value, nullptr).at(0); }

  base::Interner names;
  binding::Program program;
  variation::Facts facts;
  variation::ValueStore& store = facts.values_store;
};

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(FilePathTest, ATemporaryFileHasNoPathOfItsOwn) {
  EXPECT_THAT(Names(Call("name", {Call("tempfile.NamedTemporaryFile", {Str(".py")})})), IsEmpty());
}

TEST_F(FilePathTest, TooFewItemsForAFormatAreOneHole) {
  const FilePath path = Path(Call("format", {Str("{}-{}.pt"), Str("last")}));
  ASSERT_EQ(path.pieces.size(), 1u);
  EXPECT_TRUE(path.pieces[0].hole);
}

TEST_F(FilePathTest, OneNameInManySpellings) {
  const ValueId out = Option("output_dir");
  EXPECT_THAT(Names(Str("runs/last.pt")), ElementsAre("last.pt"));
  EXPECT_THAT(Names(Call("os.path.join", {out, Str("last.pt")})), ElementsAre("last.pt"));
  EXPECT_THAT(Names(Binary(ir::BinaryOp::Div, out, Str("last.pt"))), ElementsAre("last.pt"));
  EXPECT_THAT(Names(Binary(ir::BinaryOp::Add, out, Str("/last.pt"))), ElementsAre("last.pt"));
  EXPECT_THAT(Names(Call("f-string", {out, Str("/la"), Str("st.pt")})), ElementsAre("last.pt"));
  EXPECT_THAT(Names(Binary(ir::BinaryOp::Mod, Str("%s/%s.pt"), store.Tuple(std::vector{out, Str("last")}))), ElementsAre("last.pt"));
  EXPECT_THAT(Names(Call("format", {Str("{}.pt"), Str("last")})), ElementsAre("last.pt"));
  EXPECT_THAT(Names(Binary(ir::BinaryOp::Mod, Call("os.path.join", {out, Str("%s.pt")}), Str("last"))), ElementsAre("last.pt"));
  EXPECT_THAT(Names(Call("builtins.open", {Str("last.pt"), Str("wb")})), ElementsAre("last.pt"));
  EXPECT_THAT(Names(Call("with_suffix", {Str("runs/last.pt"), Str(".tmp")})), ElementsAre("last.tmp"));
}

TEST_F(FilePathTest, DoubledSignsOfAFormatAreText) {
  EXPECT_THAT(Names(Binary(ir::BinaryOp::Mod, Str("100%%-%s"), Str("a"))), ElementsAre("100%-a"));
  EXPECT_THAT(Names(Call("format", {Str("{{{}}}"), Str("a")})), ElementsAre("{a}"));
}

TEST_F(FilePathTest, BothArmsOfAChoice) {
  EXPECT_THAT(Names(store.Select(store.Fresh({}), Str("a.pt"), Str("b.pt"))), ElementsAre("a.pt", "b.pt"));
}

TEST_F(FilePathTest, WhatIsNoPath) {
  EXPECT_THAT(Names(store.NoneValue()), IsEmpty());
  EXPECT_THAT(Names(Call("io.BytesIO", {})), IsEmpty());
  EXPECT_THAT(Names(Call("tempfile.mktemp", {})), IsEmpty());
}

TEST_F(FilePathTest, AParameterIsWhatTheCallOnTheWayPasses) {
  const std::vector<ValueId> outer_args = {Str("last"), Str("x")};
  const CallFrame outer{.function = FuncId{1}, .args = outer_args};
  const std::vector<ValueId> inner_args = {Binary(ir::BinaryOp::Add, store.Param(FuncId{1}, 0), Str("_ckpt.pth")), {}};
  const CallFrame inner{.function = FuncId{0}, .args = inner_args, .caller = &outer};
  EXPECT_THAT(Names(store.Param(FuncId{0}, 0), &inner), ElementsAre("last_ckpt.pth"));
  const PathReader reader(program, facts);
  EXPECT_TRUE(reader.IsOpen(store.Param(FuncId{0}, 0), nullptr));
  EXPECT_FALSE(reader.IsOpen(store.Param(FuncId{0}, 0), &inner));
  const CallFrame without_caller{.function = FuncId{0}, .args = inner_args};
  EXPECT_TRUE(reader.IsOpen(store.Param(FuncId{0}, 0), &without_caller));
}

TEST_F(FilePathTest, AnItemOfTheArgumentsThatWereHandedOn) {
  const std::vector<ValueId> args = {store.Tuple(std::vector{Str("state"), Str("last.pt")}), {}};
  const CallFrame frame{.function = FuncId{0}, .args = args};
  EXPECT_THAT(Names(Call("[]", {store.Param(FuncId{0}, 0), store.Int(1)}), &frame), ElementsAre("last.pt"));
}

TEST_F(FilePathTest, SettingsStayAndCountsChange) {
  EXPECT_FALSE(Path(Call("f-string", {Option("tag"), Str(".pt")})).Changes());
  EXPECT_TRUE(Path(Call("f-string", {Str("step"), store.Fresh({}), Str(".pt")})).Changes());
  EXPECT_TRUE(Path(Call("f-string", {Str("step"), store.Int(3)})).Changes());
  EXPECT_TRUE(Path(Call("f-string", {Str("step"), Binary(ir::BinaryOp::Add, store.Fresh({}), store.Int(1))})).Changes());
}

TEST_F(FilePathTest, NamesAreComparedWithTheirHoles) {
  const FilePath tagged = Path(Call("f-string", {Option("tag"), Str("-latest.pt")}));
  EXPECT_TRUE(IsOneName(tagged, Path(Call("os.path.join", {Option("out"), Call("f-string", {Option("tag"), Str("-latest.pt")})}))));
  EXPECT_FALSE(IsOneName(tagged, Path(Call("f-string", {Option("other"), Str("-latest.pt")}))));
  EXPECT_FALSE(IsOneName(Path(Option("resume")), Path(Option("resume"))));
}

TEST_F(FilePathTest, PatternsTakeNamesIn) {
  const FilePath counted = Path(Call("f-string", {Str("G_"), store.Fresh({}), Str(".pth")}));
  EXPECT_TRUE(Matches(Path(Str("out/G_*.pth")), counted));
  EXPECT_FALSE(Matches(Path(Str("out/D_*.pth")), counted));
  EXPECT_FALSE(Matches(Path(Str("out/*")), counted));
  EXPECT_FALSE(Matches(Path(Option("folder")), counted));
}

}  // namespace
}  // namespace allranks::objects
