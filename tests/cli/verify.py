"""`allranks verify`: options, exit codes, formats, copies of reports, and what it refuses."""

import json
import os
import shutil
import time

from support import GUARDED, main
from verify_support import FIXTURES, VerifyTest, op, witness

FLAG_FROM_RANK_ZERO = """\
import os

import torch
import torch.distributed as dist

from files import read


def load(path, device):
    found = torch.tensor(SIZE, device=device)
    dist.broadcast(found, src=0)
    if dist.get_rank() == 0:
        dist.barrier()
"""


class Verify(VerifyTest):
    def test_the_verdict_stands_at_the_step_that_waits(self):
        # Two files of this example have an operation on the same line.
        shutil.copytree(FIXTURES.parent / "examples" / "first-hang", self.root, dirs_exist_ok=True)
        self.run_allranks("check", "--output", "sarif=r.sarif")
        self.verify("r.sarif", "--backend", "sim", "-o", "v.sarif")
        seen = 0
        for result in json.loads((self.root / "v.sarif").read_text())["runs"][0]["results"]:
            for thread in result["codeFlows"][0]["threadFlows"]:
                texts = [step["location"]["message"]["text"] for step in thread["locations"]]
                self.assertEqual([i for i, text in enumerate(texts) if "`allranks verify`" in text],
                                 [i for i, text in enumerate(texts) if ", waits here" in text], texts)
                seen += sum("`allranks verify`" in text for text in texts)
        self.assertGreater(seen, 0)

    def test_the_examples_wait_where_their_findings_say(self):
        for example in ("first-hang", "first-hang-cpp"):
            shutil.copytree(FIXTURES.parent / "examples" / example, self.root / example)
        report = json.loads(self.run_allranks("check", "--output-format", "json").out)
        self.write("r.json", json.dumps(report))
        verified = json.loads(self.verify("r.json", "--backend", "sim", "--output-format", "json").out)
        self.assertGreaterEqual(len(report["findings"]), 3)
        for finding, seen in zip(report["findings"], verified["findings"], strict=True):
            verdict, told = seen["verify"], finding["witness"]["expect"]
            self.assertNotIn("wrong", verdict, finding["message"])
            self.assertEqual((verdict["effect"], [stuck["op"] for stuck in verdict.get("stuck", [])]),
                             (told["effect"], [stuck["op"] for stuck in told["stuck"]]), finding["message"])

    def test_sizes_that_one_rank_does_not_know(self):
        self.write("train.py", FLAG_FROM_RANK_ZERO)
        for size in ("[int(dist.get_rank() == 0 and os.path.exists(path))]", "read(path) if dist.get_rank() == 0 else [0]"):
            self.write("train.py", FLAG_FROM_RANK_ZERO.replace("SIZE", size))
            report = json.loads(self.run_allranks("check", "--output-format", "json").out)
            guarded, = [finding for finding in report["findings"] if finding["code"] == "AR101"]
            counts = [[op["count"] for op in ops if op["op"] == "broadcast"] for ops in guarded["witness"]["ops"].values()]
            self.assertEqual(counts[0], counts[1], size)
            self.assertEqual(len(counts[0]), 1)

    def test_exit_codes(self):
        self.witness_file([op("a")], [])
        self.assertEqual(self.verify("--backend", "sim", "w.json").code, 1)
        self.witness_file([op("a")], [op("a")], name="clean.json")
        self.assertEqual(self.verify("--backend", "sim", "clean.json").code, 0)
        self.assertEqual(self.verify("--backend", "sim", "w.json", "clean.json").code, 1)
        self.assertEqual(self.verify("--backend", "sim", "nowhere.json").code, 2)
        self.assertEqual(self.verify("--backend", "sim", "w.json", "nowhere.json").code, 2)

    def test_what_is_written(self):
        self.witness_file([op("a")], [])
        victim = self.write("victim", "untouched")
        (self.root / "out.json.allranks-tmp").symlink_to(victim)
        self.verify("--backend", "sim", "w.json", "--output-format", "json", "-o", "out.json")
        self.assertFalse((self.root / "out.json").is_symlink())
        self.assertEqual(victim.read_text(), "untouched")
        (self.root / "link.json").symlink_to("out.json")
        self.write("out.json", "old")
        self.verify("--backend", "sim", "w.json", "--output-format", "json", "-o", "link.json")
        self.assertTrue((self.root / "link.json").is_symlink())
        self.assertIn("verdict", (self.root / "out.json").read_text())
        self.assert_one_line_error(self.verify("--backend", "sim", "w.json", "-o", "nowhere/x.json"), "nowhere/x.json: No such file")

    def test_help_and_list_of_commands(self):
        result = self.verify("--help")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertIn("--self-test", result.out)
        self.assertIn("verify", self.run_allranks("--help").out)

    def test_mistakes_are_one_line(self):
        self.witness_file([op("a")], [])
        for args, words in [(["--wurst", "w.json"], "--wurst"), ([], "no report"), (["--backend", "mpi", "w.json"], "mpi"),
                            (["--ranks", "1", "w.json"], "--ranks"), (["--ranks", "2x", "w.json"], "--ranks"),
                            (["--ranks"], "--ranks"), (["--timeout", "soon", "w.json"], "--timeout"),
                            (["--self-test", "w.json"], "--self-test"), (["--mismatches", "w.json"], "--mismatches"),
                            (["--output-format", "sarif", "w.json", "w.json"], "one report at a time"),
                            (["--output-format", "sarif", "--backend", "sim", "w.json"], "is no SARIF report")]:
            self.assert_one_line_error(self.verify(*args), words)

    def test_a_timeline_names_the_ranks_and_lines(self):
        self.witness_file([op("a", source="torch.distributed.all_reduce")], [op("b", "barrier")], world=3)
        out = self.verify("--backend", "sim", "w.json").out
        self.assertIn("hangs in the simulator", out)
        self.assertIn("torch.distributed.all_reduce train.py:7  waits for ranks 1, 2", out)
        self.assertIn("wait for rank 0", out)

    def test_auto_says_what_it_rests_on(self):
        self.witness_file([op("a")], [])
        result = self.verify("w.json", "--quiet-time", "0.5")
        self.assertEqual(result.code, 1)
        if "nccl" not in result.out:
            self.assertIn("verdicts are those of the simulator", result.err)
            self.assertEqual(self.verify("-q", "w.json").err, "")

    def test_nccl_that_is_not_there_is_unavailable(self):
        self.witness_file([op("a")], [])
        if os.path.exists("/dev/nvidia0"):
            self.skipTest("this machine has a GPU")
        result = self.verify("--backend", "nccl", "w.json")
        self.assertEqual((result.code, result.out), (4, ""))
        self.assertRegex(result.err, r"^allranks: error: backend nccl is unavailable: .*(no NVIDIA driver|without the headers)")
        self.assertEqual(len(result.err.splitlines()), 1)

    def test_libraries_that_may_not_be_loaded(self):
        library = self.write("libnccl.so.2", "")
        library.chmod(0o666)
        for path in (library, "libnccl.so.2", "/nowhere/libnccl.so.2"):
            result = self.verify("--self-test", "--backend", "nccl", "--nccl-lib", path)
            self.assertEqual(result.code, 4, result.out)

    def test_self_test_of_the_simulator(self):
        result = self.verify("--self-test", "--backend", "sim", "--mismatches", "--output-format", "json")
        self.assertEqual(result.code, 0, result.err)
        report = json.loads(result.out)
        self.assertEqual([line["ranks"] for line in report["selfTest"]], [2, 4, 8])
        self.assertTrue(all(line["good"] for line in report["selfTest"]))
        self.assertIn("foretold", report["mismatches"][0])

    def test_json(self):
        self.witness_file([op("a")], [], world=3)
        report = json.loads(self.verify("--backend", "sim", "--output-format", "json", "w.json").out)
        verdict = report["findings"][0]["verify"]
        self.assertEqual((verdict["verdict"], verdict["effect"], verdict["evidence"]), ("reproduced", "deadlock", "model"))
        self.assertEqual(verdict["stuck"][0]["waitsFor"], [1, 2])
        self.assertEqual(verdict["stuck"][0]["at"], {"uri": "train.py", "line": 7})

    def test_more_ranks(self):
        self.witness_file([op("a")], [])
        report = json.loads(self.verify("--backend", "sim", "--ranks", "5", "--output-format", "json", "w.json").out)
        self.assertEqual(report["findings"][0]["verify"]["stuck"][0]["waitsFor"], [1, 2, 3, 4])

    def test_standard_input(self):
        text = json.dumps(witness([op("a")], [])).encode()
        self.assertEqual(self.verify("--backend", "sim", "-", stdin=text).code, 1)

    @staticmethod
    def steps(result):
        return [step for flow in result.get("codeFlows", []) for thread in flow["threadFlows"] for step in thread["locations"]]

    @staticmethod
    def take_what_was_seen(step):
        message = step["location"]["message"]
        message["text"], mark, said = message["text"].partition(" (`allranks verify`: ")
        return said.removesuffix(")")

    def test_copies_of_reports(self):
        self.write("bad.py", GUARDED)
        for form in ("sarif", "json"):
            before = self.run_allranks("check", "--output-format", form, "bad.py").out
            self.write("report", before)
            result = self.verify("--backend", "sim", "report", "-o", "copy")
            self.assertEqual(result.code, 1, result.err)
            self.assertEqual((self.root / "report").read_text(), before)
            copy = json.loads((self.root / "copy").read_text())
            finding = (copy["runs"][0]["results"] if form == "sarif" else copy["findings"])[0]
            verdict = finding["properties"].pop("allranks/verify") if form == "sarif" else finding.pop("verify")
            finding.pop("rank", None)
            self.assertEqual(verdict["verdict"], "reproduced")
            said = [self.take_what_was_seen(step) for step in self.steps(finding)]
            if form == "sarif":
                self.assertEqual([text for text in said if text], ["rank 0 waits here for rank 1, computed on sim"])
            # Level, fingerprints, messages: nothing else is touched.
            self.assertEqual(copy, json.loads(before))
        shown = self.verify("--backend", "sim", "--output-format", "sarif", self.write("again", before).name)
        self.assertEqual(shown.code, 2)

    def test_a_report_of_right_code_is_clean(self):
        self.write("good.py", GUARDED.replace("if dist.get_rank() == 0", "if True"))
        self.write("report", self.run_allranks("check", "--output-format", "json", "good.py").out)
        result = self.verify("--backend", "sim", "report")
        self.assertEqual(result.code, 0)
        self.assertIn("0 verified", result.out)


class Hostile(VerifyTest):
    def refused(self, text, *words):
        self.write("w.json", text if isinstance(text, (str, bytes)) else json.dumps(text))
        start = time.monotonic()
        result = self.verify("--backend", "sim", "w.json")
        # Starting the program is most of it; the bound is for machines under load.
        self.assertLess(time.monotonic() - start, 2)
        self.assert_one_line_error(result, "w.json", *words)

    def test_numbers(self):
        good = witness([op("a")], [])
        self.refused({**good, "world": 10**9}, "world: 1000000000 is outside 2..1024")
        self.refused({**good, "world": -2}, "world: the number is out of range")
        self.refused({**good, "world": 1e300}, "whole number")
        self.refused({**good, "ops": {"r0": [op("a", count=-1)], "rest": []}}, "count")
        self.refused({**good, "ops": {"r0": [op("a", count=10**12)], "rest": []}}, "count")
        self.refused({**good, "limits": {"total_ms": 10**9}}, "total_ms")

    def test_groups(self):
        good = witness([op("a")], [])
        self.refused({**good, "comms": [{"id": "world", "ranks": [0, 1, 0]}]}, "stands there twice")
        self.refused({**good, "comms": [{"id": "world", "ranks": [0, 1]}] * 2}, "stands there twice")
        self.refused({**good, "comms": [{"id": "world", "ranks": ["world"]}]}, "whole number")
        self.refused({**good, "comms": [{"id": "world", "ranks": [[0], 1]}]}, "whole number")
        self.refused({**good, "classes": [{"id": "r0", "ranks": [0, 1]}, {"id": "rest", "ranks": [1]}]}, "in two classes")

    def test_keys(self):
        good = witness([op("a")], [])
        self.refused({**good, "command": "rm -rf /"}, "unknown key `command`")
        self.refused({**good, "ops": {"r0": [op("a", library="/tmp/x.so")], "rest": []}}, "unknown key `library`")
        self.refused(json.dumps(good).replace('"world": 2', '"world": 2, "world": 3'), "twice")
        self.refused('{"schema":"allranks.witness/1",' + ",".join(f'"k{i}":0' for i in range(50000)) + "}", "keys")

    def test_texts(self):
        self.refused("[" * 900000, "nested deeper")
        self.refused('{"schema":"allranks.witness/1","a":' * 20000, "nested deeper")
        self.refused(b"\xff\xfe\x00", "not valid JSON")
        self.refused("", "not valid JSON")
        self.refused('{"schema":"allranks.witness/1","finding":"' + "x" * (2 << 20) + '"}', "larger than the 1 MiB")

    def test_a_gigabyte(self):
        with open(self.root / "w.json", "wb") as file:
            file.truncate(1 << 30)
        start = time.monotonic()
        self.assert_one_line_error(self.verify("--backend", "sim", "w.json"), "larger than the 256 MiB")
        self.assertLess(time.monotonic() - start, 2)

    def test_what_is_no_file(self):
        self.assert_one_line_error(self.verify("--backend", "sim", "."), "is a folder")
        os.mkfifo(self.root / "pipe")
        self.assert_one_line_error(self.verify("--backend", "sim", "pipe"), "pipe")

    def test_what_the_parser_says_is_short(self):
        for text in ('{"schema": ' + "9" * 100_000 + "}", '{"a": [1,}'):
            self.write("w.json", text)
            result = self.verify("--backend", "sim", "w.json")
            self.assert_one_line_error(result, "w.json: not valid JSON: ")
            self.assertNotIn("json.exception", result.err)
            self.assertLess(len(result.err), 300)


if __name__ == "__main__":
    main()
