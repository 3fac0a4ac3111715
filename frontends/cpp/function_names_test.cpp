#include "frontends/cpp/function_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allranks::cpp {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::vector<NamedFunction> Scan(std::string_view text) {
  return ScanFunctions(text, [](std::string_view body) { return body.find("MPI_") != std::string_view::npos; });
}

const NamedFunction* Named(const std::vector<NamedFunction>& functions, std::string_view name) {
  for (const NamedFunction& function : functions) {
    for (const uint32_t one : function.names) {
      if (one == HashOfName(name)) return &function;
    }
  }
  return nullptr;
}

TEST(FunctionNamesTest, ABodyUsesItsWords) {
  const auto functions = Scan("int f(int x) { return g(x); }\nvoid h() { MPI_Barrier(w); }\n");
  ASSERT_THAT(functions, SizeIs(2));
  EXPECT_THAT(Named(functions, "f")->uses, Contains(HashOfName("g")));
  EXPECT_FALSE(Named(functions, "f")->mentions);
  EXPECT_TRUE(Named(functions, "h")->mentions);
}

TEST(FunctionNamesTest, DeclarationsAndCommentsAreNoUse) {
  EXPECT_THAT(Scan("void f();  // calls MPI_Barrier()\nextern int g(int);\nint x = 1;\n"), IsEmpty());
  const auto functions = Scan("void f() { /* g() */ puts(\"g()\"); }");
  EXPECT_THAT(Named(functions, "f")->uses, Not(Contains(HashOfName("g"))));
}

TEST(FunctionNamesTest, MethodsConstructorsAndOperators) {
  const auto functions = Scan(
      "namespace n { class Comm : Base {\n public:\n  Comm() : a_(1), b_{2} { MPI_Init(); }\n  ~Comm() { end(); }\n"
      "  int size() const noexcept(true) { return n_; }\n  void operator()(int x) { sum(x); }\n}; }\n"
      "void n::Comm::reduce(int x) { all(x); }\n");
  EXPECT_NE(Named(functions, "size"), nullptr);
  EXPECT_THAT(Named(functions, "reduce")->uses, Contains(HashOfName("all")));
  bool constructor = false, destructor = false, call = false;
  for (const NamedFunction& function : functions) {
    if (std::ranges::count(function.names, HashOfName("Comm")) == 0) continue;
    constructor |= function.mentions;
    destructor |= std::ranges::count(function.uses, HashOfName("end")) > 0;
    call |= std::ranges::count(function.uses, HashOfName("sum")) > 0;
  }
  EXPECT_TRUE(constructor);
  EXPECT_TRUE(destructor);
  EXPECT_TRUE(call);
}

TEST(FunctionNamesTest, AVariableHidesAFunction) {
  const auto functions = Scan("void f() { auto init = [] {}; call_once(flag, init); return g(); }\n");
  EXPECT_THAT(Named(functions, "f")->uses, Not(Contains(HashOfName("init"))));
  EXPECT_THAT(Named(functions, "f")->uses, Contains(HashOfName("g")));
}

TEST(FunctionNamesTest, AQualifierIsNoUse) {
  const auto functions = Scan("void f() { dispatch::run(); }\n");
  EXPECT_THAT(Named(functions, "f")->uses, Not(Contains(HashOfName("dispatch"))));
  EXPECT_THAT(Named(functions, "f")->uses, Contains(HashOfName("run")));
}

TEST(FunctionNamesTest, ArgumentsOfTemplatesAreNoNames) {
  const auto functions = Scan("template <> auto f<float, Some<T>>(int x) -> A<int> { g(); }\n");
  EXPECT_THAT(Named(functions, "f")->uses, Contains(HashOfName("g")));
  EXPECT_EQ(Named(functions, "T"), nullptr);
}

TEST(FunctionNamesTest, AMacroIsAFunction) {
  const auto functions = Scan("#define CHECK(x) \\\n  do { MPI_Abort(x); } while (0)\nvoid f() { CHECK(1); }\n");
  EXPECT_TRUE(Named(functions, "CHECK")->mentions);
  EXPECT_THAT(Named(functions, "f")->uses, Contains(HashOfName("CHECK")));
}

TEST(FunctionNamesTest, AllBranchesOfAConditionCount) {
  const auto functions = Scan(
      "#ifdef A\nvoid f(int x) {\n#else\nvoid f() {\n#endif\n  g();\n}\nvoid h() { i(); }\n");
  EXPECT_THAT(Named(functions, "f")->uses, Contains(HashOfName("g")));
  EXPECT_THAT(Named(functions, "h")->uses, Contains(HashOfName("i")));
}

TEST(FunctionNamesTest, AnyTextEnds) {
  for (const char* text : {"", "{", "}", "f(", "f() {", "\"", "R\"", "R\"x(", "/*", "#", "#define", "#define f(", "#else\n}", "'", "\\"}) Scan(text);
}

}  // namespace
}  // namespace allranks::cpp
