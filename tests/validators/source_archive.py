"""What pyproject.toml puts into the source archive suffices to build the programs: no git, no npm, no tests.

usage: source_archive.py REPOSITORY. Configures, and asks ninja for every file that the build would read; builds nothing.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import tomllib
except ImportError:
    tomllib = None

REPOSITORY = pathlib.Path(sys.argv.pop(1)).resolve()


def archive(folder):
    """As scikit-build-core chooses: what git knows, less `sdist.exclude`, and `sdist.include` though git ignores it."""
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["scikit-build"]["sdist"]
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.split("\0")
    chosen = [name for name in tracked if name and not name.startswith(tuple(settings["exclude"]))]
    for name in settings["include"]:
        path = REPOSITORY / name
        chosen += [str(file.relative_to(REPOSITORY)) for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]
    for name in chosen:
        if not (REPOSITORY / name).exists():
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, folder / name)


@unittest.skipUnless(tomllib, "this Python is older than 3.11")
@unittest.skipUnless((REPOSITORY / ".git").exists() and shutil.which("git"), "this is no checkout")
class SourceArchive(unittest.TestCase):
    def test_it_has_all_that_is_built(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            archive(folder)
            for command in (["cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DBUILD_TESTING=OFF"], ["ninja", "-C", "build", "-n", "programs"]):
                result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
                self.assertEqual(result.returncode, 0, result.stdout[-2000:] + result.stderr[-3000:])


if __name__ == "__main__":
    unittest.main(verbosity=1)
