"""C, C++ and CUDA from outside: compile commands as data, bad input, the helper program and its headers."""

import json
import os
import pathlib
import shutil
import subprocess
import unittest

from hostile import CRASHES_CLANG
from support import ALLRANKS, CliTest, main

GUARDED = """\
#include <mpi.h>

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == ROOT) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
"""
PLAIN = GUARDED.replace("ROOT", "0")


class Cpp(CliTest):
    def check(self, *args, **options):
        return self.run_allranks("check", "--output-format", "concise", "-q", *args, **options)

    def commands(self, *entries, where="compile_commands.json"):
        self.write(where, json.dumps([{"directory": str(self.root), **entry} for entry in entries]))

    def test_headers_of_the_compiler_come_along(self):
        # As on a machine that has no Clang and no C library's headers.
        self.write("a.cpp", "#include <stddef.h>\n#include <stdint.h>\n#include <mpi.h>\n"
                            "void f() {\n  int rank;\n  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);\n}\n")
        self.write("compile_commands.json", json.dumps([{"file": "a.cpp", "directory": str(self.root), "arguments": ["c++", "-nostdinc", "a.cpp"]}]))
        result = self.run_allranks("check", "--output-format", "json")
        self.assertEqual([finding["code"] for finding in json.loads(result.out)["findings"]], ["AR101"])

    def test_compile_command_gives_macros(self):
        self.write("main.cpp", GUARDED)
        self.commands({"file": "main.cpp", "command": "mpicxx -DROOT=0 -O2 -c main.cpp -o main.o"})
        self.assertIn("main.cpp:7:21: error: AR101", self.check().out)

    def test_folder_of_compile_commands(self):
        self.write("main.cpp", GUARDED)
        self.commands({"file": "main.cpp", "arguments": ["c++", "-DROOT=0", "main.cpp"]}, where="out/here/compile_commands.json")
        self.assertNotIn("AR001", self.check("-p", "out/here").out)
        self.assertIn("AR001 not all of this could be read: use of undeclared identifier 'ROOT'",
                      self.check("--min-confidence", "possible").out)

    def test_flags_of_nvcc_and_flag_files(self):
        self.write("main.cu", GUARDED)
        self.write("flags.rsp", "-gencode arch=compute_90,code=sm_90 -Xcompiler -DROOT=0,-fPIC --expt-relaxed-constexpr")
        self.commands({"file": "main.cu", "command": "nvcc -ccbin g++ -x cu @flags.rsp -rdc=true -c main.cu -o main.o"})
        self.assertIn("main.cu:7:21: error: AR101", self.check().out)

    def test_files_outside_the_project_are_not_quoted(self):
        secret = self.write("etc/secret", "password = 1;\n")
        self.write("project/here.h", "inside = 1;\n")
        (self.root / "project" / "link.h").symlink_to("../etc/secret")
        for name, header in (("main", secret), ("linked", "link.h"), ("inside", "here.h"), ("missing", "nowhere.h")):
            self.write(f"project/{name}.cpp", f'#include <mpi.h>\n#include "{header}"\nint wait() {{ return MPI_Barrier(MPI_COMM_WORLD); }}\n')
        self.write("project/embedded.cpp", '#include <mpi.h>\nstruct Text {\n  char bytes[64] = {\n#embed "../etc/secret" limit(8)\n  };\n'
                                           "  constexpr int size() const { return 8; }\n  constexpr const char* data() const { return bytes; }\n};\n"
                                           "static_assert(false, Text());\nint wait() { return MPI_Barrier(MPI_COMM_WORLD); }\n")
        command = {"directory": str(self.root / "project"), "file": "embedded.cpp", "arguments": ["c++", "-std=c++26", "embedded.cpp"]}
        self.write("project/compile_commands.json", json.dumps([command]))
        shown = self.check("--min-confidence", "possible", "--root", ".", cwd=self.root / "project").out
        self.assertEqual(shown.count("it does not compile (in "), 2, shown)
        self.assertIn("etc/secret:1)", shown)
        self.assertIn("static assertion failed", shown)
        self.assertIn("a type specifier is required", shown)
        self.assertIn("'nowhere.h' file not found", shown)
        self.assertNotIn("password", shown)

    def test_nothing_is_run_or_loaded(self):
        self.write("main.cpp", PLAIN)
        made = self.root / "made"
        self.commands({"file": "main.cpp",
                       "command": f"sh -c 'touch {made}' -fplugin=/nowhere/plugin.so -Xclang -load -Xclang /nowhere/x.so "
                                  f"-wrapper touch,{made} -o {made} -MD -MF {made} main.cpp"})
        result = self.check()
        self.assertIn("AR101", result.out)
        self.assertNotIn("AR001", result.out)
        self.assertFalse(made.exists())

    def test_a_named_pipe_is_not_waited_for(self):
        os.mkfifo(self.root / "pipe.h")
        self.write("main.cpp", '#include "pipe.h"\n' + PLAIN)
        result = self.run_allranks("check", "-q", "--min-confidence", "possible", "--output-format", "concise", timeout=30)
        self.assertIn("'pipe.h' file not found", result.out)

    def test_broken_compile_commands(self):
        self.write("main.cpp", PLAIN)
        self.write("compile_commands.json", "[{")
        result = self.check()
        self.assertEqual(result.err, "allranks: error: compile_commands.json: not valid JSON; files are read with default flags\n")
        self.assertIn("AR101", result.out)

    def test_broken_compile_commands_where_no_file_concerns_ranks(self):
        self.write("plain.cpp", "int add(int a, int b) { return a + b; }\n")
        self.write("train.py", "import torch.distributed as dist\ndist.barrier()\n")
        self.write("compile_commands.json", "not json")
        for _ in range(2):
            self.assert_one_line_error(self.check(), "compile_commands.json: not valid JSON")
        # Where no C++ is asked for, nothing would be read with them.
        self.assertEqual(self.check("train.py").code, 0)
        self.write("compile_commands.json", "[]")
        result = self.check()
        self.assertEqual((result.code, result.err), (0, ""))
        self.assert_one_line_error(self.check("-p", "nowhere"), "nowhere: there is no compile_commands.json")

    def test_entries_without_a_command(self):
        self.write("main.cpp", PLAIN)
        for entries, said in (([{}], "1 entry has no file or command and was ignored"),
                              ([{}, {"file": "a.cpp"}], "2 entries have no file or command and were ignored")):
            self.write("compile_commands.json", json.dumps(entries))
            self.assertEqual(self.check().err, f"allranks: error: compile_commands.json: {said}\n")

    def test_missing_compile_commands(self):
        self.write("main.cpp", PLAIN)
        result = self.check("-p", "nowhere")
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertIn("nowhere: there is no compile_commands.json", result.err)
        self.assertIn("AR101", result.out)

    def test_missing_flag_file(self):
        self.write("main.cpp", PLAIN)
        self.commands({"file": "main.cpp", "command": "c++ @gone.rsp -c main.cpp"})
        result = self.check()
        self.assertIn("the flag file gone.rsp, with which main.cpp is compiled, cannot be read", result.err)
        self.assertIn("AR101", result.out)

    def test_crash_of_clang_costs_one_file(self):
        self.write("crash.cpp", CRASHES_CLANG + "#include <mpi.h>\nint wait() { return MPI_Barrier(MPI_COMM_WORLD); }\n")
        self.write("main.cpp", PLAIN)
        result = self.check()
        self.assertIn("crash.cpp:1:1: error: AR001 file was not analysed: Clang crashed", result.out)
        self.assertIn("main.cpp:7:18: error: AR101", result.out)

    def test_header_that_includes_itself(self):
        self.write("loop.h", '#include "loop.h"\n')
        self.write("main.cpp", '#include "loop.h"\n' + PLAIN)
        result = self.check("--min-confidence", "possible")
        self.assertIn("main.cpp:1:10: error: AR001", result.out)
        self.assertIn("main.cpp:8:18: error: AR101", result.out)

    def test_missing_header(self):
        self.write("main.cpp", '#include "gone.h"\n' + PLAIN)
        result = self.check()
        self.assertNotIn("AR001", result.out)
        self.assertIn("main.cpp:8:18: error: AR101", result.out)
        # Nobody has said how the file is compiled: one line for all such files.
        self.assertIn("\nRead in part: 1 file of C, C++ or CUDA, as no compile_commands.json lists it. ", self.run_allranks("check").out)
        possible = self.check("--min-confidence", "possible").out
        self.assertIn("main.cpp:1:10: error: AR001 not all of this could be read: 'gone.h' file not found", possible)
        self.commands({"file": "main.cpp", "command": "c++ -c main.cpp"})
        self.assertIn("main.cpp:1:10: error: AR001 not all of this could be read: 'gone.h' file not found", self.check().out)

    def test_a_fresh_checkout_is_not_red(self):
        self.write("main.cpp", '#include "gone.h"\n#include <mpi.h>\nint main() { MPI_Barrier(MPI_COMM_WORLD); }\n')
        result = self.check()
        self.assertEqual((result.code, result.err), (0, ""), result.out)

    def test_a_file_of_which_nothing_is_compiled_was_read(self):
        self.write("off.cpp", "#include <mpi.h>\n#ifdef WITH_MPI\nvoid f() { MPI_Barrier(MPI_COMM_WORLD); }\n#endif\n")
        self.write("alone.cu", "#include <nccl.h>\n")
        result = self.check()
        self.assertEqual((result.code, result.out, result.err), (0, "", ""))

    def test_flags_of_a_neighbour(self):
        self.write("src/a.cpp", "int x;\n")
        self.write("src/main.cpp", "#ifdef WITH_MPI\n" + PLAIN + "#endif\n")
        self.commands({"file": "src/a.cpp", "command": "c++ -DWITH_MPI -c src/a.cpp"})
        self.assertIn("src/main.cpp:8:18: error: AR101", self.check().out)

    def test_extra_arguments(self):
        self.write("main.cpp", "#ifdef WITH_MPI\n" + PLAIN + "#endif\n")
        self.assertNotIn("AR101", self.check().out)
        self.assertIn("main.cpp:8:18: error: AR101", self.check("--extra-arg", "-DWITH_MPI").out)
        self.write("allranks.toml", 'extra-args = ["-DWITH_MPI"]\n')
        self.assertIn("main.cpp:8:18: error: AR101", self.check().out)

    def test_folder_that_is_named_comes_before_a_namesake(self):
        self.write("one/rank.h", "#define ON_RANK\n")
        self.write("two/rank.h", "#define ON_RANK if (rank == 0)\n")
        self.write("main.cpp", "#include <mpi.h>\n#include <rank.h>\nvoid f() {\n  int rank;\n  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
                               "  ON_RANK MPI_Barrier(MPI_COMM_WORLD);\n}\n")
        self.assertNotIn("AR101", self.check("--extra-arg", "-Ione").out)
        self.assertIn("main.cpp:6", self.check("--extra-arg", "-Itwo").out)

    def test_generated_file(self):
        rows = "".join(f"  {{{i}, {i * 3}, {i * 7}}},\n" for i in range(380_000))
        self.assertGreater(len(rows), 10 << 20)
        self.write("table.c", "#include <mpi.h>\nstatic const int table[][3] = {\n" + rows + "};\n" + PLAIN.split("\n", 1)[1])
        self.assertIn("AR101", self.check().out)

    def test_finding_in_a_header_is_reported_once(self):
        self.write("sum.h", "#pragma once\n#include <mpi.h>\n\ninline void sync(int rank) {\n"
                            "  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);\n}\n\ntemplate <class T> T twice(T x) { return x + x; }\n")
        user = '#include "sum.h"\nvoid NAME() { int rank; MPI_Comm_rank(MPI_COMM_WORLD, &rank); sync(twice(rank)); }\n'
        self.write("a.cpp", user.replace("NAME", "a"))
        self.write("b.cpp", user.replace("NAME", "b"))
        self.assertEqual(self.check().out.count("AR101"), 1)

    def test_library_of_headers(self):
        self.write("lib/comm.hpp", "#pragma once\n#include <lib/detail/sync.hpp>\ninline void all(int rank) { sync(rank); }\n")
        self.write("lib/detail/sync.hpp", "#pragma once\n#include <mpi.h>\n\ninline void sync(int rank) {\n"
                                          "  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);\n}\n")
        result = self.check()
        self.assertEqual(result.out.count("lib/detail/sync.hpp:5:18: error: AR101"), 1, result.out)
        self.assertNotIn("AR001", result.out)
        self.assertIn("AR101", self.check("lib/detail/sync.hpp").out)
        # A source that brings them changes nothing.
        self.write("main.cpp", '#include "lib/comm.hpp"\nint main() {\n  int rank;\n  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  all(rank);\n}\n')
        self.assertEqual(self.check().out.count("AR101"), 1)

    def test_headers_of_a_folder_that_only_the_build_names(self):
        self.write("system/os.h", '#pragma once\n#include "deep/far.h"\n')
        self.write("other/deep/far.h", "#pragma once\n#define ROOT 0\n")
        self.write("src/main.cpp", '#include "os.h"\n' + GUARDED)
        result = self.check()
        self.assertIn("src/main.cpp:8:21: error: AR101", result.out)
        self.assertNotIn("AR001", result.out)

    CUDA = """\
#include <cmath>
#include <nccl.h>
#include <cuda_fp16.h>

__global__ void scale(half *data, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = __hmul(__ldcs(data + i), __float2half(0.5f));
}

int step(half *data, size_t n, ncclComm_t comm, cudaStream_t stream) {
  int rank;
  ncclCommUserRank(comm, &rank);
  if (!std::isfinite(float(n)) || isfinite(2.0f * n)) scale<<<max(1, (unsigned)n), 32, 0, stream>>>(data, max(n, n));
  if (rank == 0) ncclAllReduce(data, data, n, ncclHalf, ncclSum, comm, stream);
  return cudaStreamSynchronize(stream) == cudaSuccess;
}
"""

    def test_cuda_without_the_toolkit(self):
        self.write("step.cu", self.CUDA)
        result = self.check(env={"CUDA_HOME": str(self.root)})
        self.assertIn("step.cu:13:18: error: AR101", result.out)
        self.assertNotIn("AR001", result.out)

    def test_cuda_with_the_toolkit(self):
        home = pathlib.Path("/usr/local/cuda")
        if not (home / "include/crt/host_config.h").exists():
            self.skipTest("this machine has no CUDA toolkit in /usr/local/cuda")
        version = "#if CUDART_VERSION == WANTED\n#error of the toolkit\n#endif\n#ifdef ALLRANKS_CUDA_H\n#error stands in\n#endif\n"
        self.write("step.cu", self.CUDA)
        self.write("which.cpp", "#include <cuda_runtime.h>\n" + version + GUARDED.replace("ROOT", "0"))
        result = self.check()
        self.assertIn("step.cu:13:18: error: AR101", result.out)
        self.assertNotIn("AR001", result.out)
        self.commands({"file": "which.cpp", "arguments": ["c++", f"-I{home}/include", "which.cpp"]})
        self.assertNotIn("stands in", self.check(env={"CUDA_HOME": str(self.root)}).out)
        self.assertIn("AR001", self.check(env={"CUDA_HOME": str(self.root)}, cwd=self.elsewhere("which.cpp")).out)

    def elsewhere(self, name):
        """A folder with that file and no compile command for it."""
        folder = pathlib.Path(self._folder.name) / "elsewhere"
        folder.mkdir()
        shutil.copy(self.root / name, folder)
        return folder

    def test_suppression(self):
        self.write("main.cpp", PLAIN.replace("MPI_COMM_WORLD);\n  MPI_Fin", "MPI_COMM_WORLD);  // allranks: ignore[AR101] a test\n  MPI_Fin"))
        result = self.check()
        self.assertEqual((result.code, result.out), (0, ""), result.out)

    def test_pragmas_that_crash_clang_cost_nothing(self):
        self.write("main.cpp", "#pragma clang __debug overflow_stack\n#pragma clang __debug llvm_fatal_error\n#pragma clang __debug crash\n" + PLAIN)
        self.assertIn("AR101", self.check(timeout=30).out)

    def test_moved_program_finds_its_headers(self):
        folder = pathlib.Path(self._folder.name) / "moved" / "bin"
        folder.mkdir(parents=True)
        for name in ("allranks", "allranks-clang"):
            shutil.copy(pathlib.Path(ALLRANKS).with_name(name), folder)
        self.write("project/main.c", PLAIN.replace("#include <mpi.h>", "#include <mpi.h>\n#include <stddef.h>\n#include <stdarg.h>"))
        result = subprocess.run([folder / "allranks", "check", "--output-format", "concise", "-q"], cwd=self.root / "project",
                                capture_output=True, text=True, timeout=120)
        self.assertIn("main.c:9:18: error: AR101", result.stdout)
        self.assertNotIn("AR001", result.stdout)

    def test_without_the_helper(self):
        folder = self.root / "alone"
        folder.mkdir()
        shutil.copy(ALLRANKS, folder / "allranks")
        self.write("project/main.c", PLAIN)
        self.write("project/train.py", "import torch.distributed as dist\nif dist.get_rank() == 0:\n    dist.barrier()\n")
        result = subprocess.run([folder / "allranks", "check", "--output-format", "concise", "-q"], cwd=self.root / "project",
                                capture_output=True, text=True, timeout=120)
        self.assertIn("main.c:1:1: error: AR001 file was not analysed: C, C++ and CUDA are read by the helper program", result.stdout)
        self.assertIn("train.py:3:5: error: AR101", result.stdout)

    def test_python_alone_starts_no_helper(self):
        folder = pathlib.Path(self._folder.name) / "bin"
        folder.mkdir()
        shutil.copy(ALLRANKS, folder / "allranks")
        started = folder / "started"
        (folder / "allranks-clang").write_text(f"#!/bin/sh\ntouch {started}\nexit 1\n")
        (folder / "allranks-clang").chmod(0o755)
        self.write("train.py", "import torch.distributed as dist\nif dist.get_rank() == 0:\n    dist.barrier()\n")
        command = [folder / "allranks", "check", "--output-format", "concise", "-q"]
        result = subprocess.run(command, cwd=self.root, capture_output=True, text=True, timeout=120)
        self.assertIn("AR101", result.stdout)
        self.assertFalse(started.exists())
        self.write("main.cpp", PLAIN)
        subprocess.run(command, cwd=self.root, capture_output=True, text=True, timeout=120)
        self.assertTrue(started.exists())
        libraries = subprocess.run(["ldd", ALLRANKS], capture_output=True, text=True).stdout
        self.assertIn("libc.so", libraries)
        self.assertNotRegex(libraries, "(?i)llvm|clang")

    def test_ir_and_trace(self):
        self.write("main.cpp", PLAIN)
        self.assertIn("if (rank == 0):\n    MPI_Barrier(MPI_COMM_WORLD)\n", self.run_allranks("ir", "main.cpp:main").out)
        self.assertIn("barrier(the default group)", self.run_allranks("trace", "main.cpp:main").out)

    def test_witness_comes_out(self):
        self.write("main.cpp", PLAIN)
        document = json.loads(self.run_allranks("check", "--output-format", "json").out)
        finding = next(f for f in document["findings"] if f["code"] == "AR101")
        self.assertIn("witness", json.dumps(finding))


@unittest.skipUnless(pathlib.Path(ALLRANKS).with_name("allranks-clang").exists(), "built without LLVM")
class CppWithHelper(Cpp):
    pass


del Cpp

if __name__ == "__main__":
    main()
