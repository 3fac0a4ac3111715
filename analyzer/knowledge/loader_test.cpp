#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analyzer/knowledge/knowledge.h"
#include "analyzer/knowledge/replaced.h"
#include "analyzer/knowledge/users_file.h"

namespace allranks::knowledge {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

constexpr std::string_view kHead = R"toml(library = "ours"
docs = "https://example.org/{name}"
)toml";

class LoaderTest : public ::testing::Test {
 protected:
  // The error of loading a file with these sections, or "".
  std::string Error(std::string_view sections) {
    const base::Result<bool> loaded =
        knowledge_.Load("ours.toml", std::string(kHead) + std::string(sections));
    if (!loaded) return loaded.error().message;
    const base::Result<bool> finished = knowledge_.Finish();
    return finished ? "" : finished.error().message;
  }
  void LoadBuiltIn() {
    ASSERT_TRUE(knowledge_.Load("theirs.toml", std::string(kHead) + R"toml(
[[class]]
name = "theirs.Trainer"
[[attribute]]
name = "theirs.Trainer.world_size"
value = "world_size"
[[function]]
name = "theirs.all_reduce"
operation = "all_reduce"
)toml"));
  }
  // The error of loading a user's file with these sections, or "".
  std::string UsersError(std::string_view sections) {
    const base::Result<bool> loaded = LoadUsersFile(knowledge_, "acme.toml", std::string(kHead) + std::string(sections));
    return loaded ? "" : loaded.error().message;
  }
  NameId Name(std::string_view text) { return names_.Intern(text); }
  const Entry& EntryOf(std::string_view name) { return knowledge_[knowledge_.FindEntry(Name(name))]; }

  base::Interner names_;
  Knowledge knowledge_{names_};
};

TEST_F(LoaderTest, AnEntryWithEverything) {
  ASSERT_EQ(Error(R"toml(
[[class]]
name = "ours.Work"
[[function]]
names = ["ours.sum_up", "ours.comm.sum_up"]
params = ["tensor", "root", "op", "group", "background", "wanted"]
operation = "reduce"
group = "group"
root = "root"
root_in_group = true
tensor = "tensor"
reduce_op = "op"
async = "background"
only_if = "wanted"
strategies = "FSDP, DeepSpeed ZeRO-3 or DDP with buffers"
fixed_shape = true
makes_uniform = ["tensor", "return"]
on_root_only = true
returns = "ours.Work"
mark = "ragged"
)toml"),
            "");
  const Entry& entry = EntryOf("ours.comm.sum_up");
  EXPECT_EQ(entry.name, Name("ours.sum_up"));
  EXPECT_EQ(entry.docs, "https://example.org/ours.sum_up");
  EXPECT_TRUE(entry.has_operation);
  EXPECT_EQ(entry.operation.kind, Name("reduce"));
  EXPECT_EQ(entry.operation.op_class, OpClass::Collective);
  EXPECT_EQ(entry.operation.group_param, Name("group"));
  EXPECT_EQ(entry.operation.root_param, Name("root"));
  EXPECT_TRUE(entry.operation.root_is_group_rank);
  EXPECT_EQ(entry.operation.only_if_param, Name("wanted"));
  EXPECT_THAT(entry.operation.strategies, ElementsAre(Name("FSDP"), Name("DeepSpeed ZeRO-3"), Name("DDP with buffers")));
  EXPECT_TRUE(entry.operation.fixed_shape);
  EXPECT_THAT(entry.makes_uniform, ElementsAre(Name("tensor"), Name("return")));
  EXPECT_TRUE(entry.uniform_on_root_only);
  EXPECT_EQ(entry.yield.kind, YieldKind::Object);
  EXPECT_EQ(entry.yield.type, Name("ours.Work"));
  EXPECT_EQ(knowledge_.MarkName(entry.yield.mark), "ragged");
}

TEST_F(LoaderTest, ReleasesAreNumbers) {
  EXPECT_EQ(Error("[[function]]\nname = \"ours.f\"\nsince = \"2.6\"\nuntil = \"2.10.1\"\n[[class]]\nname = \"ours.C\"\nsince = \"0\"\n"), "");
  EXPECT_THAT(Error("[[function]]\nname = \"ours.g\"\nsince = \"2.\"\n"), HasSubstr("`2.` is not a release; write since = \"2.6\""));
}

TEST_F(LoaderTest, ReleasesInWhichAFileWasReadAreNumbers) {
  EXPECT_EQ(Error("seen_in = [\"0.11.0\", \"0.33\"]\n"), "");
  EXPECT_THAT(Error("seen_in = [\"latest\"]\n"), HasSubstr("`latest` is not a release"));
}

TEST_F(LoaderTest, NamesOfAUsersFileThatAreNearlyKnownAreMisspelt) {
  LoadBuiltIn();
  EXPECT_THAT(UsersError("[[function]]\nname = \"theirs.all_redcue\"\n"),
              StartsWith("acme.toml:4:8: unknown name `theirs.all_redcue`; did you mean `theirs.all_reduce`?"));
  EXPECT_THAT(UsersError("[[method]]\nname = \"theirs.Trainr.fit\"\n"), HasSubstr("did you mean `theirs.Trainer.fit`?"));
  EXPECT_THAT(UsersError("[[attribute]]\nname = \"theirs.Trainer.world_szie\"\n"), HasSubstr("did you mean `theirs.Trainer.world_size`?"));
  EXPECT_THAT(UsersError("[[class]]\nname = \"theirs.Trainr\"\n"), HasSubstr("did you mean `theirs.Trainer`?"));
  EXPECT_THAT(UsersError("[[module]]\nname = \"acme\"\nsame_as = \"theris\"\n"), HasSubstr("did you mean `theirs`?"));
}

TEST_F(LoaderTest, OperationsOfAUsersFileAreKnownOnesUnlessImplicit) {
  LoadBuiltIn();
  EXPECT_THAT(UsersError("[[function]]\nname = \"ours.f\"\noperation = \"all_redcue\"\n"), HasSubstr("unknown operation `all_redcue`; did you mean `all_reduce`?"));
  EXPECT_EQ(UsersError("[[function]]\nname = \"ours.f\"\noperation = \"swap\"\n"),
            "acme.toml:5:13: unknown operation `swap`; if it is one of its own, add as_written = true");
  EXPECT_EQ(UsersError("[[function]]\nname = \"ours.f\"\noperation = \"save_all\"\nclass = \"implicit\"\n"), "");
}

TEST_F(LoaderTest, WhatIsMeantAsWrittenIsNew) {
  LoadBuiltIn();
  EXPECT_EQ(UsersError("[[function]]\nname = \"theirs.all_redcue\"\noperation = \"swap\"\nas_written = true\n"), "");
}

TEST_F(LoaderTest, WhatACallYields) {
  ASSERT_EQ(Error(R"toml(
[[class]]
name = "ours.Model"
[[function]]
name = "ours.rank"
params = ["group"]
value = "group_rank(group)"
[[function]]
name = "ours.debug"
uniform = true
[[function]]
name = "ours.free_memory"
varies = ["environment", "node"]
[[function]]
name = "ours.loader"
returns = "ours.Model"
[[method]]
name = "ours.Model.to"
returns = "arg:self"
[[function]]
name = "ours.prepare"
returns = "args:ours.Model"
[[function]]
name = "ours.group_of"
params = ["ranks"]
returns = "new_group:ranks"
[[function]]
name = "ours.tensor_group"
returns = "group:tensor"
[[function]]
name = "ours.make"
params = ["model"]
returns_tuple = ["ours.Model", "arg:model", "-", "uniform", "value:rank == 0", "varies:data"]
)toml"),
            "");
  EXPECT_EQ(EntryOf("ours.rank").yield.kind, YieldKind::Formula);
  EXPECT_EQ(EntryOf("ours.debug").yield.kind, YieldKind::Uniform);
  EXPECT_EQ(EntryOf("ours.free_memory").yield.axes, Axes::Of(Axis::Environment) | Axes::Of(Axis::Node));
  EXPECT_EQ(EntryOf("ours.loader").yield.kind, YieldKind::Object);
  EXPECT_EQ(EntryOf("ours.Model.to").yield.argument, Name("self"));
  EXPECT_EQ(EntryOf("ours.prepare").yield.kind, YieldKind::Arguments);
  EXPECT_EQ(EntryOf("ours.group_of").yield.argument, Name("ranks"));
  EXPECT_EQ(EntryOf("ours.tensor_group").yield.axis, Axis::TensorParallel);
  const std::vector<Yield>& parts = EntryOf("ours.make").tuple;
  ASSERT_EQ(parts.size(), 6u);
  EXPECT_EQ(parts[1].kind, YieldKind::Argument);
  EXPECT_EQ(parts[2].kind, YieldKind::Nothing);
  EXPECT_EQ(parts[3].kind, YieldKind::Uniform);
  EXPECT_EQ(parts[4].kind, YieldKind::Formula);
  EXPECT_EQ(parts[5].kind, YieldKind::Varies);
}

TEST_F(LoaderTest, MembersThroughClassesBasesMarksAndAnyObject) {
  ASSERT_EQ(Error(R"toml(
[[class]]
names = ["ours.Base", "ours.core.Base"]
[[class]]
name = "ours.Model"
bases = ["ours.Base"]
[[method]]
name = "ours.Base.save"
operation = "save_checkpoint"
class = "implicit"
[[method]]
name = "ours.Model.__call__"
mark = "synced"
[[method]]
name = "@synced.backward"
operation = "gradient_reduction"
class = "implicit"
axis = "data"
[[method]]
name = "*.numel"
[[attribute]]
name = "ours.Model.rank"
value = "rank"
)toml"),
            "");
  const ClassId model = knowledge_.FindClass(Name("ours.Model"));
  EXPECT_TRUE(knowledge_.FindMember(model, Name("save")));
  EXPECT_TRUE(knowledge_.IsSubclass(model, knowledge_.FindClass(Name("ours.core.Base"))));
  EXPECT_TRUE(knowledge_.FindEntry(Name("ours.core.Base.save")));
  EXPECT_TRUE(knowledge_.FindEntry(Name("ours.Model.save")));
  EXPECT_TRUE(EntryOf("ours.Model.rank").is_attribute);
  const MarkId synced = knowledge_.FindMark(Name("synced"));
  EXPECT_TRUE(knowledge_.FindMarkMember(synced, Name("backward")));
  EXPECT_FALSE(knowledge_.FindMarkMember(synced, Name("numel")));
  EXPECT_TRUE(knowledge_.FindAnyMember(Name("numel")));
  EXPECT_TRUE(knowledge_.IsKnownModule(Name("ours")));
  EXPECT_FALSE(knowledge_.IsKnownModule(Name("theirs")));
}

TEST_F(LoaderTest, AModuleUnderAnotherName) {
  ASSERT_EQ(Error(R"toml(
[[module]]
name = "wrapped.comm"
same_as = "ours.comm"
[[class]]
name = "ours.comm.Group"
[[function]]
name = "ours.comm.barrier"
operation = "barrier"
[[function]]
name = "ours.comm.deep.broadcast"
operation = "broadcast"
[[method]]
name = "ours.comm.Group.wait"
[[function]]
name = "wrapped.comm.barrier"
uniform = true
)toml"),
            "");
  EXPECT_EQ(EntryOf("wrapped.comm.barrier").name, Name("wrapped.comm.barrier")) << "its own entry wins";
  EXPECT_TRUE(knowledge_.FindClass(Name("wrapped.comm.Group")));
  EXPECT_TRUE(knowledge_.FindEntry(Name("wrapped.comm.Group.wait")));
  EXPECT_FALSE(knowledge_.FindEntry(Name("wrapped.comm.deep.broadcast")))
      << "only what stands in it directly";
}

TEST_F(LoaderTest, HintsAndEnvironment) {
  ASSERT_EQ(Error(R"toml(
[[class]]
name = "ours.Engine"
[[hint]]
names = ["is_boss", "is_chief"]
value = "rank == 0"
[[hint]]
name = "engine"
type = "ours.Engine"
[[hint]]
name = "loss"
varies = ["data"]
[[environment]]
name = "OUR_RANK"
value = "rank"
[[exception]]
names = ["DiskFull", "BadRecord"]
strikes = "one_rank"
[[exception]]
name = "BadConfig"
strikes = "all_ranks"
[[fallible]]
name = "fetch_shard"
[[buffers_listed]]
name = "ours"
)toml"),
            "");
  ASSERT_NE(knowledge_.FindHint(Name("is_chief")), nullptr);
  EXPECT_TRUE(knowledge_.FindHint(Name("is_chief"))->value);
  EXPECT_EQ(knowledge_.FindHint(Name("engine"))->type, Name("ours.Engine"));
  EXPECT_EQ(knowledge_.FindHint(Name("loss"))->axes, Axes::Of(Axis::Data));
  EXPECT_NE(knowledge_.FindEnvironment(Name("OUR_RANK")), nullptr);
  EXPECT_EQ(knowledge_.FindEnvironment(Name("OUR_RAN")), nullptr);
  EXPECT_EQ(knowledge_.FindException(Name("BadRecord")), Strikes::OneRank);
  EXPECT_EQ(knowledge_.FindException(Name("BadConfig")), Strikes::AllRanks);
  EXPECT_EQ(knowledge_.FindException(Name("Other")), Strikes::NotKnown);
  EXPECT_TRUE(knowledge_.MayFail(Name("fetch_shard")));
  EXPECT_FALSE(knowledge_.MayFail(Name("sum")));
}

TEST_F(LoaderTest, WhatAFrameworkPassesToHooks) {
  ASSERT_EQ(Error(R"toml(
[[class]]
name = "ours.Callback"
[[method]]
name = "ours.Callback.on_batch"
params = ["callback", "batch"]
param_types = { callback = "ours.Callback", batch = "varies:data" }
)toml"),
            "");
  const Entry& entry = EntryOf("ours.Callback.on_batch");
  ASSERT_EQ(entry.param_types.size(), 2u);
  EXPECT_EQ(entry.param_types[0].first, Name("batch"));
  EXPECT_EQ(entry.param_types[0].second.kind, YieldKind::Varies);
  EXPECT_EQ(entry.param_types[1].second.type, Name("ours.Callback"));
}

TEST_F(LoaderTest, ALaterFileReplacesAnEntry) {
  const std::string head(kHead);
  ASSERT_TRUE(knowledge_.Load("a.toml", head + "[[function]]\nname = \"ours.f\"\noperation = \"barrier\"\n"));
  ASSERT_TRUE(knowledge_.Load("b.toml", head + "[[function]]\nname = \"ours.f\"\nuniform = true\n"));
  ASSERT_TRUE(knowledge_.Finish());
  EXPECT_FALSE(EntryOf("ours.f").has_operation);
}

TEST_F(LoaderTest, WhatIsSaidAgainIsNamed) {
  constexpr std::string_view kFirst = "[[class]]\nname = \"ours.Group\"\n[[function]]\nname = \"ours.sum\"\n[[function]]\nname = \"ours.max\"\n";
  constexpr std::string_view kSecond = "[[class]]\nname = \"ours.Group\"\n[[function]]\nnames = [\"ours.mean\", \"ours.sum\"]\n";
  Replaced replaced;
  EXPECT_THAT(replaced.Since(knowledge_), ElementsAre());
  ASSERT_TRUE(knowledge_.Load("first.toml", std::string(kHead) + std::string(kFirst)));
  EXPECT_THAT(replaced.Since(knowledge_), ElementsAre());
  ASSERT_TRUE(knowledge_.Load("second.toml", std::string(kHead) + std::string(kSecond)));
  EXPECT_THAT(replaced.Since(knowledge_), ElementsAre("ours.sum", "ours.Group"));
  EXPECT_THAT(replaced.Since(knowledge_), ElementsAre());
}

TEST_F(LoaderTest, AClassThatIsTheGroupAlongAnAxis) {
  ASSERT_EQ(Error("[[class]]\nname = \"ours.TensorGroup\"\ngroup = true\naxis = \"tensor\"\n"), "");
  const Class& known = knowledge_[knowledge_.FindClass(Name("ours.TensorGroup"))];
  EXPECT_TRUE(known.is_group && known.has_axis);
  EXPECT_EQ(known.axis, Axis::TensorParallel);
}

TEST_F(LoaderTest, AnAxisIsOneOfAGroup) {
  EXPECT_THAT(Error("[[class]]\nname = \"ours.TensorGroup\"\naxis = \"tensor\"\n"), HasSubstr("add group = true"));
}

TEST_F(LoaderTest, LiteralsAreGivenOrTheFirstWordsOfTheNames) {
  ASSERT_TRUE(knowledge_.Load("a.toml", std::string(kHead) + "literals = [\"b\", \"a\", \"b\"]\n"));
  ASSERT_TRUE(knowledge_.Load("b.toml", std::string(kHead) + "[[function]]\nname = \"firm.comm.f\"\n"));
  ASSERT_TRUE(knowledge_.Finish());
  EXPECT_THAT(knowledge_.literals(), ElementsAre("a", "b", "firm"));
}

TEST_F(LoaderTest, NothingOfABadFileIsAdded) {
  EXPECT_NE(Error(R"toml(
[[function]]
name = "ours.good"
value = "rank == 0"
mark = "spoilt"
[[function]]
name = "ours.bad"
value = "rnk"
)toml"),
            "");
  ASSERT_TRUE(knowledge_.Finish());
  EXPECT_FALSE(knowledge_.FindEntry(Name("ours.good")));
  EXPECT_FALSE(knowledge_.FindMark(Name("spoilt")));
  EXPECT_TRUE(knowledge_.entries().empty());
}

struct Mistake {
  std::string_view sections;  // after the two lines of the head
  std::string_view error;
};

class MistakeTest : public LoaderTest, public ::testing::WithParamInterface<Mistake> {};

TEST_P(MistakeTest, IsNamedWithPlaceAndCure) { EXPECT_EQ(Error(GetParam().sections), GetParam().error); }

constexpr Mistake kMistakes[] = {
    {"[[function]]\nname = \"a.b\"\ntensr = \"x\"\n",
     "ours.toml:5:1: unknown key `tensr` in [[function]]; did you mean `tensor`?"},
    {"[[function]]\nnmae = \"a.b\"\n",
     "ours.toml:4:1: unknown key `nmae` in [[function]]; did you mean `name`?"},
    {"[[function]]\nname = \"a.b\"\nxyzxyzxyz = 1\n",
     "ours.toml:5:1: unknown key `xyzxyzxyz` in [[function]]; remove it"},
    {"[[fuction]]\nname = \"a.b\"\n",
     "ours.toml:3:3: unknown key `fuction` in the head of the file; did you mean `function`?"},
    {"[[function]]\ndocs = \"x\"\n", "ours.toml:3:1: `name` is missing; write name = \"package.function\""},
    {"[[function]]\nname = 3\n", "ours.toml:4:8: `name` is a text; write name = \"...\""},
    {"[[function]]\nname = \"a.b\"\nexits = \"yes\"\n",
     "ours.toml:5:9: `exits` is true or false, without quotes"},
    {"[[function]]\nname = \"a.b\"\nparams = \"x\"\n",
     "ours.toml:5:10: `params` is a list; write params = [\"...\"]"},
    {"[[function]]\nname = \"a.b\"\nparams = [\"x\", 2]\n",
     "ours.toml:5:16: `params` is a list of texts; put this item in quotes"},
    {"[[function]]\nname = \"a.b\"\nparams = [\"x\", \"\"]\n",
     "ours.toml:5:16: an item of `params` is empty; write its text or remove it"},
    {"[function]\nname = \"a.b\"\n",
     "ours.toml:3:1: `function` is a section of its own; write [[function]] above its keys"},
    {"[[function]]\nname = \"b\"\n", "ours.toml:4:8: `b` has no module or class; write the full name"},
    {"[[function]]\nname = \"a.b()\"\n",
     "ours.toml:4:8: `a.b()` is not a dotted name; write it without blanks and parentheses"},
    {"[[function]]\nname = \"a.b\"\n[[function]]\nname = \"a.b\"\n",
     "ours.toml:6:8: `a.b` is described twice in this file; keep one of them"},
    {"[[function]]\nname = \"a.b\"\nparams = [\"group\"]\noperation = \"x\"\ngroup = \"grop\"\n",
     "ours.toml:7:9: `grop` is not in `params`; did you mean `group`?"},
    {"[[function]]\nname = \"a.b\"\noperation = \"x\"\ngroup = \"group\"\n",
     "ours.toml:6:9: `group` is not in `params`; add it there"},
    {"[[function]]\nname = \"a.b\"\nfixed_shape = true\n",
     "ours.toml:5:15: `fixed_shape` describes an operation; say which with operation = \"...\""},
    {"[[function]]\nname = \"a.b\"\noperation = \"x\"\nclass = \"colective\"\n",
     "ours.toml:6:9: unknown class of operations `colective`; did you mean `collective`?"},
    {"[[function]]\nname = \"a.b\"\noperation = \"x\"\naxis = \"tensr\"\n",
     "ours.toml:6:8: unknown axis `tensr`; did you mean `tensor`?"},
    {"[[function]]\nname = \"a.b\"\nvaries = [\"moon phase\"]\n",
     "ours.toml:5:10: unknown axis `moon phase`; there are global, local, node, data, environment, "
     "files, clock, chance, hash_order, signals, data_parallel, "
     "tensor_parallel, pipeline_parallel, context_parallel, expert_parallel, mesh"},
    {"[[function]]\nname = \"a.b\"\nvalue = \"rank == \"\n",
     "ours.toml:5:9: column 9 of the formula: a number, a coordinate such as `rank` or a parenthesis belongs "
     "here, "
     "not the end"},
    {"[[function]]\nname = \"a.b\"\nvalue = \"rank\"\nuniform = true\n",
     "ours.toml:3:1: the result is said twice; keep one of `value`, `uniform`, `varies`, `returns`, "
     "`returns_tuple`"},
    {"[[function]]\nname = \"a.b\"\nreturns = \"ag:x\"\n",
     "ours.toml:5:11: unknown word `ag` before the colon; did you mean `arg`?"},
    {"[[function]]\nname = \"a.b\"\nreturns = \"Model\"\n",
     "ours.toml:5:11: `Model` is not the full name of a class; write package.module.Class"},
    {"[[function]]\nname = \"a.b\"\nreturns = \"a.Modl\"\n[[class]]\nname = \"a.Model\"\n",
     "ours.toml:5:11: no file describes the class `a.Modl`; did you mean `a.Model`?"},
    {"[[method]]\nname = \"a.Model.save\"\n",
     "ours.toml:4:8: no file describes the class `a.Model`; describe it in a [[class]] or correct the name"},
    {"[[method]]\nname = \"@unheard.save\"\n",
     "ours.toml:4:8: no file describes the mark `@unheard`; no entry says `mark` with it"},
    {"[[function]]\nname = \"*.save\"\n",
     "ours.toml:4:8: a member of a mark or of any object belongs in [[method]] or [[attribute]]"},
    {"[[function]]\nname = \"a.b\"\nmakes_uniform = [\"return\"]\n",
     "ours.toml:5:17: only an operation makes values equal; add `operation`, or say uniform = true"},
    {"[[class]]\nname = \"a.A\"\nbases = [\"a.B\"]\n[[class]]\nname = \"a.B\"\nbases = [\"a.A\"]\n",
     "knowledge of ours: the class `a.A` is its own base; remove it from `bases`"},
    {"[[hint]]\nname = \"x\"\n", "ours.toml:3:1: a hint says one thing; give `value`, `type` or `varies`"},
    {"[[environment]]\nname = \"X\"\n",
     "ours.toml:3:1: `value` is missing; write a formula such as value = \"local_rank\""},
    {"[[exception]]\nname = \"X\"\n",
     "ours.toml:3:1: `strikes` is missing; write strikes = \"one_rank\" or \"all_ranks\""},
    {"[[exception]]\nname = \"X\"\nstrikes = \"one_rnak\"\n",
     "ours.toml:5:11: unknown word `one_rnak`; did you mean `one_rank`?"},
    {"[[module]]\nname = \"x.y\"\n",
     "ours.toml:3:1: `same_as` is missing; name the module that this one is another name of"},
    {"[[function]]\nname = \"a.f\"\nreturns = \"prepared:a.g\"\n",
     "ours.toml:5:11: no file describes the function `a.g`; describe it in a [[function]] or correct the name"},
    {"[[class]]\nname = \"a.Comm\"\n[[function]]\nname = \"a.f\"\nuniform = true\ncommunicator = \"a.Comm\"\n",
     "ours.toml:8:16: says of which class a new group is; say which group with returns = \"new_group:...\" or the like"},
    {"[[method]]\nname = \"*.f\"\nparams = [\"x\"]\nparam_types = { x = 3 }\n",
     "ours.toml:6:21: what an argument gets is a text; put it in quotes"},
};

INSTANTIATE_TEST_SUITE_P(Loader, MistakeTest, ::testing::ValuesIn(kMistakes));

TEST_F(LoaderTest, AHeadIsNeeded) {
  const base::Result<bool> loaded = knowledge_.Load("ours.toml", "docs = \"x\"\n");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("`library` is missing"));
}

TEST_F(LoaderTest, WhatIsNotTomlIsSaidWhere) {
  const std::string error = Error("[[function]]\nname = \"a.b\nuniform = true\n");
  EXPECT_THAT(error, StartsWith("ours.toml:4:"));
  EXPECT_THAT(error, HasSubstr("; fix the TOML here"));
}

// What toml++ itself only asserts.
TEST_F(LoaderTest, StrayCharactersAreSaidWhere) {
  EXPECT_EQ(Error("[[function]]\nname = [}\n"),
            "ours.toml:4:1: a character that does not belong there; fix the TOML here");
  EXPECT_EQ(Error("[[#function]]\n"),
            "ours.toml:3:1: a character that does not belong there; fix the TOML here");
  EXPECT_EQ(Error("name = [}"), "ours.toml:3:1: a character that does not belong there; fix the TOML here");
}

// Whatever is cut off or broken in a good file, the answer is one line with file, line and column.
TEST_F(LoaderTest, DamagedFilesAreAnswered) {
  const std::string good = std::string(kHead) + R"toml(
[[class]]
name = "a.Model"
[[method]]
names = ["a.Model.save", "a.Model.store"]
params = ["path", "group"]
operation = "save_checkpoint"
group = "group"
varies = ["data"]
guard = "rank == 0 and arg(path)"
)toml";
  for (size_t at = 0; at < good.size(); ++at) {
    for (const std::string& damaged :
         {good.substr(0, at), good.substr(at), good.substr(0, at) + "\"" + good.substr(at),
          good.substr(0, at) + std::string(1, '\0') + good.substr(at),
          good.substr(0, at) + "\xff" + good.substr(at + 1)}) {
      Knowledge knowledge(names_);
      const base::Result<bool> loaded = knowledge.Load("ours.toml", damaged);
      if (loaded) continue;
      EXPECT_THAT(loaded.error().message, MatchesRegex("ours[.]toml:[0-9]+:[0-9]+: [^\n]+")) << damaged;
      EXPECT_TRUE(knowledge.entries().empty());
    }
  }
}

}  // namespace
}  // namespace allranks::knowledge
