"""tools/verify_on_gpu with the carried program: in the simulator, and where there is no GPU.

usage: verify_on_gpu.py ALLRANKS ALLRANKS_VERIFY
"""

import json
import os
import pathlib
import subprocess
import sys

from support import main
from verify_support import VerifyTest, op, witness

PROGRAM = os.path.abspath(sys.argv.pop())
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "verify_on_gpu"


class OnGpu(VerifyTest):
    def script(self, *args):
        return subprocess.run([SCRIPT, "--program", PROGRAM, "--out", self.root / "out", *args], cwd=self.root, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "LANG": self.mark})

    def results(self):
        return sorted(path.name for path in (self.root / "out").iterdir())

    def test_all_parts(self):
        self.witness_file([op("a")], [], name="report.json")
        result = self.script("--backend", "sim", "--report", "report.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.results(), ["control-2.json", "control.json", "fixtures.json", "machine.txt", "mismatches.json"])
        self.assertGreater(len(json.loads((self.root / "out/mismatches.json").read_text())["mismatches"]), 40)

    def test_one_part(self):
        self.assertEqual(self.script("--backend", "sim", "control").returncode, 0)
        self.assertEqual(self.results(), ["control-2.json", "control.json", "machine.txt"])

    def test_nothing_is_run_where_the_control_fails(self):
        self.write("report.json", json.dumps(witness([op("a")], [])))
        result = self.script("--backend", "nccl", "--report", "report.json")
        if result.returncode == 0:
            self.skipTest("there is a GPU here")
        self.assertEqual(result.returncode, 1)
        self.assertIn("backend nccl is unavailable", result.stderr)
        self.assertNotIn("mismatches.json", self.results())

    def test_wrong_arguments(self):
        self.assertEqual(self.script("everything").returncode, 2)


if __name__ == "__main__":
    main()
