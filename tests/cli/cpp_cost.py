"""How often Clang is started, and what it reads: what is kept of C and C++, and one process for many files."""

import os
import pathlib
import random
import shutil
import struct
import subprocess
import tempfile
import unittest

import support
from hostile import CRASHES_CLANG
from support import ALLRANKS, CliTest, main

REAL_HELPER = pathlib.Path(ALLRANKS).with_name("allranks-clang")

GUARDED = """\
#include <mpi.h>
#include "comm.h"

int NAME(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  if (rank == ROOT) MPI_Barrier(comm);
  return rank;
}
"""


def source(name):
    return GUARDED.replace("NAME", name)


def frames(bytes_):
    while bytes_:
        (size,) = struct.unpack_from("<I", bytes_)
        yield bytes_[4 : 4 + size]
        bytes_ = bytes_[4 + size :]


def path_of(request):
    (size,) = struct.unpack_from("<I", request)
    at = 4 + size + 4
    (size,) = struct.unpack_from("<I", request, at)
    return request[at + 4 : at + 4 + size].decode()


@unittest.skipUnless(REAL_HELPER.exists(), "built without LLVM")
class CostOfCpp(CliTest):
    def setUp(self):
        super().setUp()
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name).resolve()
        self.asked = self.place / "asked"
        self.asked.mkdir()
        shutil.copy(ALLRANKS, self.place / "allranks")
        self.helper(f'tee "{self.asked}/$$" | "{REAL_HELPER}"')
        self.write("pyproject.toml", "")
        self.write("comm.h", "#pragma once\n#define ROOT 0\n")

    def helper(self, script):
        path = self.place / "allranks-clang"
        path.write_text("#!/bin/sh\n" + script + "\n")
        path.chmod(0o755)

    def check(self, *args, output="concise", **options):
        for path in self.asked.iterdir():
            path.unlink()
        # With the helper beside it that is counted.
        was, support.ALLRANKS = support.ALLRANKS, str(self.place / "allranks")
        try:
            return self.run_allranks("check", "-q", "--output-format", output, *args, **options)
        finally:
            support.ALLRANKS = was

    def starts(self):
        return len(list(self.asked.iterdir()))

    def read(self):
        """The names of the files that were given to Clang by the last check."""
        requests = [request for path in self.asked.iterdir() for request in frames(path.read_bytes())]
        return sorted(pathlib.Path(path_of(request)).name for request in requests)

    def entries(self, kind="units"):
        return sorted((self.root / ".allranks_cache" / kind).glob("*"))

    def forget_runs(self):
        shutil.rmtree(self.root / ".allranks_cache" / "runs", ignore_errors=True)

    def test_one_process_reads_many_files(self):
        for i in range(12):
            self.write(f"f{i}.cpp", source(f"f{i}"))
        alone = self.check("--jobs", "1")
        self.assertEqual((self.starts(), len(self.read())), (1, 12))
        self.assertEqual(alone.out.count("AR101"), 12)
        self.assertEqual(self.check("--jobs", "3", "--no-cache").out, alone.out)
        self.assertLessEqual(self.starts(), 3)
        self.assertEqual(len(self.read()), 12)

    def test_an_unchanged_tree_starts_none(self):
        self.write("a.cpp", "#include <map>\n" + source("a"))
        self.write("b.cpp", source("b"))
        cold = self.check(output="json")
        self.assertEqual(self.read(), ["a.cpp", "b.cpp"])
        for forget in (lambda: None, self.forget_runs):
            forget()
            warm = self.check(output="json")
            self.assertEqual((self.starts(), warm.code, warm.out, warm.err), (0, 1, cold.out, cold.err))
        self.assertEqual(len(self.entries()), 2)
        self.assertEqual(self.check("--no-cache", output="json").out, cold.out)
        self.assertEqual(self.read(), ["a.cpp", "b.cpp"])

    def test_a_changed_header_costs_what_includes_it(self):
        self.write("other.h", "#pragma once\n#include \"deep.h\"\n")
        self.write("deep.h", "#define ROOT 0\n")
        for name in ("a", "b", "c"):
            self.write(f"{name}.cpp", source(name).replace("comm.h", "comm.h" if name == "a" else "other.h"))
        self.assertEqual(self.check().out.count("AR101"), 3)
        before = (self.root / "deep.h").stat()
        self.write("deep.h", "#define ROOT 1\n")
        # The time of a file says nothing.
        os.utime(self.root / "deep.h", ns=(before.st_atime_ns, before.st_mtime_ns))
        self.check()
        self.assertEqual(self.read(), ["b.cpp", "c.cpp"])
        self.check()
        self.assertEqual(self.starts(), 0)
        self.write("a.cpp", source("a") + "int x;\n")
        self.check()
        self.assertEqual(self.read(), ["a.cpp"])

    def test_headers_of_the_system(self):
        system = self.place / "system"
        system.mkdir()
        (system / "comm.h").write_text("#define ROOT 0\n")
        self.write("src/a.cpp", source("a"))
        self.write("src/b.cpp", "#include <mpi.h>\nvoid b() { MPI_Barrier(MPI_COMM_WORLD); }\n")
        (self.root / "comm.h").unlink()
        environment = {"CPATH": str(system)}
        self.assertIn("AR101", self.check(env=environment).out)
        self.check(env=environment)
        self.assertEqual(self.starts(), 0)
        (system / "comm.h").write_text("#define ROOT (rank)\n")
        self.assertNotIn("AR101", self.check(env=environment).out)
        self.assertEqual(self.read(), ["a.cpp"])
        # Where the environment says that they are elsewhere, nothing that is kept holds.
        self.check()
        self.assertEqual(self.read(), ["a.cpp", "b.cpp"])

    def test_a_header_that_is_found_first_from_now_on(self):
        self.write("src/a.cpp", source("a"))
        self.write("compile_commands.json", '[{"directory": "%s", "file": "src/a.cpp", "arguments": ["c++", "-Ifirst", "-I.", "src/a.cpp"]}]' % self.root)
        self.assertIn("AR101", self.check().out)
        self.write("first/comm.h", "#define ROOT (rank)\n")
        self.assertNotIn("AR101", self.check().out)
        self.assertEqual(self.read(), ["a.cpp"])
        (self.root / "first" / "comm.h").unlink()
        self.assertIn("AR101", self.check().out)

    def test_another_command_and_another_helper(self):
        self.write("a.cpp", source("a"))
        self.check()
        for args in (("--extra-arg=-DX",), ("--extra-arg=-DY",)):
            self.check(*args)
            self.assertEqual(self.read(), ["a.cpp"], args)
        self.helper(f'tee "{self.asked}/$$" | "{REAL_HELPER}"  # of another build')
        self.check()
        self.assertEqual(self.read(), ["a.cpp"])

    def test_a_crash_costs_one_file_and_is_not_kept(self):
        self.helper(f'touch "{self.asked}/$$"; exec "{REAL_HELPER}"')
        for name in ("a", "b", "y", "z"):
            self.write(f"{name}.cpp", source(name))
        self.write("crash.cpp", CRASHES_CLANG + source("crash"))
        for forget in (lambda: None, lambda: None, self.forget_runs):
            forget()
            result = self.check("--jobs", "1")
            self.assertIn("crash.cpp:1:1: error: AR001 file was not analysed: Clang crashed", result.out)
            self.assertEqual(result.out.count("AR101"), 4, result.out)
            # In the process that had read others, if any, and in a new one; the files behind it in a third.
            self.assertLessEqual(self.starts(), 3)
            self.assertGreater(self.starts(), 0, "what failed is tried again")
        self.assertEqual(len(self.entries()), 4)
        self.write("crash.cpp", source("crash"))
        self.assertEqual(self.check().out.count("AR101"), 5)

    def test_a_file_that_takes_too_long_costs_one_file(self):
        self.helper(f'touch "{self.asked}/$$"; exec "{REAL_HELPER}"')
        tree = ("template <int N, long M> struct Tree { static constexpr long kSum = Tree<N - 1, 2 * M>::kSum + Tree<N - 1, 2 * M + 1>::kSum; };\n"
                "template <long M> struct Tree<0, M> { static constexpr long kSum = 1; };\nlong sum() { return Tree<60, 0>::kSum; }\n")
        for name in ("a", "b", "y", "z"):
            self.write(f"{name}.cpp", source(name))
        self.write("long.cpp", tree + source("long_one"))
        result = self.check("--jobs", "1", "--timeout-per-file", "1")
        self.assertIn("long.cpp:1:1: note: AR003 this file was not analysed: more than 1000 ms for this file", result.out)
        self.assertEqual(result.out.count("AR101"), 4, result.out)
        self.assertEqual(self.starts(), 2)

    def test_damaged_entries_are_no_fault(self):
        self.write("a.cpp", source("a"))
        cold = self.check(output="json")
        [entry] = self.entries()
        good = entry.read_bytes()
        chosen = random.Random(7)
        for _ in range(12):
            damaged = bytearray(good)
            damaged[chosen.randrange(len(good))] ^= 1 << chosen.randrange(8)
            entry.write_bytes(damaged[: chosen.choice([len(good), chosen.randrange(len(good))])])
            self.forget_runs()
            result = self.check(output="json")
            self.assertEqual((result.code, result.out, result.err, self.read()), (cold.code, cold.out, cold.err, ["a.cpp"]))
        os.truncate(entry, 3 << 30)
        self.forget_runs()
        self.assertEqual(self.check(output="json").out, cold.out)

    def test_entries_of_somebody_else_do_not_count(self):
        self.write("a.cpp", source("a"))
        self.check(env={"ALLRANKS_CACHE_KEY": "somebody else"})
        self.check()
        self.assertEqual(self.read(), ["a.cpp"])

    def test_an_entry_of_another_file_does_not_count(self):
        self.write("a.cpp", source("a"))
        self.write("b.cpp", source("b").replace("== ROOT", ">= ROOT"))
        self.check()
        first, second = self.entries()
        bytes_ = first.read_bytes(), second.read_bytes()
        first.write_bytes(bytes_[1])
        second.write_bytes(bytes_[0])
        self.forget_runs()
        self.assertEqual(self.check().out.count("AR101"), 1)
        self.assertEqual(self.read(), ["a.cpp", "b.cpp"])

    def test_nothing_is_kept_unasked(self):
        self.write("a.cpp", source("a"))
        before = sorted(path.name for path in self.root.iterdir())
        self.check("--no-cache")
        self.check("-", "--stdin-filename", "a.cpp", stdin=source("a").encode())
        self.assertEqual(sorted(path.name for path in self.root.iterdir()), before)

    def test_clean_deletes_it(self):
        self.write("a.cpp", source("a"))
        self.check()
        self.assertEqual(len(self.entries()), 1)
        self.run_allranks("clean")
        self.assertFalse((self.root / ".allranks_cache").exists())

    def test_what_cannot_be_asked_again_is_not_kept(self):
        self.write("a.cpp", '#include "/dev/null"\n' + source("a"))
        self.assertIn("AR101", self.check().out)
        self.check()
        self.assertEqual(self.read(), ["a.cpp"])
        self.assertEqual(self.entries(), [])

    def test_a_named_file_costs_itself_and_the_few_that_define_what_it_calls(self):
        self.write("a.cpp", "#include <mpi.h>\nvoid sync_all();\nint main() {\n  int rank;\n  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
                            "  if (rank == 0) sync_all();\n}\n")
        self.write("deep/b.cpp", "#include <mpi.h>\nvoid sync_all() { MPI_Barrier(MPI_COMM_WORLD); }\n")
        for i in range(5):
            self.write(f"other{i}.cpp", source(f"other{i}"))
        alone = self.check("a.cpp")
        self.assertEqual(self.read(), ["a.cpp", "b.cpp"])
        self.assertIn("a.cpp:6:18: error: AR101", alone.out)
        self.assertIn(alone.out, self.check().out)
        self.assertEqual(self.read(), [f"other{i}.cpp" for i in range(5)])
        self.check("other0.cpp")
        self.assertEqual(self.starts(), 0)
        # A definition that comes to be, or goes.
        self.write("deep/b.cpp", "#include <mpi.h>\nvoid sync_all() {}\n")
        self.assertEqual(self.check("a.cpp").out, "")
        self.write("c.cpp", "#include <mpi.h>\nvoid sync_all() { MPI_Barrier(MPI_COMM_WORLD); }\n")
        (self.root / "deep" / "b.cpp").unlink()
        self.assertEqual(self.check("a.cpp").out, alone.out.replace("`b.cpp`", "`c.cpp`"))

    def test_runs_at_once(self):
        for i in range(6):
            self.write(f"f{i}.cpp", source(f"f{i}"))
        cold = self.check("--no-cache")
        command = [self.place / "allranks", "check", "-q", "--output-format", "concise"]
        runs = [subprocess.Popen(command, cwd=self.root, stdout=subprocess.PIPE, text=True) for _ in range(3)]
        self.assertEqual([run.communicate()[0] for run in runs], [cold.out] * 3)


if __name__ == "__main__":
    main()
