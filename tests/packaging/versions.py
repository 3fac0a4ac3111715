"""One version everywhere: what is written down beside CMakeLists.txt for those who cannot read it says the same.

usage: versions.py REPOSITORY
"""

import json
import re
import sys
import unittest
from pathlib import Path

REPOSITORY = Path(sys.argv.pop(1)).resolve()


def text(*parts):
    return REPOSITORY.joinpath(*parts).read_text("utf-8")


VERSION = re.search(r"project\(allranks VERSION ([0-9.]+)", text("CMakeLists.txt"))[1]


class Versions(unittest.TestCase):
    def test_the_hook_repository(self):
        pins = text("packaging", "pre-commit", "pyproject.toml")
        self.assertIn(f'version = "{VERSION}"', pins)
        self.assertIn(f'dependencies = ["allranks=={VERSION}"]', pins)
        self.assertIn(f"rev: v{VERSION}", text("packaging", "pre-commit", "README.md"))

    def test_hooks_are_the_same_in_both_places(self):
        def body(*parts):
            return [line for line in text(*parts).splitlines() if not line.lstrip().startswith("#")]
        self.assertEqual(body(".pre-commit-hooks.yaml"), body("packaging", "pre-commit", ".pre-commit-hooks.yaml"))

    def test_recipes(self):
        self.assertIn(f'set version = "{VERSION}"', text("packaging", "conda", "meta.yaml"))
        self.assertIn(f"/v{VERSION}/allranks-{VERSION}.tar.gz", text("packaging", "homebrew", "allranks.rb"))

    def test_the_extension_and_the_action(self):
        self.assertEqual(json.loads(text("editors", "vscode", "package.json"))["version"], VERSION)
        self.assertIn(f'default: "{VERSION}"', text("action.yml"))

    def test_pages(self):
        pages = text("docs", "ci.md")
        self.assertEqual(re.findall(r"^ .*pip install allranks(?!==).*", pages, re.M), [], "a recipe of CI pins the version")
        for found in re.findall(r"allranks==([0-9.]+)", pages) + re.findall(r"(?:rev: |allranks@)v([0-9.]+)", pages):
            self.assertEqual(found, VERSION)


if __name__ == "__main__":
    unittest.main()
