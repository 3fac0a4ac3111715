#include "driver/pipeline/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allranks::pipeline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Lists a file that is gone when it is read.
class VanishingFileSystem : public source::MemoryFileSystem {
 public:
  explicit VanishingFileSystem(std::map<std::string, std::string> files) : MemoryFileSystem(std::move(files)) {}
  base::Result<std::string> Read(const std::string& path) const override {
    if (path == "gone.py") return base::Fail("gone.py: cannot open: No such file or directory");
    return MemoryFileSystem::Read(path);
  }
};

struct Chosen {
  std::vector<std::string> parse;
  std::vector<std::string> faulty;
  std::vector<std::string> generated;
  size_t unread_importers = 0;
};

Chosen Choose(std::map<std::string, std::string> texts, std::vector<std::string> paths) {
  const VanishingFileSystem files(std::move(texts));
  const PathMap map(".", "");
  EnumerateOptions options;
  options.paths = std::move(paths);
  const ProjectFiles project = Enumerate(options, map, files);
  const binding::ModuleGraph graph(project.all, project.import_roots);
  const IncludeGraph includes(project.all);
  const Prefilter prefilter(std::vector<std::string>{"torch.distributed"});
  const Prefilter cpp_prefilter(std::vector<std::string>{"MPI_"});
  const std::map<std::string, std::string> overlays;
  const Selection selection = SelectFiles({project, map, graph, includes, prefilter, cpp_prefilter, files, overlays, 2});
  Chosen chosen;
  for (const uint32_t index : selection.parse) chosen.parse.push_back(project.all[index]);
  for (const uint32_t index : selection.faulty) chosen.faulty.push_back(project.all[index]);
  for (const uint32_t index : selection.generated) chosen.generated.push_back(project.all[index]);
  chosen.unread_importers = selection.unread_importers;
  return chosen;
}

constexpr const char* kMentions = "import torch.distributed as dist\n";

TEST(SelectionTest, FilesThatMentionAnApi) {
  EXPECT_THAT(Choose({{"a.py", kMentions}, {"b.py", "print()\n"}}, {"."}).parse, ElementsAre("a.py"));
}

TEST(SelectionTest, ImportersOfOneThatDoes) {
  EXPECT_THAT(Choose({{"a.py", kMentions}, {"b.py", "import a\n"}, {"c.py", "from a import x\n"}, {"d.py", "import b\n"}},
                     {"."})
                  .parse,
              ElementsAre("a.py", "b.py", "c.py"));
}

TEST(SelectionTest, AWrappedModelWithItsParts) {
  const std::string model = "import torch.nn as nn\nclass Net(nn.Module): pass\n";
  const std::map<std::string, std::string> files = {{"main.py", std::string(kMentions) + "import net\nDDP(net.Net())\n"},
                                                    {"net.py", "import blocks\n" + model},
                                                    {"blocks.py", "import helper\n" + model},
                                                    {"helper.py", "import idle\n"},
                                                    {"idle.py", "x = 1\n"},
                                                    {"other.py", model}};
  EXPECT_THAT(Choose(files, {"main.py"}).parse, ElementsAre("blocks.py", "helper.py", "main.py", "net.py"));
}

TEST(SelectionTest, ScriptsThatComeToOneThroughOthers) {
  const std::map<std::string, std::string> files = {{"a.py", kMentions},
                                                    {"b.py", "import a\n"},
                                                    {"c.py", "import b\n"},
                                                    {"app.py", "import c\nif __name__ == '__main__':\n  c.run()\n"},
                                                    {"other.py", "if __name__ == '__main__':\n  print()\n"}};
  EXPECT_THAT(Choose(files, {"."}).parse, ElementsAre("a.py", "app.py", "b.py", "c.py"));
}

TEST(SelectionTest, WhatIsImportedOnDemandThroughAnyNumberOfFiles) {
  const std::map<std::string, std::string> files = {
      {"main.py", std::string(kMentions) + "import one\n"},
      {"one.py", "from two import f\nimport idle\n"},
      {"two.py", kMentions},
      {"idle.py", "x = 1\n"},
      {"unrelated.py", kMentions}};
  EXPECT_THAT(Choose(files, {"main.py"}).parse, ElementsAre("main.py", "one.py", "two.py"));
}

TEST(SelectionTest, WhatDecidesMayStandInAFileThatMentionsNothing) {
  const std::map<std::string, std::string> files = {
      {"main.py", std::string(kMentions) + "import settings\nimport net\n"},
      {"settings.py", "import deeper\nstop = False\n"},
      {"deeper.py", "import deepest\nx = 1\n"},
      {"deepest.py", "x = 1\n"},
      {"net.py", "import torch.nn as nn\nclass Net(nn.Module): pass\n"}};
  EXPECT_THAT(Choose(files, {"main.py"}).parse, ElementsAre("deeper.py", "main.py", "settings.py"));
}

TEST(SelectionTest, WhatAPackageHandsOn) {
  const std::map<std::string, std::string> files = {
      {"main.py", std::string(kMentions) + "from rows import Rows\n"},
      {"rows/__init__.py", "from .parts import *\nfrom . import net\n"},
      {"rows/net.py", "import torch.nn as nn\nclass Net(nn.Module): pass\n"},
      {"rows/parts/__init__.py", "from .read import Rows\nfrom .. import parts\n"},
      {"rows/parts/read.py", "import deeper\nclass Rows: pass\n"},
      {"deeper.py", "import deepest\nx = 1\n"},
      {"deepest.py", "x = 1\n"}};
  EXPECT_THAT(Choose(files, {"main.py"}).parse, ElementsAre("deeper.py", "main.py", "rows/__init__.py", "rows/parts/__init__.py", "rows/parts/read.py"));
}

TEST(SelectionTest, ACircleOfImportsEnds) {
  EXPECT_THAT(Choose({{"a.py", std::string(kMentions) + "import b\n"}, {"b.py", "import a\n"}}, {"a.py"}).parse,
              ElementsAre("a.py", "b.py"));
}

TEST(SelectionTest, PackagesAndRelativeImports) {
  const std::map<std::string, std::string> files = {{"pkg/__init__.py", "from .impl import sync\n"},
                                                    {"pkg/impl.py", kMentions},
                                                    {"train.py", "from pkg import sync\n"},
                                                    {"other.py", "from pkg.impl import sync\n"}};
  EXPECT_THAT(Choose(files, {"."}).parse, ElementsAre("other.py", "pkg/__init__.py", "pkg/impl.py"));
}

TEST(SelectionTest, AHeaderOfTheSystemIsNoHeaderOfTheProject) {
  const std::map<std::string, std::string> files = {{"main.c", "#include <stdio.h>\n#include <comm.h>\nint main() { MPI_Barrier(); print(); go(); }\n"},
                                                    {"net/stdio.h", "MPI_\n"},
                                                    {"net/stdio.c", "#include \"stdio.h\"\nvoid print() { MPI_Send(); }\n"},
                                                    {"net/comm.c", "#include \"comm.h\"\nvoid go() { MPI_Send(); }\n"},
                                                    {"net/comm.h", "MPI_\n"}};
  EXPECT_THAT(Choose(files, {"main.c"}).parse, ElementsAre("main.c", "net/comm.c"));
  EXPECT_THAT(Choose(files, {"net/stdio.c"}).parse, ElementsAre("net/stdio.c"));
}

TEST(SelectionTest, ImportersOfANamedFileThroughAnyNumberOfFiles) {
  const std::map<std::string, std::string> files = {{"lib.py", kMentions},
                                                    {"one.py", "import lib\n"},
                                                    {"main.py", std::string(kMentions) + "import one\n"},
                                                    {"other.py", kMentions}};
  EXPECT_THAT(Choose(files, {"lib.py"}).parse, ElementsAre("lib.py", "main.py", "one.py"));
  EXPECT_THAT(Choose(files, {"other.py"}).parse, ElementsAre("other.py"));
}

TEST(SelectionTest, ImportersOfANamedFileThatMentionsNothingItself) {
  const std::map<std::string, std::string> files = {{"store.py", "import os\n"}, {"main.py", std::string(kMentions) + "import store\n"}, {"other.py", "import os\n"}};
  EXPECT_THAT(Choose(files, {"store.py"}).parse, ElementsAre("main.py", "store.py"));
  EXPECT_THAT(Choose(files, {"other.py"}).parse, ElementsAre());
}

TEST(SelectionTest, WhereTooManyFilesImportANamedOneNoneIsReadAndItIsSaid) {
  std::map<std::string, std::string> files = {{"lib.py", kMentions}};
  for (size_t i = 0; i < kMostImporters; ++i) files.emplace("user" + std::to_string(i) + ".py", "import lib\n");
  EXPECT_EQ(Choose(files, {"lib.py"}).parse.size(), kMostImporters + 1);
  files.emplace("one_more.py", "import lib\n");
  const Chosen chosen = Choose(files, {"lib.py"});
  EXPECT_THAT(chosen.parse, ElementsAre("lib.py"));
  EXPECT_EQ(chosen.unread_importers, kMostImporters + 1);
}

TEST(SelectionTest, WhatAGeneratorWroteIsReadWhereOthersImportIt) {
  const std::string generated = std::string("# @generated\n") + kMentions;
  const std::map<std::string, std::string> files = {{"a.py", std::string(kMentions) + "import b_pb2\n"}, {"b_pb2.py", generated}, {"c_pb2.py", generated}};
  EXPECT_THAT(Choose(files, {"."}).parse, ElementsAre("a.py", "b_pb2.py"));
  EXPECT_THAT(Choose(files, {"."}).generated, ElementsAre("b_pb2.py", "c_pb2.py"));
  EXPECT_THAT(Choose(files, {"c_pb2.py"}).parse, ElementsAre("c_pb2.py"));
}

TEST(SelectionTest, BinaryVanishedAndHugeFilesAreFaulty) {
  const std::string huge = kMentions + std::string(kLargestSource, '#');
  const Chosen chosen = Choose({{"a.py", std::string("x\0y", 3)}, {"gone.py", ""}, {"huge.py", huge}}, {"."});
  EXPECT_THAT(chosen.parse, IsEmpty());
  EXPECT_THAT(chosen.faulty, ElementsAre("a.py", "gone.py", "huge.py"));
}

TEST(SelectionTest, FaultyFilesNobodyAskedForAreLeftOut) {
  const Chosen chosen = Choose({{"a.py", std::string(kMentions) + "import b\n"}, {"b.py", std::string("\0", 1)}}, {"a.py"});
  EXPECT_THAT(chosen.parse, ElementsAre("a.py"));
  EXPECT_THAT(chosen.faulty, IsEmpty());
}

TEST(SelectionTest, SourcesThatCallWhatCommunicatesThroughOthers) {
  const std::map<std::string, std::string> files = {
      {"comm.h", "#include <mpi.h>  // MPI_Comm\nvoid sum(double* x);\nint items();\n"},
      {"comm.cpp", "#include \"comm.h\"\nvoid sum(double* x) { MPI_Allreduce(x); }\nint items() { return 1; }\n"},
      {"norm.h", "#include \"comm.h\"\ndouble norm();\n"},
      {"norm.cpp", "#include \"norm.h\"\ndouble norm() { double x; sum(&x); return x; }\n"},
      {"calls.cpp", "#include \"norm.h\"\nint main() { return norm() > 1; }\n"},
      {"only_includes.cpp", "#include \"norm.h\"\nint main() { return items(); }\n"},
      {"unrelated.cpp", "int norm();\nint main() { return norm(); }\n"}};
  EXPECT_THAT(Choose(files, {"."}).parse, ElementsAre("calls.cpp", "comm.cpp", "norm.cpp"));
  EXPECT_THAT(Choose(files, {"calls.cpp"}).parse, ElementsAre("calls.cpp", "comm.cpp", "norm.cpp"));
}

TEST(SelectionTest, ANamedSourceFindsWhatItCallsOutOfItsSight) {
  const std::map<std::string, std::string> files = {
      {"a.cpp", "void sync_all();\nvoid print();\nint main() { if (MPI_Comm_rank() == 0) sync_all(); print(); }\n"},
      {"own.cpp", "void own();\nint main() { MPI_Comm_rank(); own(); }\nvoid own() {}\n"},
      {"by_header.cpp", "#include \"api.h\"\nint main() { MPI_Comm_rank(); sync_all(); }\n"},
      {"undeclared.cpp", "int main() { MPI_Comm_rank(); int sync_all = 1; return sync_all; }\n"},
      {"plain.cpp", "void sync_all();\nint main() { sync_all(); }\n"},
      {"api.h", "void sync_all();\n"},
      {"deep/b.cpp", "void wait();\nvoid sync_all() { MPI_Barrier(); wait(); }\n"},
      {"deep/c.cpp", "void wait() { MPI_Barrier(); }\n"},
      {"deep/print.cpp", "#include <cstdio>\nvoid print() { puts(\"\"); }\n"}};
  EXPECT_THAT(Choose(files, {"a.cpp"}).parse, ElementsAre("a.cpp", "deep/b.cpp", "deep/c.cpp"));
  EXPECT_THAT(Choose(files, {"by_header.cpp"}).parse, ElementsAre("by_header.cpp", "deep/b.cpp", "deep/c.cpp"));
  EXPECT_THAT(Choose(files, {"own.cpp"}).parse, ElementsAre("own.cpp"));
  EXPECT_THAT(Choose(files, {"undeclared.cpp"}).parse, ElementsAre("undeclared.cpp"));
  EXPECT_THAT(Choose(files, {"plain.cpp"}).parse, IsEmpty());
}

TEST(SelectionTest, WhatManySourcesDefineIsNotLookedAt) {
  std::map<std::string, std::string> files = {{"a.cpp", "void sync_all();\nint main() { MPI_Comm_rank(); sync_all(); }\n"}};
  for (int i = 0; i < 5; ++i) files.emplace("b" + std::to_string(i) + ".cpp", "void sync_all() { MPI_Barrier(); }\n");
  EXPECT_THAT(Choose(files, {"a.cpp"}).parse, ElementsAre("a.cpp"));
}

// A name that mostly means something else says nothing.
TEST(SelectionTest, ANameThatFewDefinitionsGiveAMeaningTo) {
  const std::map<std::string, std::string> files = {
      {"all.h", "#include \"comm.h\"\n#include \"a.h\"\n"},
      {"comm.h", "struct Comm { void init() { MPI_Init(); } };\n"},
      {"a.h", "struct A { void init() {} };\nstruct B { void init() {} };\n"},
      {"use.cpp", "#include \"all.h\"\nvoid f(A& a) { a.init(); }\n"}};
  EXPECT_THAT(Choose(files, {"use.cpp"}).parse, IsEmpty());
}

}  // namespace
}  // namespace allranks::pipeline
