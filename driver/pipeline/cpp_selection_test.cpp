#include "driver/pipeline/cpp_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "analyzer/built_in/built_in.h"
#include "driver/pipeline/selection.h"

namespace allranks::pipeline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Texts = std::map<std::string, std::string>;

Selection Select(const Texts& texts, const std::vector<std::string>& paths, ProjectFiles& project) {
  const source::MemoryFileSystem files(texts);
  const PathMap map(".", "");
  EnumerateOptions options;
  options.paths = paths;
  project = Enumerate(options, map, files);
  const binding::ModuleGraph graph(project.all, project.import_roots);
  const IncludeGraph includes(project.all);
  const Prefilter prefilter(std::vector<std::string>{"torch.distributed"});
  base::Interner names;
  knowledge::Knowledge knowledge(names);
  built_in::FillKnowledge(knowledge);
  const CppNames cpp_names(knowledge);
  const std::map<std::string, std::string> overlays;
  return SelectFiles({project, map, graph, includes, prefilter, &cpp_names, files, overlays, 2});
}

std::vector<std::string> Read(const Texts& texts, const std::vector<std::string>& paths) {
  ProjectFiles project;
  const Selection selection = Select(texts, paths, project);
  std::vector<std::string> read;
  for (const uint32_t index : selection.parse) read.push_back(project.all[index]);
  return read;
}

TEST(CppSelectionTest, AKernelBesideTheTrainingCodeIsNotRead) {
  const Texts texts = {{"common.h", "#include <nccl.h>\n#include <torch/extension.h>\nvoid scale(float* x, int n);\n"},
                       {"scale.cu", "#include \"common.h\"\n__global__ void k(float* x) {}\nvoid scale(float* x, int n) { k<<<1, n>>>(x); }\n"},
                       {"bind.cpp", "#include \"common.h\"\nPYBIND11_MODULE(ext, m) { m.def(\"scale\", &scale); }\n"}};
  ProjectFiles project;
  const Selection selection = Select(texts, {"."}, project);
  EXPECT_THAT(selection.parse, IsEmpty());
  EXPECT_EQ(selection.idle.size(), 3u);
}

TEST(CppSelectionTest, WhoReachesACollectiveThroughOthersIs) {
  const Texts texts = {{"a.h", "void sum(double* x);\n"},
                       {"a.cpp", "#include \"a.h\"\n#include <mpi.h>\nvoid sum(double* x) { MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }\n"},
                       {"b.h", "double norm(double* x);\n"},
                       {"b.cpp", "#include \"a.h\"\n#include \"b.h\"\ndouble norm(double* x) { sum(x); return *x; }\n"},
                       {"main.cpp", "#include \"b.h\"\nint main(int n, char**) { double x = n; if (n > 1) norm(&x); }\n"},
                       {"idle.cpp", "#include \"b.h\"\nint half(int n) { return n / 2; }\n"}};
  EXPECT_THAT(Read(texts, {"."}), ElementsAre("a.cpp", "b.cpp", "main.cpp"));
}

TEST(CppSelectionTest, OneFileCostsWhatDefinesWhatItCalls) {
  const Texts texts = {{"lib/io.h", "void stop_all(int code);\nint lines(const char*);\n"},
                       {"lib/one.cpp", "#include \"io.h\"\n#include <stdlib.h>\nvoid stop_all(int code) { exit(code); }\n"},
                       {"lib/two.cpp", "#include \"io.h\"\nint lines(const char*) { return 1; }\n"},
                       {"main.cpp", "#include \"lib/io.h\"\n#include <mpi.h>\nint main() { int rank; MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
                                    "  if (rank == 0) stop_all(1);\n  MPI_Barrier(MPI_COMM_WORLD); }\n"},
                       {"other.cpp", "#include <mpi.h>\nvoid other() { MPI_Barrier(MPI_COMM_WORLD); }\n"}};
  EXPECT_THAT(Read(texts, {"main.cpp"}), ElementsAre("lib/one.cpp", "main.cpp"));
  EXPECT_THAT(Read(texts, {"lib/two.cpp"}), IsEmpty());
}

TEST(CppSelectionTest, EqualNamesThatDoNotSeeOneAnotherAreNotTheSame) {
  const Texts texts = {{"a.cpp", "#include <mpi.h>\nstatic void run() { MPI_Barrier(MPI_COMM_WORLD); }\nvoid a() { run(); }\n"},
                       {"b.cpp", "static void run() {}\nvoid b() { run(); }\n"}};
  EXPECT_THAT(Read(texts, {"."}), ElementsAre("a.cpp"));
}

TEST(CppSelectionTest, AHeaderComesWithASourceThatIncludesIt) {
  const Texts texts = {{"sync.h", "#include <mpi.h>\ninline void sync() { MPI_Barrier(MPI_COMM_WORLD); }\n"},
                       {"use.cpp", "#include \"sync.h\"\nint idle() { return 1; }\n"},
                       {"alone.h", "#include <mpi.h>\ninline void alone() { MPI_Barrier(MPI_COMM_WORLD); }\n"}};
  EXPECT_THAT(Read(texts, {"."}), ElementsAre("alone.h", "use.cpp"));
}

TEST(CppSelectionTest, ADeviceIsAChoice) {
  EXPECT_THAT(Read({{"a.cpp", "#include <cuda_runtime.h>\nvoid a() { cudaSetDevice(0); }\n"},
                    {"b.cpp", "#include <cuda_runtime.h>\nvoid b() { cudaDeviceSynchronize(); }\n"}},
                   {"."}),
              ElementsAre("a.cpp"));
}

TEST(CppSelectionTest, WhoChoosesADeviceIsAskedForByThoseWithRanks) {
  const Texts texts = {{"gpu.h", "void use_gpu(int index);\nvoid grow(float* x);\n"},
                       {"gpu.cpp", "#include \"gpu.h\"\n#include <cuda_runtime.h>\nvoid use_gpu(int index) { cudaSetDevice(index); }\n"},
                       {"grow.cpp", "#include \"gpu.h\"\nvoid grow(float* x) { use_gpu(0); *x += 1; }\n"},
                       {"setup.h", "void set_up(int rank);\n"},
                       {"setup.cpp", "#include \"setup.h\"\n#include \"gpu.h\"\nvoid set_up(int rank) { use_gpu(rank); }\n"},
                       {"main.cpp", "#include <mpi.h>\n#include \"setup.h\"\nint main() { int r; MPI_Comm_rank(MPI_COMM_WORLD, &r); set_up(r); }\n"}};
  EXPECT_THAT(Read(texts, {"."}), ElementsAre("gpu.cpp", "main.cpp", "setup.cpp"));
}

TEST(CppSelectionTest, WhatIsReturnedMayDecide) {
  const Texts texts = {{"pure.h", "bool is_first(int rank);\nvoid print(int rank);\n"},
                       {"first.cpp", "#include \"pure.h\"\nbool is_first(int rank) { return rank == 0; }\n"},
                       {"print.cpp", "#include \"pure.h\"\nvoid print(int) {}\n"},
                       {"main.cpp", "#include <mpi.h>\n#include \"pure.h\"\nint main() { int r; MPI_Comm_rank(MPI_COMM_WORLD, &r); print(r);\n"
                                    "  if (is_first(r)) MPI_Barrier(MPI_COMM_WORLD); }\n"}};
  EXPECT_THAT(Read(texts, {"."}), ElementsAre("first.cpp", "main.cpp"));
}

TEST(CppSelectionTest, MethodsOfAGroupAreMeantWhereItsLibraryIs) {
  const Texts texts = {{"comm.h", "#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>\nstruct Comm { c10d::ProcessGroup* pg; };\n"},
                       {"a.cpp", "#include \"comm.h\"\nvoid a(Comm& c, at::Tensor t) { c.pg->barrier(); }\n"},
                       {"b.cpp", "#include \"fence.h\"\nvoid b(Fence& f) { f.barrier(); }\n"}};
  EXPECT_THAT(Read(texts, {"."}), ElementsAre("a.cpp"));
}

}  // namespace
}  // namespace allranks::pipeline
