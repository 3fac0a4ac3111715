"""What each output format looks like from outside."""

import json

from support import GUARDED, CliTest, main


class Formats(CliTest):
    def setUp(self):
        super().setUp()
        self.write("pkg/bad.py", GUARDED)

    def test_full(self):
        out = self.run_allranks("check").out
        self.assertIn("error[AR101]: ", out)
        self.assertIn(" --> pkg/bad.py:6:9, in `save`\n", out)
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
        self.assertRegex(lines[0], r"^pkg/bad\.py:6:9: AR101 ")
        self.assertEqual(len(lines), 2)

    def test_paths_are_relative_to_the_working_directory(self):
        lines = self.run_allranks("check", "--output-format", "concise", "-q", cwd=self.root / "pkg").out
        self.assertTrue(lines.startswith("bad.py:6:9: "), lines)

    def test_json(self):
        report = json.loads(self.run_allranks("check", "--output-format", "json").out)
        self.assertEqual(list(report), ["version", "tool", "findings", "filesChecked", "suppressed", "ledger", "errors"])
        finding = report["findings"][0]
        self.assertEqual(list(finding), ["code", "name", "severity", "confidence", "message", "location", "function",
                                         "labels", "help", "flightRecorder", "fixes", "witness"])
        self.assertEqual(finding["location"], {"path": "pkg/bad.py", "start": {"line": 6, "column": 9},
                                               "end": {"line": 6, "column": 23}})
        self.assertEqual(finding["function"], "save")
        self.assertEqual(report["ledger"]["flagged"], 1)

    def test_errors_stand_in_the_machine_formats(self):
        report = json.loads(self.run_allranks("check", "--output-format", "json", "pkg", "nowhere.py").out)
        self.assertEqual(len(report["errors"]), 1)
        self.assertEqual(len(report["findings"]), 1)

    def test_output_file(self):
        result = self.run_allranks("check", "--output-format", "json", "-o", "report.json")
        self.assertEqual((result.code, result.out), (1, ""))
        self.assertEqual(len(json.loads((self.root / "report.json").read_text())["findings"]), 1)
        self.assert_one_line_error(self.run_allranks("check", "-o", "nowhere/x.json"), "nowhere/x.json")

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
        self.assertTrue(out.startswith("nb.ipynb:cell 2:6:9: AR101"), out)


if __name__ == "__main__":
    main()
