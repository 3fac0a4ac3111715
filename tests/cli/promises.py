"""SECURITY.md: every test that it names is there, and the promises that concern a whole run hold."""

import pathlib
import re
import shutil
import subprocess
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
    def test_a_check_starts_no_program_opens_no_connection_and_writes_nowhere_else(self):
        self.project()
        log = self.root / "calls"
        run = ["strace", "-f", "-o", log, "-e", "trace=execve,connect,bind,socket,openat,unlink,rename,mkdir,symlink,link,linkat",
               ALLRANKS, "check", "-q"]
        traced = subprocess.run(run, cwd=self.root, capture_output=True, env={"XDG_STATE_HOME": str(self.state), "PATH": "/usr/bin:/bin"})
        if traced.returncode not in (0, 1):
            self.skipTest("strace may not trace here")
        calls = log.read_text().splitlines()
        self.assertEqual(len([call for call in calls if "execve(" in call]), 1)
        self.assertEqual([call for call in calls if re.search(r"\b(connect|bind|socket)\(", call)], [])
        written = [call for call in calls if re.search(r"O_(WRONLY|RDWR|CREAT)|\b(rename|mkdir|unlink|symlink|linkat?)\(", call)]
        allowed = (str(self.root / ".allranks_cache"), str(self.state), '"/dev/null"')
        self.assertEqual([call for call in written if not any(place in call for place in allowed)], [])


if __name__ == "__main__":
    main()
