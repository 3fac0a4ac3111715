"""The findings that are no mismatch of operations: `check` gives numbers, `verify` says what comes of them."""

import json

from support import main
from verify_support import FIXTURES, VerifyTest

# What each rule's defect leads to: AR502's part is left out by one rank or by all of them.
EFFECTS = {"AR201": {"error"}, "AR301": {"semantic"}, "AR303": {"deadlock"}, "AR305": {"deadlock"}, "AR401": {"semantic"},
           "AR501": {"semantic"}, "AR502": {"deadlock", "error"}}


class Scenarios(VerifyTest):
    def verdicts(self, code, fixture, *args):
        checked = self.run_allranks("check", "--output-format", "json", "--isolated", "--no-cache", "--select", code, fixture)
        findings = json.loads(checked.out)["findings"]
        self.write("report.json", checked.out)
        if not findings:
            return []
        # A call that has lost its receiver raises an error wherever it runs: nothing to measure.
        with_witness = sum(finding["witness"] is not None for finding in findings)
        result = self.verify("--output-format", "json", *args, "report.json")
        self.assertEqual(result.err, "")
        self.assertEqual(result.code, 1 if with_witness else 0)
        return [finding["verify"] for finding in json.loads(result.out)["findings"] if "verify" in finding]

    def all_of(self, code):
        found = []
        for fixture in sorted((FIXTURES / code).iterdir()):
            found += [(fixture, verdict) for verdict in self.verdicts(code, fixture, "--backend", "sim")]
        return found

    def test_each_is_confirmed_with_numbers(self):
        for code, effects in EFFECTS.items():
            found = self.all_of(code)
            self.assertGreater(len(found), 1, code)
            for fixture, verdict in found:
                with self.subTest(fixture):
                    self.assertEqual(verdict["verdict"], "confirmed")
                    self.assertIn(verdict["effect"], effects)
                    self.assertRegex(verdict["measured"], "[0-9]")

    def test_uneven_batches_hang_on_real_ranks(self):
        self.needs_gloo()
        verdicts = self.verdicts("AR305", FIXTURES / "AR305" / "larger_on_rank_zero.py", "--backend", "gloo", "--quiet-time", "0.5")
        self.assertEqual([one["effect"] for one in verdicts], ["deadlock"] * len(verdicts))
        self.assertEqual([rank["rank"] for rank in verdicts[0]["stuck"]], [1, 2, 3])


if __name__ == "__main__":
    main()
