"""--timeout, --max-memory and both for one file, and runs that are ended early: what was found is written, and nothing by halves."""

import json
import os
import re
import resource
import signal
import subprocess
import time
import unittest

from hostile import (conditional_values, doubled_text, findings, items, joined_by_calls, joined_lists, jumps, mutual_recursion, nested_ifs,
                     recursion_with_jumps, text_without_end)
from support import ALLRANKS, GUARDED, CliTest, main

# Takes seconds without a limit.
LONG = findings(80_000)


# What a process had before it became another one counts as its peak, and a test may have much. A shell between has little.
SHELL = ("sh", "-c", '"$@"; exit $?', "sh")


def peak(result):
    """Of a run with --profile, in MiB."""
    return int(result.err.rsplit("peak memory: ", 1)[1].split()[0]) >> 20


class Limits(CliTest):
    def test_a_file_that_takes_too_long_is_given_up_and_the_rest_goes_on(self):
        self.write("good.py", GUARDED)
        # Read in no time.
        self.write("long.py", mutual_recursion(2000))
        result = self.run_allranks("check", "-q", "-n", "--timeout-per-file", "0.2", "--output-format", "concise", timeout=60)
        self.assertIn("good.py:6:9: error: AR101", result.out)
        self.assertRegex(result.out, r"long\.py:\d+:\d+: note: AR003 (`.*` was not analysed to its end|this file was not analysed): more than 200 ms")
        self.assertEqual(len([line for line in result.out.splitlines() if "AR003" in line]), 1)
        self.assertIn("not analysed to the end because of --timeout-per-file 0.2: long.py", result.err)
        self.assertEqual(result.code, 1)

    def test_what_is_too_large_is_counted_and_named_if_asked_for(self):
        body = "    dist.all_reduce(x)\n" * 10_100
        self.write("large.py", f"import torch.distributed as dist\n\n\ndef f(x):\n{body}\n\ndef g(x):\n{body}")
        result = self.run_allranks("check", "-n")
        self.assertEqual(result.code, 0)
        self.assertTrue(result.out.startswith("No findings in 1 file"), result.out)
        self.assertIn("Not analysed to the end, as too large: 2 functions in 1 file. `--min-confidence possible` shows them.\n", result.out)
        self.assertNotIn("Hidden:", result.out)
        named = self.run_allranks("check", "-n", "-q", "--min-confidence", "possible", "--output-format", "concise")
        self.assertEqual([line.split(":", 3)[0::2] for line in named.out.splitlines()], [["large.py", "5"]] * 2)
        self.assertIn("note: AR003 `g` was not analysed to its end: trace of more than 10000 operations", named.out)

    def test_memory(self):
        self.write("good.py", GUARDED)
        # Most of it is taken before any code is read.
        limit = self.peak_of() + 2
        result = self.run_allranks("check", "-q", "-n", "--max-memory", str(limit), "--output-format", "concise")
        self.assertIn(f"good.py:1:1: note: AR003 this file was not analysed: memory of more than {limit} MiB", result.out)
        self.assertIn(f"not analysed to the end because of --max-memory {limit}: good.py", result.err)
        self.assertIn("AR101", self.run_allranks("check", "-q", "-n", "--max-memory", "4000", "--output-format", "concise").out)

    def peak_of(self, *args):
        return peak(self.run_allranks("check", "-q", "-n", "--profile", "--output-format", "concise", *args, through=SHELL, timeout=300))

    def test_memory_that_tables_take(self):
        """Of many files that are next to nothing: a report or an error, and in neither case much more than the limit."""
        for i in range(8000):
            self.write(f"pkg/f{i}.py", findings(1))
        whole = self.peak_of()
        ends = set()
        for limit in (whole // 2, whole * 9 // 10):
            process = subprocess.Popen([ALLRANKS, "check", "-q", "-n", "--max-memory", str(limit), "-o", "report.txt"], cwd=self.root,
                                       stderr=subprocess.PIPE, env={**os.environ, "XDG_STATE_HOME": str(self.state)})
            err = process.stderr.read().decode()
            process.stderr.close()
            _, code, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(code)
            self.assertLessEqual(used.ru_maxrss >> 10, limit * 1.1, err)
            self.assertEqual((self.root / "report.txt").exists(), process.returncode == 1, err)
            if process.returncode == 2:
                self.assertIn(f"allranks: error: --max-memory {limit}: this run needs more; check fewer files at once\n", err)
            else:
                (self.root / "report.txt").unlink()
            ends.add(process.returncode)
        self.assertIn(2, ends)

    def test_memory_is_no_more_than_a_tenth_above_the_limit(self):
        # Much more than this program has itself: what a process had before it became another one counts as its peak.
        for i in range(400):
            self.write(f"pkg/f{i}.py", conditional_values(500))
        whole = self.peak_of()
        for limit in (whole // 2, whole * 3 // 4):
            self.assertLessEqual(self.peak_of("--max-memory", str(limit)), limit * 1.1)

    def test_sarif_says_it_without_the_rule(self):
        self.write("good.py", GUARDED)
        # The first limit that it does not keep; far below, it ends with an error.
        for limit in range(self.peak_of(), 0, -1):
            result = self.run_allranks("check", "-q", "-n", "--max-memory", str(limit), "--select", "AR1", "--output-format", "sarif")
            run = json.loads(result.out)["runs"][0]
            notifications = run["invocations"][0].get("toolExecutionNotifications")
            if notifications:
                break
        self.assertEqual(notifications[0]["associatedRule"], {"id": "AR003"})
        self.assertEqual(notifications[0]["level"], "warning")
        self.assertIn(f"good.py:1: this file was not analysed: memory of more than {limit} MiB", notifications[0]["message"]["text"])
        self.assertEqual(run["results"], [])

    def test_the_scan_of_a_project_ends_when_the_time_is_over(self):
        body = "".join(f"template <class T> struct S{i} {{ int go{i}(T t) {{ return helper{i}(t) + other{i}(t, 1); }} }};\n" for i in range(200))
        for i in range(1000):
            self.write(f"inc/h{i}.hpp", f"#pragma once\nnamespace n{i} {{\n{body}}}\n")
        self.write("main.cc", "#include <mpi.h>\nvoid outside(int r);\nint main() { int r; MPI_Comm_rank(MPI_COMM_WORLD, &r); if (r == 0) outside(r); }\n")
        args = ("check", "-n", "-j", "1", "--profile", "main.cc")
        whole = self.run_allranks(*args, timeout=60)
        cut = self.run_allranks(*args, "--timeout", "0.05", timeout=60)
        self.assertEqual(cut.code, 2)
        scanned = [int(re.search(r"sources scanned: \d+ bytes in (\d+) files", each.err).group(1)) for each in (whole, cut)]
        self.assertEqual(scanned[0], 1001)
        self.assertLess(scanned[1], scanned[0])

    def test_a_run_ends_when_its_time_is_over(self):
        self.write("good.py", GUARDED)
        self.write("long.py", LONG)
        args = ("check", "-q", "-n", "--select", "AR0,AR1", "--output-format", "sarif", "-o", "report.sarif")
        result = self.run_allranks(*args, "--timeout", "0.3", timeout=60)
        self.assertEqual(result.code, 2)
        self.assertIn("allranks: error: --timeout 0.3: the time was over while at work on `", result.err)
        run = json.loads((self.root / "report.sarif").read_text())["runs"][0]
        self.assertFalse(run["invocations"][0]["executionSuccessful"])
        self.assertEqual(run["invocations"][0]["exitCode"], 2)
        said = {each.get("associatedRule", {}).get("id"): each["message"]["text"] for each in run["invocations"][0]["toolExecutionNotifications"]}
        self.assertIn("the run was stopped", said["AR003"])
        self.assertEqual(self.run_allranks("check", "-q", "-n", "--timeout", "1000", "good.py").code, 1)

    def test_a_run_whose_time_is_over_changes_nothing(self):
        self.write("long.py", LONG)
        result = self.run_allranks("check", "-n", "--timeout", "0.3", "--fix", "--unsafe-fixes", "--baseline", "known.json", "--update-baseline", timeout=60)
        self.assertEqual(result.code, 2, result.err)
        self.assertEqual((self.root / "long.py").read_text(), LONG)
        self.assertEqual(sorted(os.listdir(self.root)), ["long.py"])

    def test_the_time_holds_for_fixes(self):
        text = findings(10_000)
        self.write("long.py", text)
        begin = time.monotonic()
        self.assertEqual(self.run_allranks("check", "-q", "-n", "-o", "whole.txt", timeout=120).code, 1)
        whole = time.monotonic() - begin
        for share in (0.5, 1.2, 1.6):
            begin = time.monotonic()
            result = self.run_allranks("check", "-n", "-q", "--timeout", str(whole * share), "--add-ignore", "why", "--output-format", "json", timeout=120)
            took = time.monotonic() - begin
            json.loads(result.out)
            if result.code != 2:
                # A quicker machine than before was done in time.
                self.assertLess(took, whole * (share + 0.5))
                break
            self.assertIn("the time was over", result.err)
            self.assertEqual((self.root / "long.py").read_text(), text)

    def test_a_run_that_was_ended_is_not_taken_for_a_whole_one(self):
        self.write("long.py", LONG)
        self.assertEqual(self.run_allranks("check", "-q", "--timeout", "0.3", timeout=60).code, 2)
        self.write("long.py", GUARDED)
        self.assertEqual(self.run_allranks("check", "-q").code, 1)

    def test_memory_of_one_file(self):
        self.write("good.py", GUARDED)
        self.write("large.py", findings(8_000))
        result = self.run_allranks("check", "-q", "-n", "--max-memory-per-file", "8", "--output-format", "concise", timeout=60)
        self.assertIn("good.py:6:9: error: AR101", result.out)
        self.assertRegex(result.out, r"large\.py:\d+:\d+: note: AR003 .* memory of more than 8 MiB for this file")
        self.assertIn("not analysed to the end because of --max-memory-per-file 8: large.py", result.err)
        self.assertEqual(result.code, 1)

    def test_text_that_takes_more_than_its_memory_is_not_read(self):
        self.write("good.py", GUARDED)
        self.write("large.py", GUARDED + "# text\n" * 20_000)
        result = self.run_allranks("check", "-q", "-n", "--max-memory-per-file", "1", "--output-format", "concise")
        self.assertIn("large.py:1:1: note: AR003 this file was not analysed: memory of more than 1 MiB for this file", result.out)
        self.assertIn("good.py:6:9", result.out)

    def test_names_in_an_index_of_git_do_not_grow_without_end(self):
        """Version 4 writes what a name has more than the one before: 4 MB stand for 2 GB."""
        entry = lambda length: bytes(24) + (0o100644).to_bytes(4, "big") + bytes(12) + b"x" * 20 + length.to_bytes(2, "big") + b"\0a\0"
        count = 66_000
        entries = b"".join(entry(min(i + 1, 0xFFF)) for i in range(count))
        self.write(".git/index", b"DIRC" + (4).to_bytes(4, "big") + count.to_bytes(4, "big") + entries + b"c" * 20)
        self.write("a.py", GUARDED)
        result = self.run_allranks("check", "-n", "--profile", through=SHELL, timeout=20)
        self.assertEqual(result.code, 1)
        self.assertIn("What git tracks is not known (an index of git with a name longer than any system opens)", result.out)
        self.assertLess(peak(result), 100)

    def test_memory_that_the_machine_does_not_have(self):
        self.write("a.py", GUARDED + "x = [" + "f(1), " * 500_000 + "]\n")
        limited = lambda *args: subprocess.run(["sh", "-c", 'ulimit -v 150000 && exec "$@"', "sh", ALLRANKS, *args], cwd=self.root, capture_output=True,
                                               text=True, timeout=60)
        if limited("version").returncode != 0:
            self.skipTest("a sanitizer needs more, or there is no such limit")
        result = limited("check", "-q", "-n", "--jobs", "1")
        self.assertEqual((result.returncode, result.stderr), (2, "allranks: error: out of memory; check fewer files at once, or use fewer --jobs\n"))

    def test_no_program_goes_on_beyond_twice_its_time(self):
        for generator, size in ((recursion_with_jumps, 800), (jumps, 800), (doubled_text, 31), (joined_lists, 28), (joined_by_calls, 24)):
            with self.subTest(generator.__name__):
                self.write("a.py", generator(size))
                begin = resource.getrusage(resource.RUSAGE_CHILDREN)
                result = self.run_allranks("check", "-q", "-n", "--isolated", "-j", "1", "--timeout-per-file", "2", timeout=120)
                self.assertIn(result.code, (0, 1), result.err)
                end = resource.getrusage(resource.RUSAGE_CHILDREN)
                # Of the processor, which does not depend on what else the machine does.
                self.assertLess(end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime, 4)

    def test_numbers(self):
        for option in ("--timeout", "--timeout-per-file", "--max-memory", "--max-memory-per-file"):
            for value in ("-1", "x"):
                self.assert_one_line_error(self.run_allranks("check", option, value), option)


class WhileReading(CliTest):
    """What a file asks of whoever reads it, before anything is analysed."""

    # Clang calculates for longer than any of these tests lasts.
    CPP = ("constexpr int count(int n) { int sum = 0; for (int i = 0; i < 400000; ++i) sum ^= i + n; return sum; }\n"
           + "".join(f"static_assert(count({i}) != -1);\n" for i in range(2000)) + "void MPI_Barrier(int);\nvoid f(int r) { if (r == 0) MPI_Barrier(0); }\n")

    def test_python_that_takes_too_long(self):
        self.write("good.py", GUARDED)
        self.write("long.py", text_without_end(1_000_000))
        result = self.run_allranks("check", "-q", "-n", "--timeout-per-file", "0.2", "--output-format", "concise", timeout=60)
        self.assertIn("long.py:1:1: note: AR003 this file was not analysed: more than 200 ms for this file", result.out)
        self.assertIn("good.py:6:9: error: AR101", result.out)
        self.assertIn("not analysed to the end because of --timeout-per-file 0.2: long.py", result.err)

    def test_a_run_ends_while_it_reads_python(self):
        self.write("good.py", GUARDED)
        self.write("long.py", text_without_end(1_000_000))
        args = ("check", "-q", "-n", "--output-format", "sarif", "-o", "report.sarif")
        result = self.run_allranks(*args, "--timeout", "0.3", timeout=60)
        self.assertEqual(result.code, 2)
        self.assertIn("--timeout 0.3: the time was over while at work on `parse`", result.err)
        notifications = json.loads((self.root / "report.sarif").read_text())["runs"][0]["invocations"][0]["toolExecutionNotifications"]
        self.assertTrue(any("long.py:1: this file was not analysed: the run was stopped" in each["message"]["text"] for each in notifications))

    def test_a_baseline_that_takes_too_much_memory(self):
        self.write("a.py", GUARDED)
        self.write("known.json", '{"version": 1, "findings": [' + ", ".join(['{"fingerprint": "f"}'] * 700_000) + "]}")
        result = self.run_allranks("check", "-n", "--max-memory", "100", "--baseline", "known.json")
        self.assert_one_line_error(result, "known.json: cannot read: larger than an eighth of --max-memory")

    def test_python_that_takes_too_much_memory(self):
        self.write("good.py", GUARDED)
        self.write("large.py", items(1_000_000))
        limit = 150
        result = self.run_allranks("check", "-q", "-n", "-j", "1", "--max-memory", str(limit), "--profile", "--output-format", "concise", through=SHELL, timeout=60)
        self.assertIn(f"large.py:1:1: note: AR003 this file was not analysed: memory of more than {limit} MiB", result.out)
        self.assertLess(peak(result), limit * 1.1)

    def test_cpp_that_takes_too_long(self):
        self.write("good.py", GUARDED)
        self.write("long.cpp", self.CPP)
        result = self.run_allranks("check", "-q", "-n", "--timeout-per-file", "1", "--output-format", "concise", timeout=60)
        self.assertIn("long.cpp:1:1: note: AR003 this file was not analysed: more than 1000 ms for this file", result.out)
        self.assertIn("good.py:6:9: error: AR101", result.out)

    def test_a_run_ends_while_clang_reads(self):
        self.write("good.py", GUARDED)
        self.write("long.cpp", self.CPP)
        begin = time.monotonic()
        result = self.run_allranks("check", "-q", "-n", "--timeout", "1", timeout=110)
        self.assertIn("--timeout 1: the time was over while at work on `parse`", result.err)
        self.assertEqual(result.code, 2)
        # The helper would have a minute of the processor.
        self.assertLess(time.monotonic() - begin, 60)

    def test_cpp_that_nests_too_deep_is_not_given_to_clang(self):
        self.write("deep.cpp", nested_ifs(50_000))
        self.write("good.py", GUARDED)
        result = self.run_allranks("check", "-q", "-n", "--output-format", "concise", timeout=60)
        self.assertIn("deep.cpp:1:1: note: AR003 this file was not analysed: statements nested more than 2000 deep without braces", result.out)
        self.assertIn("good.py:6:9: error: AR101", result.out)


class Interrupted(CliTest):
    def interrupt(self, signal_number, *args):
        """The result of a check of a long file that gets the signal while it runs, and how long it took to end then."""
        self.write("long.py", LONG)
        environment = {**os.environ, "XDG_STATE_HOME": str(self.state)}
        process = subprocess.Popen([ALLRANKS, "check", "-q", "-n", *args, "long.py"], cwd=self.root, env=environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(signal_number)
        sent = time.monotonic()
        out, err = process.communicate(timeout=60)
        return process.returncode, out.decode(), err.decode(), time.monotonic() - sent

    def test_says_so_and_ends_with_the_number_of_the_signal(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            returned, _, err, took = self.interrupt(number)
            self.assertEqual(returned, code, err)
            self.assertIn("allranks: error: interrupted while at work on `", err)
            self.assertLess(took, 40)

    def test_the_report_is_whole(self):
        code, _, err, _ = self.interrupt(signal.SIGINT, "--output-format", "sarif", "-o", "report.sarif")
        self.assertEqual(code, 130, err)
        invocation = json.loads((self.root / "report.sarif").read_text())["runs"][0]["invocations"][0]
        self.assertFalse(invocation["executionSuccessful"])
        self.assertEqual(invocation["exitCode"], 130)
        self.assertIn("interrupted", invocation["toolExecutionNotifications"][0]["message"]["text"])

    def test_nothing_is_fixed_and_no_baseline_written(self):
        code, _, err, _ = self.interrupt(signal.SIGINT, "--fix", "--unsafe-fixes", "--baseline", "known.json", "--update-baseline")
        self.assertEqual(code, 130, err)
        self.assertEqual((self.root / "long.py").read_text(), LONG)
        self.assertEqual(sorted(os.listdir(self.root)), ["long.py"])


if __name__ == "__main__":
    main()
