"""PyTorch says the same as the simulator and Gloo: which ranks are stuck, and in which operation.

Runs where PyTorch is (Debian: python3-torch); a Python that has it can be named in ALLRANKS_TORCH_PYTHON.
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

from support import main
from verify_support import VerifyTest, op, witness

# The last is the one that Debian's packages belong to.
PYTHONS = [os.environ.get("ALLRANKS_TORCH_PYTHON"), sys.executable, "/usr/bin/python3"]
ORACLE = pathlib.Path(__file__).with_name("torch_oracle.py")
# As many as run in half a minute; each waits a second to see that nothing more happens. ALLRANKS_ORACLE_MOST=1000 takes all.
MOST = int(os.environ.get("ALLRANKS_ORACLE_MOST", "16"))


def shape(witness):
    """What decides how it ends: the witness without places and names."""
    ops = [[{k: v for k, v in one.items() if k not in ("at", "source")} for one in ops] for ops in witness["ops"].values()]
    return json.dumps([witness["world"], witness["comms"], [c["ranks"] for c in witness["classes"]], ops])


def has_torch(python):
    probe = [python, "-c", "import torch.distributed as d; assert d.is_gloo_available()"]
    return os.path.exists(python) and subprocess.run(probe, capture_output=True, check=False).returncode == 0


class Oracle(VerifyTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.python = next((python for python in PYTHONS if python and has_torch(python)), None)
        if cls.python is None:
            raise unittest.SkipTest("no Python here has PyTorch with Gloo (Debian: python3-torch)")

    def oracle(self, findings):
        path = self.write("some.json", json.dumps({"findings": findings}))
        result = subprocess.run([self.python, "-B", ORACLE, path], capture_output=True, timeout=200 + 5 * MOST, check=False)
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        return json.loads(result.stdout)

    def test_the_same_ranks_are_stuck_in_the_same_operation(self):
        report = json.loads(self.check_fixtures())
        distinct = {}
        for finding in report["findings"]:
            # What an outsider does is a warning to PyTorch, and sizes that differ end processes: docs/runtime-verify.md.
            # Gloo returns from a send before it is received. A scenario is no schedule.
            is_other = finding["code"] in ("AR109", "AR111") or not finding["witness"] or "scenario" in finding["witness"]
            if not is_other and finding["witness"]["expect"]["effect"] == "deadlock":
                distinct.setdefault(shape(finding["witness"]), finding)
        findings = list(distinct.values())
        # Evenly from all of them.
        findings = findings[:: max(1, len(findings) // MOST)]
        findings.append({"code": "AR101", "witness": witness([op("a")], [op("a")])})
        findings.append({"code": "AR101", "witness": witness([op("a"), op("b")], [op("a")], world=3)})
        answer = self.oracle(findings)
        self.write("some.json", json.dumps({"findings": findings}))
        model = json.loads(self.verify("--backend", "sim", "--output-format", "json", "some.json").out)["findings"]
        for finding, verdict, stuck in zip(findings, model, answer["stuck"], strict=True):
            with self.subTest(finding.get("location", finding["code"])):
                self.assertEqual([[one["rank"], one["op"]] for one in verdict["verify"].get("stuck", [])], stuck)

    def test_epochs_are_ordered_alike(self):
        answer = self.oracle([])
        self.assertEqual(answer["epochs"], [[4, 7, 3, 0, 6]] * 3)
        self.assertEqual(len({tuple(epoch) for epoch in answer["epochs_set"]}), 3)
        scenario = {"name": "epoch-order", "samples": 10, "epochs": 3, "seed": 0}
        self.witness_file([], [], scenario=scenario)
        report = json.loads(self.verify("--backend", "sim", "--output-format", "json", "w.json").out)
        self.assertIn(", ".join(map(str, answer["epochs"][0])), report["findings"][0]["verify"]["measured"])


if __name__ == "__main__":
    main()
