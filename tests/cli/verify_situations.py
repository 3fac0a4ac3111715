"""The table of situations in docs/runtime-verify.md is what the simulator, its model of NCCL's rings, Gloo and the double say.

usage: verify_situations.py ALLRANKS CUDA_DOUBLE NCCL_DOUBLE
"""

import json
import sys

import situations
from support import main
from verify_support import FIXTURES, VerifyTest

NCCL_DOUBLE, CUDA_DOUBLE = sys.argv.pop(), sys.argv.pop()


class Situations(VerifyTest):
    def verdicts(self, run, *args):
        self.write("report.json", situations.report())
        result = run("--output-format", "json", *args, "report.json", timeout=600)
        self.assertEqual(result.err, "")
        return [finding["verify"] for finding in json.loads(result.out)["findings"]]

    def test_the_table(self):
        self.needs_gloo()
        model = self.verdicts(self.verify, "--backend", "sim")
        gloo = self.verdicts(self.verify, "--backend", "gloo", "--quiet-time", "1.5")
        double = self.verdicts(self.verify_on_double(CUDA_DOUBLE, NCCL_DOUBLE), "--backend", "nccl", "--quiet-time", "1.5")
        rows = []
        for one, strict, seen, doubled in zip(situations.SITUATIONS, model, gloo, double, strict=True):
            rings = [situations.WORDS[part.split()[-1]] for part in strict["ncclPrediction"].split(", ")]
            rows.append(" | ".join(["| " + one["finding"], situations.words(strict), " / ".join(rings), situations.words(seen), situations.words(doubled)]) + " |")
        page = (FIXTURES.parent / "docs" / "runtime-verify.md").read_text(encoding="utf-8").splitlines()
        missing = [row for row in rows if row not in page]
        self.assertEqual(missing, [], "rows that docs/runtime-verify.md lacks:\n" + "\n".join(missing))


if __name__ == "__main__":
    main()
