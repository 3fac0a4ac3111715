"""What allranks writes, read by validators of others: one run over all fixtures twice, some of them accepted, every format.

usage: formats.py ALLRANKS REPOSITORY. Skips what is not installed; `make validate` installs it.
"""

import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
from xml.etree import ElementTree

# Debian's packages, which `make validate` installs, also for a Python that is not Debian's.
sys.path.append("/usr/lib/python3/dist-packages")
ALLRANKS = os.path.abspath(sys.argv.pop(1))
REPOSITORY = pathlib.Path(sys.argv.pop(1)).resolve()
MODULES = REPOSITORY / "tests" / "validators" / "node_modules"
MULTITOOL = MODULES / "@microsoft" / "sarif-multitool-linux" / "Sarif.Multitool"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

FORMATS = ("sarif", "rdjson", "html", "json", "json-lines", "github", "gitlab", "junit", "concise")

HOSTILE = '''\
import torch.distributed as dist


def save(model="</script><script>window.hacked = 1</script>"):
    if dist.get_rank() == 0:  # <img src=x onerror="window.hacked = 1">
        dist.barrier()  # </pre></main> \u202e "' onload='window.hacked = 1'
'''


def needs(tool):
    return unittest.skipUnless(tool and pathlib.Path(tool).exists(), f"{tool} is not installed; `make validate` installs it")


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, **options)


class Formats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = pathlib.Path(cls.folder.name).resolve()
        project = cls.root / "project"
        for copy in ("first", "second"):
            shutil.copytree(REPOSITORY / "fixtures", project / copy)
        shutil.copytree(REPOSITORY / "fixtures" / "AR101", project / "suppressed")
        shutil.copytree(REPOSITORY / "fixtures" / "AR103", project / "known")
        for command in (("init", "-q"), ("remote", "add", "origin", "https://example.com/owner/name.git"),
                        ("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "first")):
            subprocess.run(["git", *command], cwd=project, check=True)
        baseline = ("--baseline", cls.root / "baseline")
        check = (ALLRANKS, "check", "--min-confidence", "possible", "--extend-select", "ALL")
        accepted = run(*check, "suppressed", "--add-ignore", "accepted by all", cwd=project)
        known = run(*check, "known", *baseline, "--update-baseline", cwd=project)
        assert (accepted.returncode, known.returncode) == (0, 0), accepted.stderr + known.stderr
        (project / "<b>& \"'.py").write_text(HOSTILE, "utf-8")
        outputs = [f"--output={name}={cls.root / name}" for name in FORMATS]
        cls.run_result = run(*check, *baseline, *outputs, cwd=project)

    def test_the_run_found_much(self):
        self.assertEqual(self.run_result.returncode, 1, self.run_result.stderr)
        self.assertGreater(len(self.sarif_results()), 1000)

    def sarif_results(self):
        return json.loads((self.root / "sarif").read_text("utf-8"))["runs"][0]["results"]

    def test_sarif_leaves_out_what_was_accepted(self):
        report = json.loads((self.root / "json").read_text("utf-8"))
        self.assertGreater(report["suppressed"], 50)
        folders = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].split("/")[0] for result in self.sarif_results()]
        self.assertEqual([result for result in self.sarif_results() if "suppressions" in result or result.get("baselineState") == "unchanged"], [])
        for accepted, code in (("suppressed", "AR101"), ("known", "AR103")):
            codes = {result["ruleId"] for result, folder in zip(self.sarif_results(), folders) if folder == accepted}
            self.assertNotIn(code, codes)

    def test_flows_of_sarif_end_where_a_rank_waits(self):
        threads = [thread for result in self.sarif_results() for flow in result.get("codeFlows", []) for thread in flow["threadFlows"]]
        waits = [["waits here" in step["location"]["message"]["text"] for step in thread["locations"]] for thread in threads]
        self.assertGreater(sum(any(steps) for steps in waits), 500)
        self.assertEqual([steps for steps in waits if any(steps[:-1])], [])

    def test_all_formats_tell_the_same(self):
        def load(name):
            return json.loads((self.root / name).read_text("utf-8"))

        def line_of(case):
            return int(re.match(r":(?:cell \d+:)?(\d+):", case.find("failure").text.removeprefix(case.get("classname")))[1])

        def start(finding):
            return finding["code"], finding["location"]["path"], finding["location"]["start"]["line"]

        # In notebooks the lines of SARIF count through the cells.
        plain = [finding for finding in load("json")["findings"] if not finding["location"]["path"].endswith(".ipynb")]
        expected = sorted(start(finding) for finding in plain)
        lines = [json.loads(line) for line in (self.root / "json-lines").read_text("utf-8").splitlines()]
        self.assertEqual(lines, load("json")["findings"])
        told = {
            "sarif": [(r["ruleId"], urllib.parse.unquote(at["artifactLocation"]["uri"]), at["region"]["startLine"])
                      for r in self.sarif_results()
                      for at in [r["locations"][0]["physicalLocation"]]],
            "rdjson": [(d["code"]["value"], d["location"]["path"], d["location"]["range"]["start"]["line"]) for d in load("rdjson")["diagnostics"]],
            "gitlab": [(e["check_name"], e["location"]["path"], e["location"]["positions"]["begin"]["line"]) for e in load("gitlab")],
            "junit": [(case.get("name"), case.get("classname"), line_of(case)) for case in ElementTree.parse(self.root / "junit").iter("testcase")],
        }
        for name, findings in told.items():
            self.assertEqual(sorted(f for f in findings if not f[1].endswith(".ipynb")), expected, name)
        for name in ("github", "concise"):
            count = sum(1 for line in (self.root / name).read_text("utf-8").splitlines() if " AR" in line)
            self.assertEqual(count, len(lines), name)
        self.assertEqual((self.root / "html").read_text("utf-8").count("<article "), len(lines))

    def test_sarif_names_the_repository(self):
        log = json.loads((self.root / "sarif").read_text("utf-8"))["runs"][0]
        provenance, = log["versionControlProvenance"]
        self.assertEqual(provenance["repositoryUri"], "https://example.com/owner/name")
        self.assertIn(provenance["mappedTo"]["uriBaseId"], log["originalUriBaseIds"])

    @needs(MULTITOOL)
    def test_sarif_multitool(self):
        MULTITOOL.chmod(MULTITOOL.stat().st_mode | stat.S_IXUSR)
        verdict = self.root / "verdict.sarif"
        # It passes over files of more than 10 MB unless told otherwise.
        done = run(MULTITOOL, "validate", self.root / "sarif", "--rule-kind", "Sarif;Gh", "--level", "Error;Warning", "--output",
                   verdict, "--log", "ForceOverwrite", "--max-file-size-in-kb", "1000000")
        self.assertIn("Analysis completed successfully", done.stdout)
        # The tool ends with 0 whatever it finds: its own report counts.
        results = json.loads(verdict.read_text("utf-8-sig"))["runs"][0]["results"]
        self.assertEqual([(r["ruleId"], r["message"], r["locations"][0]["physicalLocation"].get("region")) for r in results[:3]], [])

    @needs(MULTITOOL.parent / "sarif-2.1.0.json")
    def test_sarif_schema(self):
        try:
            import jsonschema
        except ImportError:
            raise unittest.SkipTest("python3-jsonschema is not installed")
        schema = json.loads((MULTITOOL.parent / "sarif-2.1.0.json").read_text("utf-8-sig"))
        jsonschema.validate(json.loads((self.root / "sarif").read_text()), schema)

    def test_rule_ids_agree_with_their_indices(self):
        log = json.loads((self.root / "sarif").read_text())["runs"][0]
        rules = log["tool"]["driver"]["rules"]
        for result in log["results"]:
            self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])

    def test_junit(self):
        try:
            import junitparser
        except ImportError:
            raise unittest.SkipTest("python3-junitparser is not installed; `make validate` installs it")
        read = junitparser.JUnitXml.fromfile(str(self.root / "junit"))
        cases = [case for suite in read for case in suite]
        self.assertEqual(len(cases), len(json.loads((self.root / "json").read_text())["findings"]))
        self.assertEqual({type(result) for case in cases for result in case.result}, {junitparser.Failure})
        self.assertEqual(sum(suite.failures for suite in read), len(cases))

    @needs(MODULES / ".bin" / "rdformat-validator")
    def test_rdjson(self):
        result = run("node", MODULES / ".bin" / "rdformat-validator", "--strict", self.root / "rdjson")
        self.assertEqual(result.returncode, 0, result.stdout[-2000:])

    @needs(MODULES / ".bin" / "taplo")
    def test_the_schema_of_the_settings(self):
        schema = f"file://{REPOSITORY / 'docs' / 'allranks.schema.json'}"
        good = self.root / "good.toml"
        good.write_text("select = ['AR1', 'missing-set-epoch']\n[severity]\nAR4 = 'info'\n[world]\nnodes = 1\n")
        result = run("node", MODULES / ".bin" / "taplo", "lint", "--schema", schema, good, cwd=self.root)
        self.assertEqual(result.returncode, 0, result.stderr)
        for wrong in ("selct = []\n", "select = ['AR1x']\n", "fail-on = 'eror'\n", "[world]\nnode = 1\n", "[severity]\nAR4 = 'hot'\n"):
            bad = self.root / "bad.toml"
            bad.write_text(wrong)
            self.assertNotEqual(run("node", MODULES / ".bin" / "taplo", "lint", "--schema", schema, bad, cwd=self.root).returncode, 0, wrong)

    @needs(CHROMIUM)
    @needs(MODULES / "playwright-core" / "package.json")
    def test_html_in_a_browser(self):
        environment = {**os.environ, "NODE_PATH": str(MODULES), "CHROMIUM": CHROMIUM}
        pictures = pathlib.Path(os.environ.get("ALLRANKS_PICTURES", self.root))
        (self.root / "report.html").write_bytes((self.root / "html").read_bytes())
        result = run("node", REPOSITORY / "tests" / "validators" / "html.js", self.root / "report.html", pictures, env=environment)
        self.assertEqual(result.returncode, 0, result.stdout[-3000:] + result.stderr[-3000:])


if __name__ == "__main__":
    unittest.main(verbosity=1)
