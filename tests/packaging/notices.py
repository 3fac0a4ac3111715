"""THIRD_PARTY_NOTICES names every library whose code is part of our programs.

usage: notices.py REPOSITORY BUILD. What the programs hold is asked of the build: the headers that objects of theirs were made
from, and the libraries on their link lines. Each belongs to a Debian package or an npm package.
"""

import importlib.machinery
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

REPOSITORY, BUILD = (Path(argument).resolve() for argument in sys.argv[1:3])
del sys.argv[1:3]

# The C library is on every machine and linked dynamically; gtest is in tests alone.
NOT_HANDED_OUT = re.compile(r"^(libc6-dev|linux-libc-dev|libcrypt-dev|libgtest-dev|libgmock-dev|googletest)$")
# Packages that hold parts of one library.
PART_OF = {"llvm-19-dev": "libclang-19-dev", "libclang-common-19-dev": "libclang-19-dev", "libstdc++-12-dev": "libstdc++6",
           "libgcc-12-dev": "libstdc++6", "libgcc-s1": "libstdc++6"}


def table():
    loader = importlib.machinery.SourceFileLoader("notices_tool", str(REPOSITORY / "tools" / "third_party_notices"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module.LIBRARIES


def ninja(*arguments):
    return subprocess.run(["ninja", "-C", BUILD, *arguments], capture_output=True, text=True, check=True).stdout


def files():
    """Headers that objects were made from, and archives on link lines."""
    found = {str(Path(BUILD, line.strip()).resolve()) if not line.strip().startswith("/") else line.strip()
             for line in ninja("-t", "deps").splitlines() if line.startswith("    ")}
    for line in (BUILD / "build.ninja").read_text().splitlines():
        if "LINK_LIBRARIES" in line:
            found.update(word for word in line.split() if word.startswith("/") and word.endswith(".a"))
    return found


def packages(paths):
    """The Debian packages that own these files."""
    ordered = sorted(str(Path(path).resolve()) for path in paths)
    owners = set()
    for start in range(0, len(ordered), 500):
        result = subprocess.run(["dpkg-query", "-S", *ordered[start:start + 500]], capture_output=True, text=True)
        owners |= {line.split(":")[0] for line in result.stdout.splitlines() if not line.startswith("diversion")}
    return {owner for line in owners for owner in line.split(", ")}


@unittest.skipUnless(Path("/usr/bin/dpkg-query").exists(), "packages are asked for with dpkg-query")
class Notices(unittest.TestCase):
    def test_every_library_is_named(self):
        named = {source for _, _, source in table() if isinstance(source, str)}
        used = {PART_OF.get(package, package) for package in packages(path for path in files() if path.startswith("/usr/"))
                if not NOT_HANDED_OUT.match(package)}
        self.assertTrue(used, "nothing was found: is this a build folder?")
        self.assertEqual(used - named, set(), "add these to the table of tools/third_party_notices, and run it")

    def test_every_npm_package_is_named(self):
        named = {file.split("/")[0] for _, _, source in table() if isinstance(source, list) for file in source}
        used = {match[1] for path in files() if (match := re.search(r"third_party/node_modules/([^/]+)/", path))}
        used |= {match[1] for match in re.finditer(r"third_party/node_modules/([^/]+)/\S+\.c\b", (BUILD / "build.ninja").read_text())}
        self.assertTrue(used)
        self.assertEqual(used - named, set(), "add these to the table of tools/third_party_notices, and run it")

    def test_texts_are_there(self):
        text = (REPOSITORY / "THIRD_PARTY_NOTICES").read_text("utf-8")
        for name, where, _ in table():
            self.assertIn(f"* {name} ({where})", text, "run tools/third_party_notices")
            self.assertRegex(text, rf"=\n{re.escape(name)}\n=+\n\n(?s:.{{200}})", "has no licence text")


class Packages(unittest.TestCase):
    """Everything that is handed out brings the notices with it. The wheel has its own test, tests/validators/wheel.py."""

    def text(self, *parts):
        return REPOSITORY.joinpath(*parts).read_text("utf-8")

    def test_recipes(self):
        self.assertIn("COPY LICENSE THIRD_PARTY_NOTICES ", self.text("Dockerfile"))
        self.assertIn('doc.install "LICENSE", "THIRD_PARTY_NOTICES"', self.text("packaging", "homebrew", "allranks.rb"))
        self.assertIn("- THIRD_PARTY_NOTICES", self.text("packaging", "conda", "meta.yaml"))
        # The archives of programs are cut out of the wheels.
        self.assertIn("'*/licenses/*' -d programs", self.text(".github", "workflows", "release.yml"))

    @unittest.skipUnless((REPOSITORY / "editors" / "vscode" / "node_modules" / ".bin" / "vsce").exists(), "run npm ci in editors/vscode")
    def test_the_extension_that_brings_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            extension = Path(folder, "editors", "vscode")
            shutil.copytree(REPOSITORY / "editors" / "vscode", extension, ignore=shutil.ignore_patterns("node_modules", "bin"))
            (extension / "node_modules").symlink_to(REPOSITORY / "editors" / "vscode" / "node_modules")
            shutil.copy(REPOSITORY / "THIRD_PARTY_NOTICES", folder)
            (extension / "bin").mkdir()
            (extension / "bin" / "allranks").write_text("")
            made = subprocess.run(["npm", "run", "--silent", "package", "--", "--target", "linux-x64", "--out", "x.vsix"], cwd=extension,
                                  capture_output=True, text=True)
            self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
            with zipfile.ZipFile(extension / "x.vsix") as packed:
                self.assertEqual(packed.read("extension/bin/THIRD_PARTY_NOTICES").decode(), self.text("THIRD_PARTY_NOTICES"))
                self.assertIn(b"vscode-languageclient", packed.read("extension/NOTICES"))


if __name__ == "__main__":
    unittest.main()
