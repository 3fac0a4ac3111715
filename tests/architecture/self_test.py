#!/usr/bin/env python3
"""The checks of this folder can fail: small wrong repositories, and what they say of each."""

import tempfile
import unittest
from pathlib import Path

import built
from directions import offending


class Directions(unittest.TestCase):
    def check(self, path, text):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, path)
            file.parent.mkdir(parents=True)
            file.write_text(text, encoding="utf-8")
            Path(file.parent, "sibling.h").write_text("", encoding="utf-8")
            return offending(Path(folder))

    def accepts(self, path, text):
        self.assertEqual(self.check(path, text), [])

    def refuses(self, path, text, message):
        self.assertEqual(self.check(path, text), [f"{path}:{text.count(chr(10)) + 1}: {message}"])

    def test_upward_include(self):
        self.refuses("analyzer/ir/a.cpp", '#include <vector>\n#include "rules/rule.h"', "analyzer/ir may not include rules")

    def test_downward_and_transitive_include(self):
        self.accepts("analyzer/traces/a.cpp", '#include "analyzer/base/id.h"\n#include "witness/witness.h"')

    def test_siblings_do_not_know_each_other(self):
        self.refuses("analyzer/ir/a.h", '#include "analyzer/knowledge/k.h"', "analyzer/ir may not include analyzer/knowledge")

    def test_front_ends_do_not_know_each_other(self):
        self.refuses("frontends/cpp/a.cpp", '#include "frontends/python/lower.h"',
                     "frontends/cpp may not include frontends/python")

    def test_families_know_only_the_rule_header(self):
        self.accepts("rules/ddp/a.cpp", '#include "rules/rule.h"\n#include "rules/ddp/shared.h"')
        self.refuses("rules/ddp/a.cpp", '#include "rules/data/b.h"', "rules/ddp may not include rules/data")
        self.refuses("rules/ddp/a.cpp", '#include "rules/registry.h"', "rules/ddp may not include rules")

    def test_nobody_uses_tests(self):
        self.refuses("driver/cli/a.cpp", '#include "tests/support/a.h"', "driver/cli may not include tests/support")
        self.accepts("bench/a.cpp", '#include "driver/pipeline/pipeline.h"\n#include <tree_sitter/api.h>')

    def test_runtime_verify_knows_witnesses_only(self):
        self.refuses("runtime-verify/worker/a.cpp", '#include "analyzer/base/id.h"',
                     "runtime-verify/worker may not include analyzer/base")

    def test_headers_of_others(self):
        self.refuses("rules/ddp/a.cpp", "#include <tree_sitter/api.h>",
                     "headers of tree-sitter may be included only in frontends/python")
        self.refuses("frontends/python/a.cpp", '#include "clang/AST/Decl.h"',
                     "headers of Clang may be included only in frontends/cpp")
        self.refuses("witness/a.cpp", "#include <cuda_runtime.h>",
                     "headers of NCCL and CUDA may be included only in runtime-verify/backends/nccl")
        self.refuses("analyzer/base/a.h", "#include <fmt/format.h>", "analyzer/base uses the standard library only")
        self.accepts("runtime-verify/backends/nccl/a.cpp", "#include <cuda.h>\n#include <nccl.h>")

    def test_words_in_source_text(self):
        message = "a comment must not change a finding: ask the names in the code (NamesAny), a value or the index"
        self.refuses("rules/ddp/a.cpp", 'bool is = HoldsWord(context.files[module.file].text, {"no_sync"});', message)
        self.refuses("rules/ddp/a.cpp", 'bool is = HoldsWord(TextOf(context, span), {"no_sync"});', message)
        self.accepts("rules/ddp/a.cpp", 'bool is = NamesAny(context, module, {"no_sync"});')

    def test_what_one_operating_system_has(self):
        for header in ("sys/prctl.h", "linux/limits.h", "elf.h", "mach-o/dyld.h"):
            self.refuses("driver/cli/a.cpp", f"#include <{header}>",
                         "headers of one operating system may be included only in analyzer/platform")
            self.accepts("analyzer/platform/linux.cpp", f"#include <{header}>")
            self.accepts("runtime-verify/coordinator/a.cpp", f"#include <{header}>")
        self.refuses("driver/pipeline/a.cpp", "int ends[2];\nbool is_open = pipe2(ends, 0) == 0;",
                     "not every system has pipe2: put it behind analyzer/platform/platform.h")
        self.accepts("driver/pipeline/a.cpp", "// As pipe2 does it.\n#include <sys/wait.h>")

    def test_includes_start_at_the_root(self):
        self.refuses("analyzer/ir/a.cpp", '#include "sibling.h"',
                     'write "analyzer/ir/sibling.h": includes start at the root of the repository')
        self.refuses("analyzer/ir/a.cpp", "#include <analyzer/base/id.h>", 'write "analyzer/base/id.h" in quotes: it is ours')

    def test_unknown_folder(self):
        self.refuses("analyzer/extra/a.cpp", '#include "analyzer/base/id.h"',
                     "analyzer/extra is no folder of the table in tests/architecture/directions.py")

    def test_dependencies(self):
        self.refuses("analyzer/ir/CMakeLists.txt", "allranks_library(\n  analyzer/ir\n  SOURCES a.cpp\n  DEPS rules)",
                     "analyzer/ir may not depend on rules")
        self.accepts("driver/cli/CMakeLists.txt", "allranks_library(driver/cli DEPS driver/pipeline rules LINKS fmt::fmt)")


class Built(unittest.TestCase):
    def check(self, cmake, path):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, path)
            file.parent.mkdir(parents=True)
            file.write_text("", encoding="utf-8")
            Path(file.parent, "CMakeLists.txt").write_text(cmake, encoding="utf-8")
            return list(built.offending(Path(folder)))

    def test_a_test_that_is_not_listed(self):
        wrong = ["analyzer/ir/a_test.cpp: no CMakeLists.txt names it"]
        self.assertEqual(self.check("allranks_library(analyzer/ir\n  TESTS b_test.cpp)", "analyzer/ir/a_test.cpp"), wrong)
        self.assertEqual(self.check("# a_test.cpp", "analyzer/ir/a_test.cpp"), wrong)
        self.assertEqual(self.check("allranks_library(analyzer/ir\n  TESTS a_test.cpp)", "analyzer/ir/a_test.cpp"), [])

    def test_both_files_of_a_fuzzer(self):
        self.assertEqual(self.check("allranks_fuzz(a_fuzz analyzer/ir)", "tests/fuzz/a_fuzz_test.cpp"), [])


if __name__ == "__main__":
    unittest.main()
