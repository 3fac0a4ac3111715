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
    def verdicts(self, run, *args, chosen=situations.SITUATIONS):
        shares = 1 if "sim" in args else 4
        return self.verdicts_of(run, json.loads(situations.report(chosen)), *args, shares=shares)

    @staticmethod
    def rings(verdict):
        return [situations.WORDS[part.split()[-1]] for part in verdict["ncclPrediction"].split(", ")]

    def test_the_double_of_rings_does_what_the_model_foretells(self):
        """The NCCL backend from end to end on rings: hangs, wrong data and leftovers in the fence, with both protocols."""
        chosen = [one for one in situations.SITUATIONS if not any(op["op"] in ("send", "recv") for ops in one["ops"].values() for op in ops)]
        model = self.verdicts(self.verify, "--backend", "sim", chosen=chosen)
        double = self.verdicts(self.verify_on_double(CUDA_DOUBLE, NCCL_DOUBLE, "ring=1"), "--backend", "nccl", "--quiet-time", "2.5", chosen=chosen)
        for one, foretold, seen in zip(chosen, model, double, strict=True):
            with self.subTest(one["finding"]):
                effects = {trial["name"].split()[-1]: trial["effect"] for trial in seen["trials"]}
                self.assertEqual(", ".join(f"{name} {effects[name]}" for name in ("LL", "Simple")), foretold["ncclPrediction"], seen)

    def test_the_table(self):
        self.needs_gloo()
        model = self.verdicts(self.verify, "--backend", "sim")
        gloo = self.verdicts(self.verify, "--backend", "gloo", "--quiet-time", "2.5")
        double = self.verdicts(self.verify_on_double(CUDA_DOUBLE, NCCL_DOUBLE), "--backend", "nccl", "--quiet-time", "2.5")
        pytorch = self.verdicts(self.verify, "--backend", "sim", chosen=[situations.in_pytorch(one) for one in situations.SITUATIONS])
        rows = []
        for one, strict, torch, seen, doubled in zip(situations.SITUATIONS, model, pytorch, gloo, double, strict=True):
            rings = self.rings(strict)
            first = "hangs" if "ncclFirstUse" in torch or set(self.rings(torch)) == {"hangs"} else " / ".join(self.rings(torch))
            rows.append(" | ".join(["| " + one["finding"], situations.words(strict), " / ".join(rings), first, situations.words(seen), situations.words(doubled)]) + " |")
        page = (FIXTURES.parent / "docs" / "runtime-verify.md").read_text(encoding="utf-8").splitlines()
        missing = [row for row in rows if row not in page]
        self.assertEqual(missing, [], "rows that docs/runtime-verify.md lacks:\n" + "\n".join(missing))


if __name__ == "__main__":
    main(at_once=2)
