"""Which files are ignored, compared with git itself on trees and patterns made at random."""

import random
import shutil
import subprocess
import unittest

from support import GUARDED, CliTest, main

NAMES = ["a", "b", "ab", "made", "x-1", "[z]", "B"]
PATTERNS = ["a", "b/", "/a", "/b/", "a/b", "a/**", "**/b", "**/a/b", "a/**/b", "*", "*.py", "!*.py", "!a.py", "?.py",
            "[ab].py", "[!a].py", "[a-b]b.py", "\\[z\\].py", "made", "!made/", "a*", "*b", "/*", "!/a", "# a", "",
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

    def test_what_is_left_out_without_a_gitignore(self):
        for folder in (".venv/lib", "node_modules/x", "pkg/__pypackages__", "build/lib", "dist", "env/lib"):
            self.write(f"{folder}/a.py", GUARDED)
        self.write("env/pyvenv.cfg", "")
        self.write("train.py", GUARDED)
        self.assertEqual(self.run_allranks("check", "--show-files").out, "train.py\n")
        summary = self.run_allranks("check").out
        self.assertIn("Not read, as installed packages: .venv, env, node_modules, pkg/__pypackages__. Give the path", summary)
        self.assertIn("Read, but not checked: build (made by a build), dist (made by a build). Give the path", summary)
        self.assertEqual(self.run_allranks("check", "--show-files", "dist", ".venv").out, ".venv/lib/a.py\ndist/a.py\n")
        self.assertEqual(self.run_allranks("check", "--show-files", "build/lib/a.py").out, "build/lib/a.py\n")

    def test_what_git_tracks_is_checked_whatever_its_name(self):
        self.git("init", "-q")
        for path in ("build/a.py", "dist/b.py", "node_modules/x/c.py", "d.py"):
            self.write(path, GUARDED)
        self.git("add", "build", "node_modules", "d.py")
        self.assertEqual(self.run_allranks("check", "--show-files").out, "build/a.py\nd.py\n")
        self.assertIn("Read, but not checked: dist (made by a build), node_modules (a copy of somebody else's code).",
                      self.run_allranks("check").out)


if __name__ == "__main__":
    main()
