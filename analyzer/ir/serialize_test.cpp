#include "analyzer/ir/serialize.h"

#include <gtest/gtest.h>

#include <random>

#include "analyzer/ir/builder.h"
#include "analyzer/ir/printer.h"
#include "analyzer/ir/verifier.h"

namespace allranks::ir {
namespace {

constexpr size_t kBytesOfSource = 100;

// One node of most kinds, with names in every place that holds one.
Module Sample(base::Interner& names) {
  Builder builder(source::FileId{0}, Language::Cpp, kBytesOfSource);
  const Range range = {1, 9};
  const auto name = [&](std::string_view text) { return names.Intern(text); };
  const FunctionId top = builder.StartFunction({.name = name("<module>")});
  const ClassId job = builder.StartClass({.name = name("Job"), .symbol = name("ns.Job"), .parent = top});
  const StmtId pass[] = {builder.Pass(range)};
  builder.EditClass(job).body = builder.Block(pass);
  const FunctionId run = builder.StartFunction({.name = name("run"), .symbol = name("ns.Job.run(int)"),
                                                .qualified = name("ns.Job.run"), .parent = top, .owner = job});
  builder.EditFunction(run).params = {{.name = name("this")}, {.name = name("out"), .is_out = true}};
  const ExprId rank = builder.Name(range, name("rank"));
  const Comparison zero[] = {{CompareOp::Eq, builder.Int(range, -1)}};
  const ExprId is_main = builder.Compare(range, rank, zero);
  const Arg args[] = {{ArgKind::Positional, {}, builder.Attribute(range, builder.Name(range, name("this")), name("comm"))},
                      {ArgKind::Keyword, name("op"), builder.Text(range, ConstantKind::Str, name("sum"))}};
  const ExprId callee = builder.Resolved(range, name("MPI_Barrier"), NameId::None());
  const StmtId then_stmts[] = {builder.ExprStmt(range, builder.Call(range, callee, args, kMethodCall))};
  const NameId outer[] = {name("count")};
  const StmtId body[] = {builder.Nonlocal(range, outer),
                         builder.If(range, is_main, builder.Block(then_stmts), BlockId::None())};
  builder.EditFunction(run).body = builder.Block(body);
  const StmtId module_body[] = {builder.ClassDef(range, job), builder.FunctionDef(range, run)};
  builder.EditFunction(top).body = builder.Block(module_body);
  builder.AddProblem(ProblemKind::Syntax, range, "unexpected `)`");
  builder.AddComment(range);
  return builder.Finish();
}

TEST(Serialize, RoundTripInAnotherInterner) {
  base::Interner names;
  const Module module = Sample(names);
  const std::string text = Print(module, names, {});
  const std::string bytes = Serialize(module, names);
  base::Interner other;
  other.Intern("something that shifts the numbers");
  const base::Result<Module> read = Deserialize(bytes, source::FileId{3}, kBytesOfSource, other);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(Print(*read, other, {}), text);
  EXPECT_EQ(read->file, source::FileId{3});
  EXPECT_EQ(other.View(read->functions[FunctionId{1}].symbol), "ns.Job.run(int)");
  EXPECT_TRUE(read->functions[FunctionId{1}].params[1].is_out);
  EXPECT_EQ(read->comments.size(), 1u);
  EXPECT_EQ(Serialize(*read, other), bytes);
}

TEST(Serialize, OtherVersionIsRefused) {
  base::Interner names;
  std::string bytes = Serialize(Sample(names), names);
  constexpr size_t kVersionAt = 15;
  ++bytes[kVersionAt];
  const base::Result<Module> read = Deserialize(bytes, source::FileId{0}, kBytesOfSource, names);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().message, "these bytes are no program of this version of allranks");
}

TEST(Serialize, CutOffAnywhereIsAnError) {
  base::Interner names;
  const std::string bytes = Serialize(Sample(names), names);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Deserialize(bytes.substr(0, size), source::FileId{0}, kBytesOfSource, names).has_value()) << size;
  }
}

// Any damage is an error or gives a module that is sound: never a read out of bounds.
TEST(Serialize, DamagedBytesAreSafe) {
  base::Interner names;
  const std::string bytes = Serialize(Sample(names), names);
  std::mt19937 random(7);
  constexpr int kRounds = 20000;
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::string damaged = bytes;
    for (uint32_t i = 0; i <= random() % 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    const base::Result<Module> read = Deserialize(damaged, source::FileId{0}, kBytesOfSource, names);
    if (!read) {
      ++refused;
      continue;
    }
    ASSERT_TRUE(Verify(*read, kBytesOfSource).empty());
    Print(*read, names, {});
  }
  EXPECT_GT(refused, kRounds / 10);
}

}  // namespace
}  // namespace allranks::ir
