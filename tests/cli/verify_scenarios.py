"""The findings that are no mismatch of operations: `check` gives numbers, `verify` says what comes of them."""

import json

from support import main
from verify_support import FIXTURES, VerifyTest, distinct

# What each rule's defect leads to: AR502's part is left out by one rank or by all of them.
EFFECTS = {"AR201": {"error"}, "AR206": {"error"}, "AR301": {"semantic"}, "AR302": {"semantic"}, "AR303": {"deadlock"},
           "AR305": {"deadlock"}, "AR306": {"semantic"}, "AR308": {"semantic"}, "AR401": {"semantic"}, "AR403": {"semantic"},
           "AR406": {"semantic"}, "AR501": {"semantic"}, "AR502": {"deadlock", "error"}, "AR804": {"error"}}

BARRIER = {"id": "fence", "op": "barrier", "comm": "world"}
# What makes the witness of a finding that of the program as it should be.
TWINS = {"AR206": {"backend": "cpu:gloo,cuda:nccl"}, "AR301": {"set_epoch": True}, "AR302": {"by_rank": True},
         "AR303": {"join": True}, "AR305": {"join": True}, "AR306": {"by_rank": True, "by_worker": True},
         "AR308": {"seeds": [7, 7, 7, 7]}, "AR401": {"scaled": True}, "AR403": {"no_sync": True}, "AR406": {"divided": False},
         "AR501": {"find_unused": False}, "AR502": {"find_unused": True}, "AR804": {}}


class Scenarios(VerifyTest):
    def findings(self, code, fixture=None):
        """The report on a fixture, or on all of a rule and then with one finding of each kind. A call that has lost its receiver raises an
        error wherever it runs: it has no witness, and nothing to measure."""
        checked = self.run_allranks("check", "--output-format", "json", "--isolated", "--no-cache", "--select", code,
                                    "--min-confidence", "possible", fixture or FIXTURES / code)
        report = json.loads(checked.out)
        with_witness = [finding for finding in report["findings"] if finding["witness"]]
        self.assertGreater(len(with_witness), 0 if fixture else 1, code)
        return {**report, "findings": with_witness if fixture else distinct(with_witness)}

    def verdicts(self, report, *args):
        """Each finding's place and what `verify` says of it."""
        self.write("report.json", json.dumps(report))
        result = self.verify("--output-format", "json", *args, "report.json")
        self.assertEqual(result.err, "")
        found = json.loads(result.out)["findings"]
        self.assertEqual(result.code, 1 if any(one["verify"]["verdict"] == "reproduced" for one in found) else 0)
        return [(finding["location"], one["verify"]) for finding, one in zip(report["findings"], found, strict=True)]

    def test_each_is_reproduced_with_numbers(self):
        for code, effects in EFFECTS.items():
            for place, verdict in self.verdicts(self.findings(code), "--backend", "sim"):
                with self.subTest(place):
                    self.assertEqual(verdict["verdict"], "reproduced")
                    self.assertIn(verdict["effect"], effects)
                    self.assertRegex(verdict["measured"], "[0-9]")

    def twins_of(self, code, fixture=None):
        """The report with each witness changed to that of the program as it should be."""
        report = self.findings(code, fixture)
        for finding in report["findings"]:
            finding["witness"]["scenario"].update(TWINS[code])
            if code == "AR804":
                finding["witness"]["ops"]["c0"] = [BARRIER]
        return report

    def test_the_program_as_it_should_be_is_not_reproduced(self):
        for code in TWINS:
            for place, verdict in self.verdicts(self.twins_of(code), "--backend", "sim"):
                with self.subTest(place):
                    self.assertEqual(verdict["verdict"], "not_reproduced", verdict)
                    self.assertRegex(verdict["measured"], "[0-9]")

    def test_a_barrier_holds_readers_on_real_ranks(self):
        self.needs_gloo()
        report = self.twins_of("AR804", FIXTURES / "AR804" / "no_barrier.py")
        seen = [verdict for _, verdict in self.verdicts(report, "--backend", "gloo", "--quiet-time", "1.5")]
        self.assertEqual([one["verdict"] for one in seen], ["not_reproduced"] * 2)
        self.assertIn("wait before reading", seen[0]["measured"])

    def test_readers_and_micro_steps_on_real_ranks(self):
        self.needs_gloo()
        for code in ("AR403", "AR804"):
            report = self.findings(code)
            models, seen = self.verdicts(report, "--backend", "sim"), self.verdicts(report, "--backend", "gloo")
            for (place, model), (_, one) in zip(models, seen, strict=True):
                with self.subTest(place):
                    self.assertEqual((one["effect"], one["measured"]), (model["effect"], model["measured"]))
                    self.assertEqual(one["evidence"], "runtime")

    def test_uneven_batches_hang_on_real_ranks(self):
        self.needs_gloo()
        report = self.findings("AR305", FIXTURES / "AR305" / "larger_on_rank_zero.py")
        verdicts = [verdict for _, verdict in self.verdicts(report, "--backend", "gloo", "--quiet-time", "0.5")]
        self.assertEqual([one["effect"] for one in verdicts], ["deadlock"] * len(verdicts))
        self.assertEqual([rank["rank"] for rank in verdicts[0]["stuck"]], [1, 2, 3])


if __name__ == "__main__":
    main()
