"""What each output format looks like from outside."""

import json
import os
import subprocess
from xml.etree import ElementTree

from support import GUARDED, CliTest, main


class Formats(CliTest):
    def setUp(self):
        super().setUp()
        self.write("pkg/bad.py", GUARDED)

    def test_full(self):
        out = self.run_allranks("check").out
        self.assertIn("error[AR101]: ", out)
        self.assertIn(" --> pkg/bad.py:6:9, in `save` (likely)\n", out)
        self.assertIn("6 |         dist.barrier()\n", out)
        self.assertIn("^" * len("dist.barrier()"), out)
        self.assertIn("= timeline: ", out)
        self.assertIn("= help: ", out)
        self.assertIn("Found 1 error in 1 of 1 file", out)
        self.assertNotIn("\x1b", out)

    def test_colour_on_demand(self):
        self.assertIn("\x1b[", self.run_allranks("check", "--color", "always").out)
        self.assertIn("\x1b[", self.run_allranks("check", env={"FORCE_COLOR": "1"}).out)
        self.assertNotIn("\x1b[", self.run_allranks("check", "--color", "never", env={"FORCE_COLOR": "1"}).out)

    def test_concise(self):
        lines = self.run_allranks("check", "--output-format", "concise").out.splitlines()
        self.assertRegex(lines[0], r"^pkg/bad\.py:6:9: error: AR101 ")
        self.assertEqual(len(lines), 2)

    def test_paths_are_relative_to_the_working_directory(self):
        lines = self.run_allranks("check", "--output-format", "concise", "-q", cwd=self.root / "pkg").out
        self.assertTrue(lines.startswith("bad.py:6:9: "), lines)

    def test_json(self):
        report = json.loads(self.run_allranks("check", "--output-format", "json").out)
        self.assertEqual(list(report), ["version", "tool", "findings", "filesChecked", "suppressed", "ledger", "errors", "notes"])
        finding = report["findings"][0]
        self.assertEqual(list(finding), ["code", "name", "severity", "confidence", "assumptions", "message", "location", "function",
                                         "fingerprint", "labels", "help", "flightRecorder", "fixes", "witness"])
        self.assertEqual(finding["location"], {"path": "pkg/bad.py", "start": {"line": 6, "column": 9},
                                               "end": {"line": 6, "column": 23}})
        self.assertEqual(finding["function"], "save")
        self.assertEqual(report["ledger"]["flagged"], 1)

    def test_what_the_flight_recorder_says_only_of_what_it_sees(self):
        past_torch = "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\nif comm.Get_rank() == 0:\n    comm.Barrier()\n"
        self.write("mpi.py", past_torch)
        [finding] = json.loads(self.run_allranks("check", "--output-format", "json", "mpi.py").out)["findings"]
        self.assertEqual((finding["code"], finding["flightRecorder"]), ("AR101", ""))
        self.assertNotIn("Flight Recorder", self.run_allranks("check", "mpi.py").out)

    def test_errors_stand_in_the_machine_formats(self):
        report = json.loads(self.run_allranks("check", "--output-format", "json", "pkg", "nowhere.py").out)
        self.assertEqual(len(report["errors"]), 1)
        self.assertEqual(len(report["findings"]), 1)

    def test_output_file(self):
        result = self.run_allranks("check", "--output-format", "json", "-o", "report.json")
        self.assertEqual((result.code, result.out), (1, ""))
        self.assertEqual(len(json.loads((self.root / "report.json").read_text())["findings"]), 1)
        self.assert_one_line_error(self.run_allranks("check", "-o", "nowhere/x.json"), "nowhere/x.json")

    def test_a_report_into_what_is_no_file(self):
        other = self.write("other.json", "x" * 100_000)
        (self.root / "link.json").symlink_to("other.json")
        self.run_allranks("check", "--output-format", "json", "-o", "link.json")
        self.assertTrue((self.root / "link.json").is_symlink())
        self.assertEqual(len(json.loads(other.read_text())["findings"]), 1)
        os.mkfifo(self.root / "pipe")
        with subprocess.Popen(["cat", "pipe"], cwd=self.root, stdout=subprocess.PIPE) as reader:
            self.run_allranks("check", "--output-format", "json", "-o", "pipe")
            try:
                self.assertEqual(len(json.loads(reader.communicate(timeout=10)[0])["findings"]), 1)
            finally:
                reader.kill()
        self.assert_one_line_error(self.run_allranks("check", "-o", "/dev/full"), "cannot write /dev/full: No space left")

    def test_a_report_leaves_the_project_by_no_link(self):
        outside = self.root / "outside"
        project = self.root / "project"
        self.write("project/.git/HEAD", "")
        self.write("project/a.py", GUARDED)
        victim = self.write("outside/victim", "untouched")
        (project / "r.json").symlink_to("../outside/victim")
        (project / "new.json").symlink_to("../outside/new")
        (project / "folder").symlink_to("../outside")
        (project / "full").symlink_to("/dev/full")
        (self.root / "way").symlink_to("project")
        for path in ("r.json", "folder/victim", "folder/new", "full", str(project / "r.json"), str(self.root / "way/r.json")):
            with self.subTest(path):
                self.assert_one_line_error(self.run_allranks("check", "-n", "-q", "-o", path, cwd=project), "a link leads out of the project")
        self.assertEqual(victim.read_text(), "untouched")
        # A link to nothing is replaced.
        self.assertEqual(self.run_allranks("check", "-n", "-q", "-o", "new.json", cwd=project).code, 1)
        self.assertFalse((project / "new.json").is_symlink())
        self.assertEqual([each.name for each in outside.iterdir()], ["victim"])
        # A name that is none of the project may lead anywhere.
        (outside / "link").symlink_to("victim")
        self.assertEqual(self.run_allranks("check", "-n", "-q", "-o", outside / "link", cwd=project).code, 1)
        self.assertIn("AR101", victim.read_text())
        self.assertTrue((outside / "link").is_symlink())

    def test_several_reports_in_one_run(self):
        result = self.run_allranks("check", "--output", "sarif=a.sarif", "--output", "json=a.json", "--output", "concise", "-q")
        self.assertEqual((result.code, len(result.out.splitlines())), (1, 1))
        self.assertEqual(json.loads((self.root / "a.sarif").read_text())["version"], "2.1.0")
        self.assertEqual(len(json.loads((self.root / "a.json").read_text())["findings"]), 1)
        self.assert_one_line_error(self.run_allranks("check", "--output", "sarif", "--output", "full"), "the standard output")
        self.assert_one_line_error(self.run_allranks("check", "--output", "srif=x"), "did you mean `sarif`?")
        self.assert_one_line_error(self.run_allranks("check", "--output", "sarif="), "names no file")

    def test_json_lines(self):
        whole = json.loads(self.run_allranks("check", "--output-format", "json").out)["findings"]
        lines = self.run_allranks("check", "--output-format", "json-lines").out.splitlines()
        self.assertEqual([json.loads(line) for line in lines], whole)

    def test_repository_paths_in_the_formats_of_forges(self):
        (self.root / ".git").mkdir()
        for name, path in (("github", lambda t: t.split("file=")[1].split(",")[0]),
                           ("gitlab", lambda t: json.loads(t)[0]["location"]["path"]),
                           ("sarif", lambda t: json.loads(t)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
                                                   ["artifactLocation"]["uri"])):
            out = self.run_allranks("check", "--output-format", name, "bad.py", cwd=self.root / "pkg").out
            self.assertEqual(path(out), "pkg/bad.py", name)

    def test_a_project_in_a_folder_keeps_its_folder_in_all_paths(self):
        (self.root / "pkg" / "pyproject.toml").write_text("")
        out = self.run_allranks("check", "--output-format", "concise", "pkg/bad.py").out
        self.assertTrue(out.startswith("pkg/bad.py:"), out)
        finding = json.loads(self.run_allranks("check", "--output-format", "json", "pkg/bad.py").out)["findings"][0]
        self.assertEqual((finding["location"]["path"], finding["witness"]["ops"]["c0"][0]["at"]["uri"]), ("pkg/bad.py",) * 2)
        result = json.loads(self.run_allranks("check", "--output-format", "sarif", "pkg/bad.py").out)["runs"][0]["results"][0]
        self.assertEqual(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "pkg/bad.py")

    def test_keys_in_launch_files_are_not_shown(self):
        self.write("run.sh", "WANDB_API_KEY=sk-123 NCCL_P2P_DISABLE=1 torchrun --nproc_per_node=8 train.py\n")
        for format in ("full", "html", "sarif", "json", "markdown", "github"):
            out = self.run_allranks("check", "--output-format", format, "--select", "AR906", "run.sh").out
            self.assertIn("AR906", out, format)
            self.assertNotIn("sk-123", out, format)

    def test_messages_do_not_show_keys_either(self):
        self.write("run.sh", "API_TOKEN=ab7\ntorchrun --nproc_per_node=2 --master_port=$API_TOKEN train.py\n")
        self.write("key.py", 'import os, torch.distributed as dist\ndist.init_process_group("nccl")\n'
                             'if dist.get_rank() == 0: os.environ["WANDB_API_KEY"] = "abc"; dist.barrier()\n')
        for format in ("full", "html", "sarif", "json", "markdown", "github", "concise"):
            out = self.run_allranks("check", "--preview", "--output-format", format, ".").out
            self.assertIn("AR101", out, format)
            self.assertIn("whole number", out, format)
            self.assertNotRegex(out, r"\bab[c7]\b", format)

    def test_github_escapes(self):
        self.write("a,b%.py", GUARDED)
        out = self.run_allranks("check", "--output-format", "github", "a,b%.py").out
        self.assertRegex(out, r"^::error title=allranks \(AR101\),file=a%2Cb%25\.py,line=6,col=9,endLine=6,endColumn=23::a,b%25\.py:6:9: AR101 ")
        self.assertEqual(len(out.splitlines()), 1)

    def test_gitlab_fingerprints_differ(self):
        self.write("twice.py", GUARDED + GUARDED.replace("import torch.distributed as dist", ""))
        entries = json.loads(self.run_allranks("check", "--output-format", "gitlab").out)
        self.assertEqual(len({entry["fingerprint"] for entry in entries}), len(entries))
        self.assertEqual({entry["severity"] for entry in entries}, {"major"})
        # What GitLab's own schema of such reports asks for, and the place that it takes from them.
        for entry in entries:
            self.assertLessEqual({"description", "fingerprint", "severity", "location"}, set(entry))
            self.assertIsInstance(entry["location"]["positions"]["begin"]["line"], int)

    def test_junit(self):
        suites = ElementTree.fromstring(self.run_allranks("check", "--output-format", "junit").out)
        failure = suites.find("testsuite/testcase/failure")
        self.assertIn("`torch.distributed.barrier`", failure.get("message"))
        # The schemas of Surefire and of Jenkins' xUnit plugin know no other attributes: a strict reader refuses the file.
        allowed = {"testsuites": {"name", "tests", "failures", "errors", "time"}, "testcase": {"name", "classname", "time"},
                   "testsuite": {"name", "tests", "failures", "errors", "skipped", "time"}, "failure": {"type", "message"}}
        for element in suites.iter():
            self.assertLessEqual(set(element.attrib), allowed[element.tag], element.tag)
        self.write("pkg/bad.py", "import torch.distributed\n")
        suites = ElementTree.fromstring(self.run_allranks("check", "--output-format", "junit").out)
        self.assertEqual((len(suites.findall("testsuite/testcase")), suites.find(".//failure")), (1, None))

    def test_rdjson(self):
        self.write("pkg/bad.py", GUARDED.replace("        dist.barrier()", "        print('\u00e9'); dist.barrier()  # allranks: ignore[AR104]"))
        report = json.loads(self.run_allranks("check", "--output-format", "rdjson").out)
        ours, unused = report["diagnostics"]
        self.assertEqual(ours["location"]["range"]["start"], {"line": 6, "column": 22})
        self.assertEqual((ours["severity"], ours["code"]["value"]), ("ERROR", "AR101"))
        self.assertEqual(unused["suggestions"][0]["text"], "")

    def test_html_escapes_hostile_text(self):
        hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e"
        self.write("pkg/<b>'\".py", GUARDED.replace("        dist.barrier()", f"        dist.barrier()  # {hostile}"))
        html = self.run_allranks("check", "--output-format", "html").out
        self.assertEqual(html.count("<script"), 1)
        self.assertNotIn("<img", html)
        self.assertNotIn("\u202e", html)
        self.assertNotIn("<b>", html)
        self.assertIn("&lt;img src=x onerror=alert(2)&gt;", html)
        self.assertIn("<svg class=\"lanes\"", html)
        self.assertNotRegex(html, r'(src|href)="(?!https://github.com/)')

    def test_html_shows_what_verify_saw(self):
        self.run_allranks("check", "--output-format", "json", "-o", "found.json")
        self.run_allranks("verify", "found.json", "--backend", "sim", "-o", "verified.json")
        html = self.run_allranks("check", "--output-format", "html", "--verdicts", "verified.json").out
        self.assertIn("<dt>verified</dt><dd>hangs in the simulator (2 ranks)</dd>", html)
        self.assert_one_line_error(self.run_allranks("check", "--verdicts", "found.json"), "no verdicts in it")

    def test_verdicts_in_sarif_are_read_as_well(self):
        self.run_allranks("check", "--output-format", "sarif", "-o", "found.sarif")
        self.run_allranks("verify", "found.sarif", "--backend", "sim", "-o", "verified.sarif")
        full = self.run_allranks("check", "--verdicts", "verified.sarif").out
        self.assertIn("= verified: hangs in the simulator (2 ranks)", full)

    def test_check_and_verify_in_one_command(self):
        result = self.run_allranks("check", "--verify", "--output", "full", "--output", "sarif=all.sarif")
        self.assertEqual(result.code, 1, result.err)
        self.assertIn("= verified: hangs in the simulator (", result.out)
        properties = json.loads((self.root / "all.sarif").read_text())["runs"][0]["results"][0]["properties"]
        self.assertEqual(properties["allranks/verify"]["verdict"], "reproduced")

    def test_ranks_that_are_named_one_by_one_prove_nothing_of_larger_jobs(self):
        self.write("train.py", "import torch\nimport torch.distributed as dist\n\n\ndef main():\n    dist.init_process_group('gloo')\n    x = torch.ones(1)\n"
                               "    match dist.get_rank():\n        case 0:\n            dist.all_reduce(x)\n        case 1 | 2:\n            dist.all_reduce(x)\n"
                               "        case _:\n            print(x)\n\n\nmain()\n")
        coverage = self.run_allranks("check", "--coverage").out
        self.assertRegex(coverage, r"unknown +2 ")

    def test_statistics_and_coverage(self):
        self.assertRegex(self.run_allranks("check", "--statistics").out, r"^ +1  AR101  rank-guarded-collective\n")
        coverage = self.run_allranks("check", "--coverage").out
        self.assertIn("Collective calls: 1\n", coverage)
        self.assertRegex(coverage, r"flagged +1 +100\.0 %")
        self.assertIn("pkg/bad.py:6:9: flagged", self.run_allranks("check", "--coverage", "-v").out)

    def test_notebook(self):
        cells = [{"cell_type": "markdown", "source": ["text"]},
                 {"cell_type": "code", "source": GUARDED.splitlines(True), "outputs": [], "metadata": {}}]
        self.write("nb.ipynb", json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}))
        out = self.run_allranks("check", "--output-format", "concise", "-q", "nb.ipynb").out
        self.assertTrue(out.startswith("nb.ipynb:cell 2:6:9: error: AR101"), out)

    def test_lines_of_a_notebook_are_those_of_its_file(self):
        code = GUARDED.splitlines(True)
        cells = [{"cell_type": "code", "source": code[:2], "outputs": [], "metadata": {}},
                 {"cell_type": "code", "source": code[2:], "outputs": [], "metadata": {}}]
        text = json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}, indent=1)
        self.write("nb.ipynb", text)
        line = next(i for i, row in enumerate(text.splitlines(), 1) if "dist.barrier()" in row)
        sarif = json.loads(self.run_allranks("check", "--output-format", "sarif", "nb.ipynb").out)["runs"][0]["results"][0]
        region = sarif["locations"][0]["physicalLocation"]["region"]
        self.assertEqual(region, {"startLine": line, "endLine": line})
        step = sarif["codeFlows"][0]["threadFlows"][0]["locations"][0]["location"]["physicalLocation"]["region"]
        self.assertEqual(step["startLine"], line)
        gitlab = json.loads(self.run_allranks("check", "--output-format", "gitlab", "nb.ipynb").out)[0]
        self.assertEqual(gitlab["location"]["positions"]["begin"]["line"], line)
        self.assertIn(f",line={line},", self.run_allranks("check", "--output-format", "github", "nb.ipynb").out)
        self.assertIn(f"linenumber={line};", self.run_allranks("check", "--output-format", "azure", "nb.ipynb").out)
        self.assertIn("barrier :cell 2, line 4", self.run_allranks("check", "nb.ipynb").out)


if __name__ == "__main__":
    main()
