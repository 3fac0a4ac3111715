"""Runs the built allranks on small trees, for the tests beside this file."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

ALLRANKS = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and os.path.exists(sys.argv[1]) else "allranks"

GUARDED = """\
import torch.distributed as dist


def save():
    if dist.get_rank() == 0:
        dist.barrier()
"""

# Variables that would change what is printed.
CLEARED = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE")


class Result:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout.decode("utf-8", "surrogateescape")
        self.err = process.stderr.decode("utf-8", "surrogateescape")


class CliTest(unittest.TestCase):
    """A test with a folder of its own as the working directory."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = pathlib.Path(self._folder.name).resolve()
        state = tempfile.TemporaryDirectory()
        self.addCleanup(state.cleanup)
        self.state = pathlib.Path(state.name).resolve()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
        return path

    def run_allranks(self, *args, through=(), stdin=b"", cwd=None, env=None, timeout=120, **options):
        environment = {k: v for k, v in os.environ.items() if k not in CLEARED}
        environment["XDG_STATE_HOME"] = str(self.state)
        environment.update(env or {})
        process = subprocess.run([*through, ALLRANKS, *map(str, args)], cwd=cwd or self.root, env=environment, timeout=timeout,
                                 input=None if "stdin_file" in options else stdin, capture_output=True)
        return Result(process)

    def assert_one_line_error(self, result, *words):
        self.assertEqual(result.code, 2, result.out + result.err)
        lines = result.err.splitlines()
        self.assertEqual(len(lines), 1, result.err)
        self.assertTrue(lines[0].startswith("allranks: error: "), result.err)
        for word in words:
            self.assertIn(word, lines[0])


def cases_of(suite):
    for part in suite:
        yield from cases_of(part) if isinstance(part, unittest.TestSuite) else [part]


class AtOnce(unittest.TextTestRunner):
    """Runs so many tests side by side, each in a thread: for those that wait for processes and do nothing meanwhile. Such
    have no setUpClass."""

    def __init__(self, at_once):
        super().__init__(verbosity=1)
        self.at_once = at_once

    def run(self, suite):
        is_alone = lambda case: getattr(getattr(case, case.id().rsplit(".", 1)[1]), "is_alone", False)
        cases = sorted(cases_of(suite), key=is_alone)
        together = sum(not is_alone(case) for case in cases)

        def all_of_them(result):
            for part, at_once in ((cases[:together], self.at_once), (cases[together:], 1)):
                with ThreadPoolExecutor(at_once) as pool:
                    for own in pool.map(lambda case: case.run(unittest.TestResult()), part):
                        result.testsRun += own.testsRun
                        for kind in ("failures", "errors", "skipped", "expectedFailures", "unexpectedSuccesses"):
                            getattr(result, kind).extend(getattr(own, kind))

        return super().run(all_of_them)


def alone(test):
    """One that needs the whole machine: AtOnce runs it when the others are done."""
    test.is_alone = True
    return test


def main(at_once=1):
    unittest.main(testRunner=AtOnce(at_once) if at_once > 1 else None)
