"""Nothing is left behind: no process, no shared memory, after success, failure, Ctrl-C, SIGTERM and SIGKILL."""

import os
import pathlib
import signal
import subprocess

import support
from support import main
from verify_support import VerifyTest, op


class Cleanup(VerifyTest):
    def setUp(self):
        super().setUp()
        self.needs_gloo()
        self.shared_memory = self.segments()

    @staticmethod
    def segments():
        return sorted(path.name for path in pathlib.Path("/dev/shm").glob("*"))

    def assert_nothing_left(self):
        self.wait_for(lambda: not self.processes())
        self.assertEqual(self.segments(), self.shared_memory)

    def start_hanging(self):
        """A run whose ranks hang, and that would wait for a minute more."""
        self.witness_file([op("a")], [], world=3, limits={"quiet_ms": 60000, "total_ms": 60000})
        process = subprocess.Popen([support.ALLRANKS, "verify", "--backend", "gloo", "w.json"], cwd=self.root,
                                   env={**os.environ, "LANG": self.mark}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        # The program itself bears the mark, too; control run and witness run have three ranks each.
        self.wait_for(lambda: len(self.processes()) == 4)
        return process

    def test_after_a_verdict(self):
        self.witness_file([op("a")], [], world=3)
        self.assertEqual(self.verify("--backend", "gloo", "--quiet-time", "0.5", "w.json").code, 1)
        self.assert_nothing_left()

    def test_after_a_rank_died(self):
        self.witness_file([op("a", count=8)], [op("a", count=4)])
        result = self.verify("--backend", "gloo", "--quiet-time", "0.5", "w.json")
        self.assertEqual(result.code, 1, result.err)
        self.assertIn("preamble.length", result.out)
        self.assert_nothing_left()

    def test_after_an_interrupt(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start_hanging()
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=10), 130)
            self.assertIn(b"interrupted", process.stderr.read())
            self.assert_nothing_left()

    def test_after_the_program_was_killed(self):
        process = self.start_hanging()
        process.kill()
        process.wait(timeout=10)
        self.assert_nothing_left()

    def test_when_a_rank_is_killed(self):
        process = self.start_hanging()
        ranks = [pid for pid in self.processes() if pid != process.pid]
        os.kill(ranks[0], signal.SIGKILL)
        self.assertIn(process.wait(timeout=30), (0, 1))
        self.assert_nothing_left()


if __name__ == "__main__":
    main()
