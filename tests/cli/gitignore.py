"""Which files are ignored, compared with git itself on trees and patterns made at random."""

import random
import shutil
import subprocess
import unittest

from support import CliTest, main

NAMES = ["a", "b", "ab", "build", "x-1", "[z]", "B"]
PATTERNS = ["a", "b/", "/a", "/b/", "a/b", "a/**", "**/b", "**/a/b", "a/**/b", "*", "*.py", "!*.py", "!a.py", "?.py",
            "[ab].py", "[!a].py", "[a-b]b.py", "\\[z\\].py", "build", "!build/", "a*", "*b", "/*", "!/a", "# a", "",
            "a.py ", "a.py\\ ", "x-[0-9].py", "[[:upper:]].py", "**", "a/", "!a/", "/a/b/*.py", "a**b.py", "*/b.py",
            "a/*/b.py", "/**/b.py", "!**/ab.py", "[^a]b.py", "x\\-1.py", "[", "[a", "b.py\r"]


@unittest.skipIf(shutil.which("git") is None, "git is not installed")
class Gitignore(CliTest):
    def git(self, *args):
        return subprocess.run(["git", "-c", "core.excludesFile=", *args], cwd=self.root, capture_output=True, check=True).stdout

    def compare(self, what):
        kept = self.git("ls-files", "--others", "--exclude-standard", "-z").decode().split("\0")
        expected = sorted(path for path in kept if path.endswith(".py"))
        result = self.run_allranks("check", "--show-files")
        self.assertEqual(sorted(result.out.splitlines()), expected, what)

    def test_random_trees(self):
        for seed in range(40):
            random_ = random.Random(seed)
            shutil.rmtree(self.root)
            self.root.mkdir()
            self.git("init", "-q")
            folders = [""]
            for _ in range(8):
                folders.append(random_.choice(folders) + random_.choice(NAMES) + "/")
            for folder in folders:
                for name in NAMES:
                    self.write(f"{folder}{name}.py", "")
                if random_.random() < 0.4:
                    self.write(f"{folder}.gitignore", "\n".join(random_.choices(PATTERNS, k=4)) + "\n")
            self.compare(f"seed {seed}")

    def test_info_exclude(self):
        self.git("init", "-q")
        self.write(".git/info/exclude", "secret.py\n")
        self.write("secret.py", "")
        self.write("a.py", "")
        self.compare("info/exclude")

    def test_from_a_folder_below(self):
        self.git("init", "-q")
        self.write(".gitignore", "gen.py\n/sub/top.py\n")
        for name in ("sub/gen.py", "sub/top.py", "sub/deep/top.py", "sub/a.py"):
            self.write(name, "")
        result = self.run_allranks("check", "--show-files", cwd=self.root / "sub")
        self.assertEqual(result.out, "a.py\ndeep/top.py\n")


if __name__ == "__main__":
    main()
