"""SECURITY.md: every test that it names is there, and the promises that concern a whole run hold."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import ALLRANKS, GUARDED, CliTest, main

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


class Promises(CliTest):
    def test_the_tests_that_are_named_exist(self):
        named = re.findall(r"`((?:tests|analyzer|driver|frontends|runtime-verify)/[\w./-]+)(?:: (\w+))?`", (REPOSITORY / "SECURITY.md").read_text())
        self.assertGreater(len(named), 15)
        for path, test in named:
            with self.subTest(path=path, test=test):
                self.assertTrue((REPOSITORY / path).exists())
                if test:
                    self.assertIn(test, (REPOSITORY / path).read_text())

    def project(self):
        self.write("a.py", "open('made', 'w')\n" + GUARDED)
        self.write("conftest.py", "open('made', 'w')\n")
        self.write("sitecustomize.py", "open('made', 'w')\n")
        self.write("setup.py", "open('made', 'w')\nimport torch.distributed\n")

    def test_code_is_read_and_not_run(self):
        self.project()
        self.assertEqual(self.run_allranks("check", "-q", "-n").code, 1)
        self.assertFalse((self.root / "made").exists())

    @unittest.skipIf(shutil.which("strace") is None, "no strace here")
    def test_programs_that_a_check_starts(self):
        self.write("a.cpp", "#include <mpi.h>\nvoid f(int r) { if (r == 0) MPI_Barrier(MPI_COMM_WORLD); }\n")
        log = self.root / "calls"
        run = ["strace", "-f", "-o", log, "-e", "trace=execve", ALLRANKS, "check", "-q", "-n", "--output-format", "sarif"]
        if subprocess.run(run, cwd=self.root, capture_output=True).returncode not in (0, 1):
            self.skipTest("strace may not trace here")
        started = re.findall(r'execve\("([^"]+)"[^\n]* = 0$', log.read_text(), re.M)
        self.assertEqual(started[0], ALLRANKS)
        helper = str(pathlib.Path(ALLRANKS).parent / "allranks-clang")
        others = {path for path in started[1:] if path != helper and pathlib.Path(path).name != "git"}
        self.assertEqual(others, set())

    def test_a_check_leaves_a_cache_and_nothing_else(self):
        """Wherever programs like to leave things; without strace, too."""
        self.project()
        self.write("a.cpp", "#include <mpi.h>\nvoid f(int r) { if (r == 0) MPI_Barrier(MPI_COMM_WORLD); }\n")
        before = {path.relative_to(self.root) for path in self.root.rglob("*")}
        with tempfile.TemporaryDirectory() as name:
            home = pathlib.Path(name)
            folders = {"HOME": home, "TMPDIR": home / "tmp", "XDG_CACHE_HOME": home / "cache", "XDG_CONFIG_HOME": home / "config", "XDG_DATA_HOME": home / "data"}
            for folder in folders.values():
                folder.mkdir(exist_ok=True)
            there = sorted(home.rglob("*"))
            self.assertEqual(self.run_allranks("check", "-q", env={key: str(folder) for key, folder in folders.items()}).code, 1)
            self.assertEqual(sorted(home.rglob("*")), there)
        new = {path.relative_to(self.root).parts[0] for path in self.root.rglob("*") if path.relative_to(self.root) not in before}
        self.assertEqual(new, {".allranks_cache"})
        self.assertEqual([path.name for path in self.state.rglob("*") if path.is_file()], ["cache-key"])

    @unittest.skipIf(shutil.which("strace") is None, "no strace here")
    def test_a_check_starts_no_program_opens_no_connection_and_writes_nowhere_else(self):
        self.project()
        log = self.root / "calls"
        # -y: with the paths of open folders.
        changing = "unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,symlink,symlinkat,link,linkat"
        run = ["strace", "-f", "-y", "-o", log, "-e", f"trace=execve,connect,bind,socket,openat,{changing}",
               ALLRANKS, "check", "-q"]
        traced = subprocess.run(run, cwd=self.root, capture_output=True, env={"XDG_STATE_HOME": str(self.state), "PATH": "/usr/bin:/bin"})
        if traced.returncode not in (0, 1):
            self.skipTest("strace may not trace here")
        calls = log.read_text().splitlines()
        self.assertEqual(len([call for call in calls if "execve(" in call]), 1)
        self.assertEqual([call for call in calls if re.search(r"\b(connect|bind|socket)\(", call)], [])
        written = [call for call in calls if re.search(r"O_(WRONLY|RDWR|CREAT)|\b(rename|mkdir|unlink|symlink|link)(at2?)?\(", call)]
        self.assertNotEqual(written, [])
        allowed = (str(self.root / ".allranks_cache"), str(self.state), '"/dev/null"')
        self.assertEqual([call for call in written if not any(place in call for place in allowed)], [])


if __name__ == "__main__":
    main()
