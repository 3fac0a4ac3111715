"""Nothing is left behind: no process, shared memory, socket or file, after success, failure, Ctrl-C, SIGTERM and SIGKILL."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import support
from support import main
from verify_support import VerifyTest, op, witness


class Cleanup(VerifyTest):
    def setUp(self):
        super().setUp()
        self.needs_gloo()
        self.shared_memory = self.segments()
        self.sockets = set()
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)

    def sockets_of(self, pids):
        """Inodes of the sockets that processes have open."""
        links = []
        for pid in pids:
            for link in pathlib.Path(f"/proc/{pid}/fd").glob("*"):
                # The ranks of the control run end while they are looked at.
                with contextlib.suppress(OSError):
                    links.append(os.readlink(link))
        return {link[len("socket:["):-1] for link in links if link.startswith("socket:[")}

    @staticmethod
    def sockets_there():
        """Inodes of all sockets of this machine, in whatever state."""
        columns = {"tcp": 9, "tcp6": 9, "unix": 6}
        return {line.split()[column] for name, column in columns.items() for line in pathlib.Path("/proc/net", name).read_text().splitlines()[1:]}

    @staticmethod
    def segments():
        return sorted(path.name for path in pathlib.Path("/dev/shm").glob("*"))

    def assert_nothing_left(self):
        self.wait_for(lambda: not self.processes())
        self.assertEqual(self.segments(), self.shared_memory)
        self.wait_for(lambda: not self.sockets & self.sockets_there())
        self.assertEqual(list(pathlib.Path(self.temporary.name).iterdir()), [])

    def ranks_of(self, process):
        """The program itself bears the mark, too."""
        return sorted(pid for pid in self.processes() if pid != process.pid)

    def have_stayed(self, process):
        """Three ranks, each connected with the two others, and the same ones a while later."""
        ranks = self.ranks_of(process)
        if len(ranks) != 3 or len(self.sockets_of(ranks)) < 6:
            return False
        time.sleep(0.5)
        return self.ranks_of(process) == ranks

    def start_hanging(self):
        """A run whose ranks hang, and that would wait for a minute more."""
        self.witness_file([op("a")], [], world=3, limits={"quiet_ms": 60000, "total_ms": 60000})
        process = subprocess.Popen([support.ALLRANKS, "verify", "--backend", "gloo", "w.json"], cwd=self.root,
                                   env={**os.environ, "LANG": self.mark, "TMPDIR": self.temporary.name}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        # The ranks of the control run come and go before those that hang.
        self.wait_for(lambda: self.have_stayed(process), seconds=30)
        self.sockets = self.sockets_of(self.ranks_of(process))
        return process

    def test_after_a_verdict(self):
        self.witness_file([op("a")], [], world=3)
        self.assertEqual(self.verify("--backend", "gloo", "--quiet-time", "0.5", "w.json").code, 1)
        self.assert_nothing_left()

    def test_after_a_rank_died(self):
        self.witness_file([op("a", count=8)], [op("a", count=4)])
        result = self.verify("--backend", "gloo", "--quiet-time", "0.5", "w.json")
        self.assertEqual(result.code, 1, result.err)
        self.assertRegex(result.out, r"Gloo refuses: \d+ bytes into \d+")
        self.assert_nothing_left()

    def test_after_an_interrupt(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start_hanging()
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=10), 130)
            self.assertIn(b"interrupted", process.stderr.read())
            self.assert_nothing_left()

    def test_verdicts_survive_an_interrupt(self):
        """What was found until then is written, as text, JSON and into the copy of the report."""
        one = {"code": "AR101", "message": "m", "location": {"path": "t.py", "start": {"line": 1}}}
        quick, slow = witness([op("a")], []), witness([op("a", count=7)], [], limits={"quiet_ms": 60000, "total_ms": 60000})
        self.write("report.json", json.dumps({"version": 1, "findings": [{**one, "witness": quick}, {**one, "witness": slow}]}))
        for form in ("concise", "json"):
            # The control and the run of the first come and go in less, unless the machine is busy; the second would wait for a minute.
            for seconds in (8, 40):
                process = subprocess.Popen(
                    [support.ALLRANKS, "verify", "--backend", "gloo", "--output-format", form, "-o", "part.json", "report.json"], cwd=self.root,
                    env={**os.environ, "LANG": self.mark}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                time.sleep(seconds)
                process.send_signal(signal.SIGTERM)
                out, err = process.communicate(timeout=10)
                if "after 0 findings" not in err:
                    break
            self.assertEqual((process.returncode, err.count("interrupted after 1 findings")), (130, 1), err)
            self.assertIn("reproduced" if form == "json" else "hangs on Gloo", out)
            found = json.loads((self.root / "part.json").read_text())["findings"]
            self.assertEqual([one.get("verify", {}).get("says") for one in found], ["hangs on Gloo", None])
            (self.root / "part.json").unlink()

    def test_after_the_program_was_killed(self):
        process = self.start_hanging()
        process.kill()
        process.wait(timeout=10)
        self.assert_nothing_left()

    def test_when_a_rank_is_killed(self):
        """What the others do then shows nothing, whichever rank it was, and nobody waits for it."""
        for index in range(3):
            process = self.start_hanging()
            os.kill(self.ranks_of(process)[index], signal.SIGKILL)
            self.assertEqual(process.wait(timeout=30), 0)
            self.assertRegex(process.stdout.read().decode(), "inconclusive: .*was killed by signal 9")
            self.assert_nothing_left()


if __name__ == "__main__":
    main()
