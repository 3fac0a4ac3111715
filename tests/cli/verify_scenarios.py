"""The findings that are no mismatch of operations: `check` gives numbers, `verify` says what comes of them."""

import json

from support import main
from verify_support import FIXTURES, VerifyTest

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
    def verdicts(self, code, fixture, *args):
        checked = self.run_allranks("check", "--output-format", "json", "--isolated", "--no-cache", "--select", code,
                                    "--min-confidence", "possible", fixture)
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
        # Those named ok_ have no findings.
        for fixture in sorted((FIXTURES / code).glob("[!o]*")):
            found += [(fixture, verdict) for verdict in self.verdicts(code, fixture, "--backend", "sim")]
        return found

    def test_each_is_reproduced_with_numbers(self):
        for code, effects in EFFECTS.items():
            found = self.all_of(code)
            self.assertGreater(len(found), 1, code)
            for fixture, verdict in found:
                with self.subTest(fixture):
                    self.assertEqual(verdict["verdict"], "reproduced")
                    self.assertIn(verdict["effect"], effects)
                    self.assertRegex(verdict["measured"], "[0-9]")

    def twins_of(self, code, fixture, *args):
        """The verdicts on the witnesses of a fixture, each changed to that of the program as it should be."""
        checked = self.run_allranks("check", "--output-format", "json", "--isolated", "--no-cache", "--select", code,
                                    "--min-confidence", "possible", fixture)
        report = json.loads(checked.out)
        report["findings"] = [finding for finding in report["findings"] if finding["witness"]]
        for finding in report["findings"]:
            finding["witness"]["scenario"].update(TWINS[code])
            if code == "AR804":
                finding["witness"]["ops"]["c0"] = [BARRIER]
        self.write("twin.json", json.dumps(report))
        result = self.verify("--output-format", "json", *args, "twin.json")
        return [finding["verify"] for finding in json.loads(result.out)["findings"]]

    def test_the_program_as_it_should_be_is_not_reproduced(self):
        for code in TWINS:
            found = 0
            for fixture in sorted((FIXTURES / code).glob("[!o]*")):
                for verdict in self.twins_of(code, fixture, "--backend", "sim"):
                    with self.subTest(fixture):
                        found += 1
                        self.assertEqual(verdict["verdict"], "not_reproduced", verdict)
                        self.assertRegex(verdict["measured"], "[0-9]")
            self.assertGreater(found, 0, code)

    def test_a_barrier_holds_readers_on_real_ranks(self):
        self.needs_gloo()
        seen = self.twins_of("AR804", FIXTURES / "AR804" / "no_barrier.py", "--backend", "gloo", "--quiet-time", "1.5")
        self.assertEqual([one["verdict"] for one in seen], ["not_reproduced"] * 2)
        self.assertIn("wait before reading", seen[0]["measured"])

    def test_readers_and_micro_steps_on_real_ranks(self):
        self.needs_gloo()
        for code in ("AR403", "AR804"):
            for fixture, model in self.all_of(code):
                with self.subTest(fixture):
                    seen = self.verdicts(code, fixture, "--backend", "gloo")
                    self.assertIn((model["effect"], model["measured"]), [(one["effect"], one["measured"]) for one in seen])
                    self.assertEqual({one["evidence"] for one in seen}, {"runtime"})

    def test_uneven_batches_hang_on_real_ranks(self):
        self.needs_gloo()
        verdicts = self.verdicts("AR305", FIXTURES / "AR305" / "larger_on_rank_zero.py", "--backend", "gloo", "--quiet-time", "0.5")
        self.assertEqual([one["effect"] for one in verdicts], ["deadlock"] * len(verdicts))
        self.assertEqual([rank["rank"] for rank in verdicts[0]["stuck"]], [1, 2, 3])


if __name__ == "__main__":
    main()
