"""The wheel, installed into an empty virtual environment without a network.

usage: wheel.py ALLRANKS REPOSITORY.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ALLRANKS = pathlib.Path(sys.argv.pop(1)).resolve()
REPOSITORY = pathlib.Path(sys.argv.pop(1)).resolve()
EXAMPLE = REPOSITORY / "examples" / "first-hang"


def run(*command, **options):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIP_", "VIRTUAL_ENV"))}
    environment.update(PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1", PATH="/usr/bin:/bin")
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, env=environment, **options)


@unittest.skipUnless(shutil.which("objdump"), "objdump (binutils) is not installed")
class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = pathlib.Path(cls.folder.name).resolve()
        packed = run(sys.executable, REPOSITORY / "tools" / "pack_wheel", "--binary", ALLRANKS, cls.root / "dist")
        assert packed.returncode == 0, packed.stderr
        cls.wheel = pathlib.Path(packed.stdout.strip())
        cls.env = cls.root / "env"
        made = run(sys.executable, "-m", "venv", cls.env)
        if made.returncode != 0:
            raise unittest.SkipTest("this Python cannot make virtual environments (python3-venv)")
        installed = run(cls.env / "bin" / "pip", "install", cls.wheel)
        assert installed.returncode == 0, installed.stdout + installed.stderr

    def test_the_tag_names_the_platform(self):
        self.assertRegex(self.wheel.name, r"^allranks-[0-9.]+-py3-none-manylinux_2_\d+_(x86_64|aarch64)\.whl$")
        # Ubuntu 22.04 has glibc 2.35, RHEL 9 has 2.34.
        self.assertLessEqual(int(re.search(r"manylinux_2_(\d+)", self.wheel.name)[1]), 34)

    def test_the_program_and_the_module_do_the_same(self):
        direct = run(self.env / "bin" / "allranks", "check", EXAMPLE)
        self.assertEqual(direct.returncode, 1, direct.stderr)
        module = run(self.env / "bin" / "python", "-m", "allranks", "check", EXAMPLE)
        self.assertEqual((module.returncode, module.stdout), (direct.returncode, direct.stdout))
        first_line = lambda text: text.splitlines()[0]
        self.assertEqual(first_line(run(self.env / "bin" / "allranks", "--version").stdout), first_line(run(ALLRANKS, "--version").stdout))

    def test_the_module_asks_an_old_python_for_nothing_new(self):
        as_in_3_8 = ("import runpy, sys, sysconfig; vars(sysconfig).pop('get_preferred_scheme', None); "
                     "sys.argv = ['allranks', '--version']; runpy.run_module('allranks', run_name='__main__')")
        result = run(self.env / "bin" / "python", "-c", as_in_3_8)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith("allranks "), result.stdout)

    def test_it_says_what_it_lacks(self):
        self.assertIn("verify --backend gloo: NOT IN THIS ", run(self.env / "bin" / "allranks", "version").stdout)

    def test_the_notices_are_in_it(self):
        with zipfile.ZipFile(self.wheel) as packed:
            texts = {name.rsplit("/", 1)[-1]: packed.read(name).decode() for name in packed.namelist() if "/licenses/" in name}
        for name in ("LICENSE", "THIRD_PARTY_NOTICES"):
            self.assertEqual(texts[name], (REPOSITORY / name).read_text("utf-8"))

    def test_the_verifier_is_in_it(self):
        result = run(self.env / "bin" / "allranks", "verify", "--self-test", "--backend", "sim")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_server_answers(self):
        def message(**fields):
            body = json.dumps({"jsonrpc": "2.0", **fields})
            return f"Content-Length: {len(body)}\r\n\r\n{body}"
        talk = (message(id=1, method="initialize", params={"processId": None, "rootUri": None, "capabilities": {}}) +
                message(method="initialized", params={}) + message(id=2, method="shutdown") + message(method="exit"))
        result = run(self.env / "bin" / "allranks", "server", input=talk)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn('"capabilities"', result.stdout)

    def test_it_works_when_moved(self):
        moved = self.root / "moved here"
        shutil.copytree(self.env, moved, symlinks=True)
        result = run(moved / "bin" / "allranks", "rule", "AR101")
        self.assertTrue(result.stdout.startswith("# AR101"), result.stderr)
        self.assertEqual(run(moved / "bin" / "allranks", "check", EXAMPLE).returncode, 1)

    def test_it_is_gone_when_removed(self):
        other = self.root / "other"
        shutil.copytree(self.env, other, symlinks=True)
        self.assertTrue((other / "bin" / "allranks").exists())
        removed = run(other / "bin" / "python", "-m", "pip", "uninstall", "-y", "allranks")
        self.assertEqual(removed.returncode, 0, removed.stderr)
        self.assertEqual([path.name for path in (other / "bin").glob("allranks*")], [])


if __name__ == "__main__":
    unittest.main(verbosity=1)
