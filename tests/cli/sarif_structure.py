"""SARIF: the rules of the format that readers rely on; with python3-jsonschema and a schema in SARIF_SCHEMA, all."""

import json
import os
import re
import shutil
import subprocess
import unittest
import urllib.parse

from support import GUARDED, CliTest, main

LEVELS = {"error", "warning", "note", "none"}


class SarifStructure(CliTest):
    def git(self, *args):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *args], cwd=self.root, check=True,
                              capture_output=True, text=True).stdout.strip()

    def sarif(self, *args):
        self.write("pkg one/bad.py", GUARDED)
        self.write("broken.py", GUARDED + "def f(:\n")
        result = self.run_allranks("check", "--output-format", "sarif", *args)
        self.assertEqual(result.err if not args else "", "")
        return json.loads(result.out)

    def check_location(self, location, files):
        physical = location["physicalLocation"]
        uri = physical["artifactLocation"]["uri"]
        self.assertIn(urllib.parse.unquote(uri), files)
        self.assertNotIn(" ", uri)
        region = physical["region"]
        self.assertGreaterEqual(region["startLine"], 1)
        if "endColumn" in region:
            self.assertGreaterEqual((region["endLine"], region["endColumn"]), (region["startLine"], region["startColumn"]))
            self.assertGreaterEqual(region["startColumn"], 1)

    def check_result(self, result, rules, files):
        self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
        self.assertIn(result["level"], LEVELS)
        self.assertTrue(result["message"]["text"].endswith((".", "?")))
        self.assertEqual(len(result["locations"]), 1)
        self.check_location(result["locations"][0], files)
        ids = [related["id"] for related in result.get("relatedLocations", [])]
        self.assertEqual(ids, sorted(set(ids)))
        for related in result.get("relatedLocations", []):
            self.check_location(related, files)
        for flow in result.get("codeFlows", []):
            self.assertGreaterEqual(len(flow["threadFlows"]), 1)
            for thread in flow["threadFlows"]:
                self.assertTrue(thread["id"])
                self.assertGreaterEqual(len(thread["locations"]), 1)
                for step in thread["locations"]:
                    self.check_location(step["location"], files)

    def test_a_flow_ends_where_its_ranks_wait(self):
        self.write("train.py", "import torch.distributed as dist\n\n\ndef main(x):\n    dist.init_process_group('nccl')\n"
                               "    if dist.get_rank() == 0:\n        dist.barrier()\n    dist.all_reduce(x)\n    dist.destroy_process_group()\n")
        log = json.loads(self.run_allranks("check", "--output-format", "sarif").out)
        threads = [thread for result in log["runs"][0]["results"] for flow in result["codeFlows"] for thread in flow["threadFlows"]]
        waits = [["waits here" in step["location"]["message"]["text"] for step in thread["locations"]] for thread in threads]
        self.assertTrue(any(any(steps) for steps in waits), log)
        for steps in waits:
            self.assertNotIn(True, steps[:-1])

    def test_steps_are_named_in_words(self):
        self.write("train.py", "import torch.distributed as dist\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n\n\n"
                               "def main(net, batch):\n    dist.init_process_group('nccl')\n    model = DDP(net.cuda())\n    loss = model(batch).mean()\n"
                               "    if dist.get_rank() == 0:\n        loss.backward()\n    dist.destroy_process_group()\n")
        results = json.loads(self.run_allranks("check", "--preview", "--output-format", "sarif").out)["runs"][0]["results"]
        steps = [step["location"]["message"]["text"] for result in results for flow in result.get("codeFlows", [])
                 for thread in flow["threadFlows"] for step in thread["locations"]]
        self.assertIn("rank 0: backward of a wrapped model, waits here", steps)
        self.assertTrue(any("`torch.nn.parallel.DistributedDataParallel`" in step for step in steps), steps)
        for name in ("full", "html", "markdown"):
            out = self.run_allranks("check", "--coverage", "-v", "--output-format", name).out
            for word in ("@gradient_synced", "gradient_reduction", "__init__"):
                self.assertNotIn(word, out, name)

    def test_what_readers_rely_on(self):
        log = self.sarif()
        self.assertEqual(log["version"], "2.1.0")
        self.assertEqual(len(log["runs"]), 1)
        run = log["runs"][0]
        driver = run["tool"]["driver"]
        self.assertEqual(driver["name"], "allranks")
        ids = [rule["id"] for rule in driver["rules"]]
        self.assertEqual(len(ids), len(set(ids)))
        for rule in driver["rules"]:
            for text in (rule["shortDescription"]["text"], rule["fullDescription"]["text"], rule["help"]["text"]):
                self.assertTrue(text)
            self.assertLessEqual(len(rule["fullDescription"]["text"]), 1024)
            self.assertIn(rule["defaultConfiguration"]["level"], LEVELS)
        self.assertGreaterEqual(len(run["results"]), 3)
        for result in run["results"]:
            self.check_result(result, driver["rules"], {"pkg one/bad.py", "broken.py"})
        self.assertTrue(any("codeFlows" in result for result in run["results"]))

    def test_what_could_not_be_done_is_a_notification(self):
        run = self.sarif("nowhere.py", "broken.py")["runs"][0]
        self.assertFalse(run["invocations"][0]["executionSuccessful"])
        self.assertIn("nowhere.py", run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"])

    def test_the_run_itself(self):
        invocation = self.sarif()["runs"][0]["invocations"][0]
        self.assertEqual(invocation["arguments"], ["check", "--output-format", "sarif"])
        self.assertEqual(invocation["exitCode"], 1)
        for time in ("startTimeUtc", "endTimeUtc"):
            self.assertRegex(invocation[time], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    @unittest.skipUnless(shutil.which("git"), "git is not installed")
    def test_the_commit(self):
        self.git("init", "-q", "-b", "main")
        self.git("commit", "-q", "--allow-empty", "-m", "first")
        self.assertNotIn("versionControlProvenance", self.sarif()["runs"][0])
        for remote in ("git@example.com:a/b.git", "https://user:secret@example.com/a/b.git", "https://example.com/a/b"):
            self.git("config", "remote.origin.url", remote)
            run = self.sarif()["runs"][0]
            self.assertEqual(run["versionControlProvenance"],
                             [{"repositoryUri": "https://example.com/a/b", "revisionId": self.git("rev-parse", "HEAD"), "branch": "main",
                               "mappedTo": {"uriBaseId": "%SRCROOT%"}}])
            self.assertEqual(list(run["originalUriBaseIds"]), ["%SRCROOT%"])

    @unittest.skipUnless(shutil.which("git"), "git is not installed")
    def test_paths_are_relative_to_the_root_that_the_commit_is_of(self):
        def places(value):
            if isinstance(value, list):
                return [place for item in value for place in places(item)]
            if not isinstance(value, dict):
                return []
            here = [value["artifactLocation"]] if "artifactLocation" in value else []
            return here + [place for item in value.values() for place in places(item)]

        self.write("repository/train.py", GUARDED)
        self.write("outside.py", GUARDED)
        self.root = self.root / "repository"
        self.git("init", "-q", "-b", "main")
        self.git("commit", "-q", "--allow-empty", "-m", "first")
        check = ("check", "--output-format", "sarif", "--root", ".", "train.py", "../outside.py")
        self.assertEqual([place for place in places(json.loads(self.run_allranks(*check, cwd=self.root).out)) if "uriBaseId" in place], [])
        self.git("config", "remote.origin.url", "https://example.com/a/b")
        found = places(json.loads(self.run_allranks(*check, cwd=self.root).out))
        self.assertIn({"uri": "train.py", "uriBaseId": "%SRCROOT%"}, found)
        self.assertIn({"uri": (self.root.parent / "outside.py").as_uri()}, found)
        self.assertEqual([place for place in found if ("uriBaseId" in place) == place["uri"].startswith("file:")], [])

    def test_each_role_has_one_link(self):
        for result in self.sarif()["runs"][0]["results"]:
            names = re.findall(r"\[([^]]*)\]\(\d+\)", result["message"]["text"])
            self.assertEqual(len(names), len(set(names)), result["message"]["text"])

    def test_the_page_of_a_rule_stands_there_once(self):
        for rule in self.sarif()["runs"][0]["tool"]["driver"]["rules"]:
            self.assertLess(len(rule["help"]["text"]), 400)
            self.assertIn("## What it finds", rule["help"]["markdown"])

    def test_the_schema(self):
        schema = os.environ.get("SARIF_SCHEMA")
        if not schema:
            self.skipTest("SARIF_SCHEMA names no schema file")
        try:
            import jsonschema
        except ImportError:
            raise unittest.SkipTest("python3-jsonschema is not installed")
        with open(schema, encoding="utf-8") as file:
            jsonschema.validate(self.sarif(), json.load(file))


if __name__ == "__main__":
    main()
