"""Where rules' pages are looked for, and that the site has them all.

usage: documentation.py REPOSITORY CMAKE ALLRANKS.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ALLRANKS = sys.argv.pop()
CMAKE = sys.argv.pop()
REPOSITORY = pathlib.Path(sys.argv.pop()).resolve()


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def git(self, *args):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *args], cwd=self.root, check=True, capture_output=True)

    def ref(self, changes):
        (self.root / "CHANGELOG.md").write_text(f"# Changes\n\n{changes}\n\n## 1.1.0 (2026-01-02)\n")
        script = self.root / "ask.cmake"
        script.write_text(f'include("{REPOSITORY}/cmake/documentation.cmake")\n'
                          f'allranks_documentation_ref("{self.root}" 1.2.0 ref)\nmessage("${{ref}}")\n')
        return subprocess.run([CMAKE, "-P", script], check=True, capture_output=True, text=True).stderr.strip()

    def test_a_source_archive_is_what_its_changes_say(self):
        self.assertEqual(self.ref("## 1.2.0 (not yet released)"), "main")
        self.assertEqual(self.ref("## 1.2.0 (2026-03-04)"), "v1.2.0")
        self.assertEqual(self.ref("## 1.2.01 (2026-03-04)"), "main")

    @unittest.skipUnless(shutil.which("git"), "git is not installed")
    def test_a_checkout_is_a_release_at_its_tag(self):
        self.git("init", "-q")
        self.git("commit", "-q", "--allow-empty", "-m", "first")
        self.assertEqual(self.ref("## 1.2.0 (2026-03-04)"), "main")
        self.git("tag", "v1.2.0")
        self.assertEqual(self.ref("## 1.2.0 (2026-03-04)"), "v1.2.0")
        self.assertEqual(self.ref("## 1.2.0 (not yet released)"), "main")
        self.git("commit", "-q", "--allow-empty", "-m", "second")
        self.assertEqual(self.ref("## 1.2.0 (2026-03-04)"), "main")

    def test_the_program_names_pages_that_are_there(self):
        (self.root / "a.py").write_text("import torch.distributed as dist\nif dist.get_rank() == 0:\n    dist.barrier()\n")
        out = subprocess.run([ALLRANKS, "check", "--output-format", "rdjson", "--no-cache"], cwd=self.root, capture_output=True, text=True).stdout
        url = json.loads(out)["diagnostics"][0]["code"]["url"]
        found = re.fullmatch(r"https://github\.com/allranks/allranks/blob/(main|v\d+\.\d+\.\d+)/(.*)", url)
        self.assertTrue(found and (REPOSITORY / found[2]).is_file(), url)


class Site(unittest.TestCase):
    def test_every_rule_is_in_the_navigation_in_its_family(self):
        pages = sorted(page.name for page in (REPOSITORY / "docs" / "rules").glob("AR*.md"))
        listed, family = [], None
        for line in (REPOSITORY / "mkdocs.yml").read_text("utf-8").splitlines():
            if found := re.fullmatch(r"      - AR(\d), .*:", line):
                family = found[1]
            elif found := re.fullmatch(r"          - (AR\d+) (.*): rules/(.*)", line):
                self.assertEqual((found[1][2], f"{found[1]}-{found[2]}.md"), (family, found[3]))
                listed.append(found[3])
        self.assertEqual(listed, pages, "run tools/update_rule_docs")


if __name__ == "__main__":
    unittest.main()
