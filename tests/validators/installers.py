"""The wheel as people install it: by pip, uv and pipx, from an index of packages that this machine serves, into each Python at hand.

usage: installers.py ALLRANKS REPOSITORY. uv, pipx and auditwheel are taken from the package index; without one the tests are skipped.
Pythons are looked for on the PATH and among those of pyenv.
"""

import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

ALLRANKS = pathlib.Path(sys.argv.pop(1)).resolve()
REPOSITORY = pathlib.Path(sys.argv.pop(1)).resolve()
OLDEST, NEWEST = 8, 13


def run(*command, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIP_FIND", "VIRTUAL_ENV"))}
    environment.update(PIP_DISABLE_PIP_VERSION_CHECK="1", **{name: str(value) for name, value in variables.items()})
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, env=environment)


def pythons():
    """The Pythons of this machine that the wheel is for, by their number."""
    places = [shutil.which(f"python3.{number}") for number in range(OLDEST, NEWEST + 1)]
    places += sorted(pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3")) + [sys.executable]
    found = {}
    for place in filter(None, places):
        asked = run(place, "-c", "import sys, venv; print(sys.version_info[1])")
        if asked.returncode == 0 and OLDEST <= int(asked.stdout) <= NEWEST:
            found.setdefault(int(asked.stdout), place)
    return found


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Installers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name).resolve()
        cls.tools = cls.root / "tools" / "bin"
        run(sys.executable, "-m", "venv", cls.root / "tools")
        if run(cls.tools / "pip", "install", "-q", "uv", "pipx", "auditwheel").returncode != 0:
            raise unittest.SkipTest("pip reaches no package index")
        cls.project = cls.root / "simple" / "allranks"
        packed = run(sys.executable, REPOSITORY / "tools" / "pack_wheel", "--binary", ALLRANKS, cls.project)
        assert packed.returncode == 0, packed.stderr
        cls.wheel = pathlib.Path(packed.stdout.strip())
        (cls.project / "index.html").write_text(f'<a href="{cls.wheel.name}">{cls.wheel.name}</a>\n')
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=cls.root))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.index = f"http://127.0.0.1:{server.server_port}/simple"

    def check(self, programs):
        """What an installation must do, given the folder of its programs."""
        examples = REPOSITORY / "examples"
        hang = run(programs / "allranks", "check", "--no-cache", "--output-format", "json", examples / "first-hang", examples / "first-hang-cpp")
        self.assertEqual(hang.returncode, 1, hang.stderr)
        languages = {pathlib.Path(finding["location"]["path"]).suffix for finding in json.loads(hang.stdout)["findings"]}
        self.assertEqual(languages, {".py", ".cu"})
        self_test = run(programs / "allranks", "verify", "--self-test", "--backend", "sim")
        self.assertEqual(self_test.returncode, 0, self_test.stdout + self_test.stderr)

    def test_pip_in_each_python(self):
        for number, python in pythons().items():
            with self.subTest(python=f"3.{number}"):
                place = self.root / f"python3.{number}"
                self.assertEqual(run(python, "-m", "venv", place).returncode, 0)
                installed = run(place / "bin" / "python", "-m", "pip", "install", "--index-url", self.index, "allranks")
                self.assertEqual(installed.returncode, 0, installed.stderr)
                self.check(place / "bin")
                module = run(place / "bin" / "python", "-m", "allranks", "version")
                self.assertIn("C, C++, CUDA: LLVM", module.stdout, module.stderr)

    def test_uv(self):
        place, home = self.root / "uv", self.root / "uv-home"
        self.assertEqual(run(self.tools / "uv", "venv", "--python", sys.executable, place, HOME=home).returncode, 0)
        installed = run(self.tools / "uv", "pip", "install", "--default-index", self.index, "allranks", HOME=home, VIRTUAL_ENV=place)
        self.assertEqual(installed.returncode, 0, installed.stderr)
        self.check(place / "bin")
        shown = run(self.tools / "uvx", "--default-index", self.index, "allranks", "version", HOME=home)
        self.assertTrue(shown.stdout.startswith("allranks "), shown.stderr)

    def test_pipx(self):
        homes = {"HOME": self.root / "pipx-home", "PIPX_HOME": self.root / "pipx", "PIPX_BIN_DIR": self.root / "pipx-bin"}
        installed = run(self.tools / "pipx", "install", f"--pip-args=--index-url {self.index}", "allranks", **homes)
        self.assertEqual(installed.returncode, 0, installed.stderr)
        self.check(self.root / "pipx-bin")

    def test_auditwheel_agrees_with_the_tag(self):
        shown = run(self.tools / "auditwheel", "show", self.wheel)
        tag = re.search(r"manylinux_2_\d+_\w+", self.wheel.name)[0]
        self.assertIn(f'"{tag}"', " ".join(shown.stdout.split()), shown.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
