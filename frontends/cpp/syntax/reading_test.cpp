// Texts that no compiler would take, and texts made to break a reader: they end soon, as IR that is sound.
#include "frontends/cpp/syntax/reading.h"

#include <gtest/gtest.h>

#include "analyzer/ir/printer.h"
#include "analyzer/ir/verifier.h"

namespace allranks::cpp::syntax {
namespace {

const LibraryNames kMpi = {.has = [](std::string_view name) { return name.starts_with("MPI_"); },
                           .communicates = [](std::string_view name) { return name == "MPI_Barrier"; }};

// As a file that Clang could not read at all.
std::string Lowered(const std::string& text) {
  base::Interner names;
  Reading reading(text, {}, false);
  reading.FindLost({}, true, kMpi);
  Definitions definitions;
  definitions.is_of_library = kMpi.has;
  reading.Declare(names, &definitions);
  ir::Module module = reading.Begin(source::FileId{0}, names);
  reading.Lower(&module, true, definitions, names);
  EXPECT_EQ(ir::Verify(module, text.size()), std::vector<std::string>());
  return ir::Print(module, names);
}

std::string Repeat(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(Reading, KeepsWhatNeedsNoTypes) {
  const std::string ir = Lowered("void Solver::run(Field& f) { for (auto& e : f.all()) { if (rank == 0) MPI_Barrier(comm_); } }");
  EXPECT_NE(ir.find("for e in f.all()"), std::string::npos) << ir;
  EXPECT_NE(ir.find("if (this.rank == 0):"), std::string::npos) << ir;
  EXPECT_NE(ir.find("MPI_Barrier(this.comm_)"), std::string::npos) << ir;
}

TEST(Reading, LeavesOutWhatThePreprocessorDoes) {
  const std::string text = "#if 0\nvoid f() { MPI_Barrier(c); }\n#endif\nvoid g() { MPI_Barrier(c); }\n";
  const ir::Range skipped[] = {{0, static_cast<uint32_t>(text.find("void g"))}};
  base::Interner names;
  Reading reading(text, skipped, true);
  reading.FindLost({}, true, kMpi);
  ir::Module module = reading.Begin(source::FileId{0}, names);
  reading.Lower(&module, true, {}, names);
  ASSERT_EQ(module.functions.size(), 2u);
  EXPECT_EQ(names.View(module.functions[ir::FunctionId{1}].name), "g");
  EXPECT_NE(module.functions[ir::FunctionId{1}].flags & ir::kWithoutTypes, 0);
}

TEST(Reading, SurvivesHostileTexts) {
  constexpr int kDeep = 5000;
  for (const std::string& text : {
           "void f() { " + Repeat("{", kDeep),
           "void f() { x = " + Repeat("(", kDeep) + "1" + Repeat(")", kDeep) + "; }",
           "void f() { x = " + Repeat("a + ", kDeep) + "1; }",
           "void f() { " + Repeat("if (a) ", kDeep) + "g(); }",
           "void f() { " + Repeat("if (a) {} else ", kDeep) + "g(); }",
           "void f() { " + Repeat("g(", kDeep),
           "void f() { " + Repeat("[&] { ", kDeep),
           "void f() { x = " + Repeat("a ? b : ", kDeep) + "c; }",
           Repeat("extern \"C\" ", kDeep) + "void f() { g(); }",
           Repeat("namespace a { ", kDeep) + "void f() { g(); }",
           Repeat("class A { ", kDeep) + "void f() { g(); }",
           Repeat("#if A\n", kDeep) + "void f() { g(); }\n",
           "void " + Repeat("a::", kDeep) + "f() { " + Repeat("b::", kDeep) + "g(); }",
           "int " + Repeat("*", kDeep) + "f(int " + Repeat("&", kDeep) + "a) { g(); }",
           "void f() { " + Repeat("switch (a) { case 1: case 2: ", 200) + "g();" + Repeat("}", 200) + " }",
           Repeat("template <class T> ", kDeep) + "void f() { g(); }",
           "void f() { g<<<" + Repeat("<", kDeep) + ">>>(a); \"" + std::string(3, '\0') + "\xff\xfe }",
           Repeat("/*", kDeep), Repeat("\"", kDeep), Repeat("#", kDeep), std::string(kDeep, '\0'), std::string(),
       }) {
    SCOPED_TRACE(text.substr(0, 40));
    Lowered(text);
  }
}

}  // namespace
}  // namespace allranks::cpp::syntax
