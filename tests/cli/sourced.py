"""Findings whose place is in a file that scripts source: `source env.sh`."""

import json

from support import CliTest, main

WRONG = "export NCCL_SOCKET_IFNAM=eth0\n"


class Sourced(CliTest):
    def setUp(self):
        super().setUp()
        self.write("pyproject.toml", "")
        for name in ("one", "two"):
            self.write(f"{name}.sh", f"#!/bin/bash\nsource env.sh\ntorchrun --nproc_per_node=8 {name}.py\n")

    def found(self, *args):
        result = self.run_allranks("check", "-q", "-n", "--output-format", "concise", *args)
        return [line.split(" ")[0:3:2] for line in result.out.splitlines()]

    def test_it_is_reported_once_at_its_place(self):
        self.write("env.sh", WRONG)
        self.assertEqual(self.found(), [["env.sh:1:8:", "AR912"]])

    def test_a_comment_there_accepts_it(self):
        self.write("env.sh", "# allranks: ignore[AR912] ours reads it\n" + WRONG)
        self.assertEqual(self.found(), [])
        self.write("env.sh", WRONG + "# allranks: ignore[AR912] what follows\nexport NCCL_DEBUG=WARN\n")
        self.assertEqual(self.found(), [["env.sh:1:8:", "AR912"], ["env.sh:2:20:", "AR002"]])
        self.write("env.sh", WRONG)
        self.assertEqual(self.run_allranks("check", "-q", "-n", "--add-ignore", "ours reads it").code, 0)
        self.assertIn("# allranks: ignore[AR912] ours reads it", (self.root / "env.sh").read_text())

    def test_settings_for_its_path_hold(self):
        self.write("env.sh", WRONG)
        self.write("allranks.toml", '[per-file-ignores]\n"env.sh" = ["AR912"]\n')
        self.assertEqual(self.found(), [])

    def test_what_was_not_asked_for_is_not_judged(self):
        self.write("env.sh", WRONG)
        self.assertEqual(self.found("one.sh"), [])
        self.assertEqual(self.found("--exclude", "env.sh"), [])

    def test_a_baseline_holds_it(self):
        self.write("env.sh", WRONG)
        self.run_allranks("check", "-q", "-n", "--baseline", "known.json", "--update-baseline")
        self.assertEqual(self.found("--baseline", "known.json"), [])
        self.write("env.sh", "\n# More.\n" + WRONG)
        self.assertEqual(self.found("--baseline", "known.json"), [])

    def test_sarif_names_it(self):
        self.write("env.sh", WRONG)
        result = self.run_allranks("check", "-q", "-n", "--output-format", "sarif")
        [one] = json.loads(result.out)["runs"][0]["results"]
        place = one["locations"][0]["physicalLocation"]
        self.assertEqual((place["artifactLocation"]["uri"], place["region"]["startLine"]), ("env.sh", 1))
        self.assertTrue(one["partialFingerprints"])


if __name__ == "__main__":
    main()
