"""Every witness that the fixtures produce runs on the simulator; one of each kind runs on Gloo and through the NCCL backend on a double
of the library, and all say the same.

usage: verify_fixtures.py ALLRANKS CLASS REPORT CUDA_DOUBLE NCCL_DOUBLE

ctest runs the classes side by side: hundreds of ranks that hang are waited for, one job after the other. `Report` comes first: it
writes the report that the others read, for checking all fixtures takes minutes in a build with assertions.
"""

import importlib.util
import json
import pathlib
import sys
import unittest

from support import main
from verify_support import FIXTURES, VerifyTest, distinct

NCCL_DOUBLE, CUDA_DOUBLE, REPORT = sys.argv.pop(), sys.argv.pop(), pathlib.Path(sys.argv.pop())


class Report(VerifyTest):
    def test_it_is_written(self):
        text = self.check_fixtures()
        self.assertGreater(len(json.loads(text)["findings"]), 300)
        REPORT.write_text(text, encoding="utf-8")


class FixturesTest(VerifyTest):
    def setUp(self):
        super().setUp()
        self.report = json.loads(REPORT.read_text(encoding="utf-8"))
        self.findings = [finding for finding in self.report["findings"] if finding["witness"]]

    def verdicts(self, *args, run=None, shares=1):
        return self.verdicts_of(run or self.verify, {**self.report, "findings": self.findings}, *args, shares=shares)

    @staticmethod
    def stuck(verdict):
        return [(one["rank"], one["op"]) for one in verdict.get("stuck", [])]

    @staticmethod
    def waiting(verdict):
        return [(one["rank"], one["op"], one["waitsFor"]) for one in verdict.get("stuck", [])], verdict.get("cycle", [])


class OnSimulator(FixturesTest):
    @unittest.skipUnless(importlib.util.find_spec("jsonschema"), "python3-jsonschema is not installed")
    def test_they_fit_the_schema(self):
        import jsonschema

        with open(FIXTURES.parent / "witness" / "witness.schema.json", encoding="utf-8") as file:
            validator = jsonschema.Draft202012Validator(json.load(file))
        for finding in self.findings:
            self.assertEqual([error.message for error in validator.iter_errors(finding["witness"])], [])

    def test_all_do_as_they_expect(self):
        witnesses = [finding["witness"] for finding in self.findings]
        self.assertGreater(len(witnesses), 90)
        for expected, verdict in zip(witnesses, self.verdicts("--backend", "sim"), strict=True):
            with self.subTest(expected["finding"]):
                self.assertEqual(verdict["verdict"], "reproduced")
                # A scenario is measured, its witness expects what cannot be matched.
                if "scenario" in expected:
                    continue
                self.assertEqual(verdict["effect"], expected["expect"]["effect"])
                self.assertEqual(self.stuck(verdict), [(s["rank"], s["op"]) for s in expected["expect"].get("stuck", [])])


class OneOfEachKind(FixturesTest):
    def setUp(self):
        super().setUp()
        self.findings = distinct(self.findings)
        self.assertGreater(len(self.findings), 90)


class OnGloo(OneOfEachKind):
    @staticmethod
    def sizes_differ(witness):
        return len({op["count"] for ops in witness["ops"].values() for op in ops}) > 1

    def test_gloo_agrees_with_the_simulator(self):
        self.needs_gloo()
        simulated = self.verdicts("--backend", "sim")
        run = self.verdicts("--backend", "gloo", "--quiet-time", "0.8", shares=4)
        for finding, model, seen in zip(self.findings, simulated, run, strict=True):
            with self.subTest(finding["location"]):
                self.assertEqual(seen["verdict"], model["verdict"], seen)
                if model["effect"] == "corruption" and self.sizes_differ(finding["witness"]):
                    # Gloo ends the process of a rank that is sent more than it asked for: docs/runtime-verify.md.
                    self.assertIn(seen["effect"], ("corruption", "error", "deadlock"))
                    continue
                self.assertEqual(seen["effect"], model["effect"])
                self.assertEqual(self.waiting(seen), self.waiting(model))


class OnDouble(OneOfEachKind):
    def test_the_nccl_backend_agrees_with_the_simulator(self):
        simulated = self.verdicts("--backend", "sim")
        double = self.verify_on_double(CUDA_DOUBLE, NCCL_DOUBLE)
        run = self.verdicts("--backend", "nccl", "--quiet-time", "1", "--time-budget", "1500", run=double, shares=4)
        for finding, model, seen in zip(self.findings, simulated, run, strict=True):
            with self.subTest(finding["location"]):
                self.assertEqual((seen["verdict"], seen["effect"]), (model["verdict"], model["effect"]), seen)
                self.assertEqual(self.waiting(seen), self.waiting(model))


if __name__ == "__main__":
    main()
