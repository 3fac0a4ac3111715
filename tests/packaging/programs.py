"""What `make demo` builds: with `allranks` all that it looks for beside itself.

usage: programs.py BUILD.
"""

import subprocess
import sys
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop()).resolve()
BESIDE = ["allranks-clang", "allranks-worker-gloo"]


def inputs(target):
    lines = subprocess.run(["ninja", "-C", BUILD, "-t", "query", target], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.strip() for line in lines[:lines.index("  outputs:")] if line.startswith("    ")]


@unittest.skipUnless((BUILD / "build.ninja").exists(), "ninja is asked what it builds")
class Programs(unittest.TestCase):
    def test_what_can_be_built_is_built(self):
        rules = (BUILD / "build.ninja").read_text("utf-8")
        # The name of a target stands for the one with its folder.
        built = [program for target in inputs("programs") for program in inputs(target)]
        for program in ["allranks", *(name for name in BESIDE if f"\nbuild {name}:" in rules)]:
            self.assertIn(program, built)


if __name__ == "__main__":
    unittest.main()
