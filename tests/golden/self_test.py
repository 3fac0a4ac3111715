#!/usr/bin/env python3
"""The golden runner can fail, and rewrites only what it should: a stand-in for allranks prints its arguments."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from run_golden import difference


class Golden(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "x.py").write_text("# trace: step\n", encoding="utf-8")
        self.binary("echo $@")

    def binary(self, script):
        path = self.root / "allranks"
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        os.chmod(path, 0o755)

    def golden(self, name, text):
        path = self.root / name
        path.write_text(text, encoding="utf-8")
        return path

    def test_holds(self):
        self.assertEqual(difference(str(self.root / "allranks"), self.golden("x.ir", "ir x.py\n")), "")
        self.assertEqual(difference(str(self.root / "allranks"), self.golden("x.trace", "trace x.py:step\n")), "")

    def test_differs(self):
        self.assertIn("+ir x.py", difference(str(self.root / "allranks"), self.golden("x.ir", "ir y.py\n")))

    def test_tool_fails_or_prints_too_much(self):
        golden = self.golden("x.ir", "")
        self.binary("echo no such thing >&2; exit 2")
        self.assertIn("no such thing", difference(str(self.root / "allranks"), golden))
        self.binary("seq 81")
        self.assertIn("81 lines", difference(str(self.root / "allranks"), golden))

    def test_update(self):
        golden = self.golden("x.ir", "old\n")
        runner = [sys.executable, "-B", str(Path(__file__).with_name("run_golden.py"))]
        self.assertEqual(subprocess.run([*runner, self.root / "allranks", golden], capture_output=True).returncode, 1)
        self.assertEqual(golden.read_text(), "old\n")
        updated = subprocess.run([*runner, "--update", self.root / "allranks", golden], capture_output=True)
        self.assertEqual((updated.returncode, golden.read_text()), (0, "ir x.py\n"))


if __name__ == "__main__":
    unittest.main()
