#include "frontends/cpp/outline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace allranks::cpp {
namespace {

bool Defines(const Outline& outline, std::string_view name, NameHash used) {
  return std::ranges::any_of(outline.definitions, [&](const Definition& each) {
    const auto names = std::span(outline.names).subspan(each.names_begin, each.names_end - each.names_begin);
    const auto uses = std::span(outline.uses).subspan(each.uses_begin, each.uses_end - each.uses_begin);
    return std::ranges::count(names, HashOf(name)) > 0 && std::ranges::binary_search(uses, used);
  });
}

// Whether a definition of this name uses that one.
bool Uses(std::string_view text, std::string_view name, std::string_view used) {
  return Defines(OutlineOf(text), name, HashOf(used));
}

TEST(OutlineTest, FunctionsByWhatTheyUse) {
  constexpr std::string_view kText = "int half(int n) { return n / two(); }\nvoid work() { if (a) { run(); } }\n";
  EXPECT_TRUE(Uses(kText, "half", "two"));
  EXPECT_TRUE(Uses(kText, "work", "run"));
  EXPECT_FALSE(Uses(kText, "half", "run"));
  EXPECT_FALSE(Uses(kText, "work", "two"));
}

TEST(OutlineTest, MethodsConstructorsAndOperators) {
  constexpr std::string_view kText = R"(
    template <class T, typename U = std::vector<int>>
    class EXPORT Box final : public ns::Base<T> {
     public:
      Box(int n) : ns::Base<T>(n), a_(n), b_{n} { open(); }
      ~Box() override { shut(); }
      bool operator==(const Box& other) const { return same(); }
      auto make() const noexcept -> std::vector<int> { return made(); }
      int kept_ = stored();
      enum class Kind : int { First = 1, Second };
    };
    Box::Box() : Box(3) { outside(); }
    Box& Box::operator=(const Box& other) { return assigned(); }
    struct Box* New() { return fresh(); })";
  EXPECT_TRUE(Uses(kText, "Box", "open"));
  EXPECT_TRUE(Uses(kText, "Box", "shut"));
  EXPECT_TRUE(Uses(kText, "Box", "same"));
  EXPECT_TRUE(Uses(kText, "make", "made"));
  EXPECT_TRUE(Uses(kText, "kept_", "stored"));
  EXPECT_TRUE(Uses(kText, "Box", "outside"));
  EXPECT_TRUE(Uses(kText, "Box", "assigned"));
  EXPECT_TRUE(Uses(kText, "New", "fresh"));
  EXPECT_FALSE(Uses(kText, "make", "fresh"));
}

TEST(OutlineTest, MacrosAndWhatTheyPutTogether) {
  const Outline outline = OutlineOf("#define CALL(name) \\\n  MPI_##name(MPI_COMM_WORLD)\n#define SYNC() barrier()\n");
  EXPECT_TRUE(Defines(outline, "CALL", HashOfPasted("MPI_")));
  EXPECT_TRUE(Defines(outline, "SYNC", HashOf("barrier")));
}

TEST(OutlineTest, WhatStandsInCommentsAndQuotesIsNoName) {
  constexpr std::string_view kText = "void f() { /* one() */ // two() \\\n three()\n puts(\"four()\"); char c = '{'; puts(R\"x(five() } )x\"); six(); }";
  for (const std::string_view name : {"one", "two", "three", "four", "five"}) EXPECT_FALSE(Uses(kText, "f", name)) << name;
  EXPECT_TRUE(Uses(kText, "f", "six"));
  EXPECT_TRUE(Defines(OutlineOf("int r() { return atoi(getenv(\"RANK\")); }"), "r", HashOfQuoted("RANK")));
}

TEST(OutlineTest, EitherBranchOfThePreprocessor) {
  constexpr std::string_view kText = "void f() {\n#ifdef A\n if (a) {\n#else\n if (b) {\n#endif\n run(); } }\nvoid g() { stop(); }\n";
  EXPECT_TRUE(Uses(kText, "f", "run"));
  EXPECT_TRUE(Uses(kText, "g", "stop"));
  EXPECT_FALSE(Uses(kText, "f", "stop"));
}

TEST(OutlineTest, KernelsAreLeftOut) {
  constexpr std::string_view kText = "template <int N>\n__global__ void k(int* p) { barrier(); }\n__host__ __device__ int b() { return both(); }";
  EXPECT_FALSE(Uses(kText, "k", "barrier"));
  EXPECT_TRUE(Uses(kText, "b", "both"));
}

TEST(OutlineTest, ATextWhoseBracesDoNotCloseIsOneDefinition) {
  constexpr std::string_view kText = "void f() { run(); BEGIN\nvoid g() { stop(); }\n";
  EXPECT_TRUE(Uses(kText, "g", "run"));
  EXPECT_TRUE(Uses(kText, "f", "stop"));
}

TEST(OutlineTest, DeepAndManyBranchesCostNoMoreThanTheyAreLong) {
  std::string deep, wide = "enum Kind { First";
  for (int i = 0; i < 20000; ++i) {
    deep += "namespace n {\n#if A\n";
    wide += ",\n#if A\n Kind" + std::to_string(i) + "\n#endif\n";
  }
  deep += "void f() { run(); }\n";
  EXPECT_TRUE(Uses(deep, "f", "run"));
  EXPECT_TRUE(Uses(wide + "};\nvoid g() { stop(); }\n", "g", "stop"));
}

TEST(OutlineTest, DeclarationsAndNamespaces) {
  const Outline outline = OutlineOf("extern \"C\" {\nint rank(void);\n}\nnamespace a::b {\nnamespace {\nint f() { return g(); }\n}\n}\n");
  EXPECT_TRUE(std::ranges::binary_search(outline.declares, HashOf("rank")));
  EXPECT_TRUE(Defines(outline, "f", HashOf("g")));
}

}  // namespace
}  // namespace allranks::cpp
