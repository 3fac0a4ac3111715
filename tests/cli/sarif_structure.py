"""SARIF: the rules of the format that readers rely on; with python3-jsonschema and a schema in SARIF_SCHEMA, all."""

import json
import os
import unittest
import urllib.parse

from support import GUARDED, CliTest, main

LEVELS = {"error", "warning", "note", "none"}


class SarifStructure(CliTest):
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
        if "endLine" in region:
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
