"""Copies of one function, as in backups of a script: their findings are told once, with where the copies are."""

import json
import unittest

from support import GUARDED, CliTest, main


class Copies(CliTest):
    def report(self, *args):
        return json.loads(self.run_allranks("check", "--output-format", "json", *args).out)

    def paths(self, *args):
        return [finding["location"]["path"] for finding in self.report(*args)["findings"]]

    def test_copies_are_one_finding(self):
        self.write("a/train.py", GUARDED)
        self.write("b/train.py", "# a comment, and other lines\n\n" + GUARDED.replace("\n    if", "\n    # why\n    if"))
        self.write("c/train.py", GUARDED)
        self.assertEqual(self.paths(), ["a/train.py"])
        out = self.run_allranks("check").out
        self.assertIn("::: b/train.py:9:9", out)
        self.assertIn("the same in this copy of the code, and at `c/train.py:6`", out)
        self.assertIn("Found 1 error in 1 of 3 files; collective calls: 3 flagged.", out)

    def test_what_is_not_the_same_is_told(self):
        self.write("a.py", GUARDED)
        self.write("b.py", GUARDED)
        self.assertEqual(self.paths(), ["a.py", "b.py"], "two scripts")
        self.write("c.py", GUARDED.replace("== 0", "== 1"))
        self.assertEqual(self.paths(), ["a.py", "b.py", "c.py"], "another condition")

    def test_equal_code_may_be_wrong_for_another_reason(self):
        code = "import torch.distributed as dist\n\nmain = dist.get_rank() == {}\n\n\ndef save():\n    if main:\n        dist.barrier()\n\n\nsave()\n"
        for name, number in (("a.py", 0), ("b.py", 0), ("c.py", 0), ("d.py", 1)):
            self.write(name, code.format(number))
        self.assertEqual(self.paths(), ["a.py", "d.py"])

    def test_accepting_one_copy_does_not_accept_the_others(self):
        for name in ("a.py", "b.py", "c.py", "d.py"):
            self.write(name, GUARDED)
        self.write("a.py", GUARDED.replace("barrier()", "barrier()  # allranks: ignore[AR101] -- one rank"))
        self.assertEqual(self.paths(), ["b.py"])
        self.run_allranks("check", "--baseline", "known.json", "--update-baseline")
        self.assertEqual(len(json.loads((self.root / "known.json").read_text())["findings"]), 3, "the baseline knows each")

    def test_all_copies_are_fixed(self):
        for name in ("a.py", "b.py", "c.py"):
            self.write(name, GUARDED)
        self.run_allranks("check", "--unsafe-fixes")
        self.assertEqual(self.paths(), [])


if __name__ == "__main__":
    main()
