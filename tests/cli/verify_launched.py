"""`allranks verify --launched`: every rank is a process that some launcher has started."""

import fcntl
import os
import pathlib
import random
import socket
import struct
import subprocess
import threading
import time

import support
from support import alone, main
from verify_support import VerifyTest, op

LAUNCHERS = [("RANK", "WORLD_SIZE", "LOCAL_RANK"),
             ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
             ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"), ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID")]


class Launched(VerifyTest):
    def setUp(self):
        super().setUp()
        self.needs_gloo()
        self.port = random.randrange(20000, 30000)

    def launch(self, size, *args, names=LAUNCHERS[0], tokens=None, order=None, address="127.0.0.1"):
        """(exit code, output, errors) by rank."""
        processes = {}
        for rank in order or range(size):
            own = {**os.environ, "LANG": self.mark, "MASTER_ADDR": address, "MASTER_PORT": str(self.port),
                   names[0]: str(rank), names[1]: str(size), names[2]: str(rank)}
            if tokens:
                own["ALLRANKS_TOKEN"] = tokens[rank]
            processes[rank] = subprocess.Popen(
                [support.ALLRANKS, "verify", "--launched", "--backend", "gloo", "--quiet-time", "0.5", *args],
                cwd=self.root, env=own, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        results = {}
        for rank, process in processes.items():
            out, err = process.communicate(timeout=100)
            results[rank] = (process.returncode, out, err)
        self.wait_for(lambda: not self.processes())
        return results

    def test_rank_0_tells_and_relays_end_with_0(self):
        self.witness_file([op("a")], [])
        for names in LAUNCHERS:
            results = self.launch(3, "w.json", names=names, order=[2, 0, 1])
            self.assertEqual([results[rank][0] for rank in range(3)], [1, 0, 0], results)
            self.assertIn("rank 0 ", results[0][1])
            self.assertIn("waits for ranks 1, 2", results[0][1])
            self.assertEqual(results[1][1:], ("", ""))

    def test_a_relay_that_is_killed_shows_nothing(self):
        """Not what the others do then, and nobody waits for it with the next finding."""
        for index in (1, 2):
            waits = {"quiet_ms": 60000, "total_ms": 60000}
            self.witness_file([op("a")], [], world=3, limits=waits)
            self.witness_file([op("b", count=7)], [], world=3, limits=waits, name="next.json")
            processes = []
            for rank in range(3):
                env = {**os.environ, "LANG": self.mark, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(self.port), "RANK": str(rank), "WORLD_SIZE": "3", "LOCAL_RANK": str(rank)}
                processes.append(subprocess.Popen([support.ALLRANKS, "verify", "--launched", "--backend", "gloo", "w.json", "next.json"], cwd=self.root, env=env,
                                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
            # The control comes and goes in less; then the ranks would wait for a minute.
            time.sleep(8)
            processes[index].kill()
            killed = time.monotonic()
            results = [process.communicate(timeout=50) for process in processes]
            self.assertLess(time.monotonic() - killed, 30)
            self.assertEqual(processes[0].returncode, 0, results)
            self.assertEqual(results[0][0].count("inconclusive"), 3, results)
            self.assertIn(f"rank {index} is gone", results[0][0])
            self.assertNotIn("hangs on", results[0][0])
            self.wait_for(lambda: not self.processes())
            self.port += 20

    @alone
    def test_a_job_of_64_ranks(self):
        self.witness_file([op("a")], [])
        results = self.launch(64, "w.json", "--quiet-time", "3")
        self.assertEqual([results[rank][0] for rank in range(64)], [1] + [0] * 63)
        self.assertIn("waits for ranks 1-63", results[0][1])

    def test_self_test(self):
        results = self.launch(2, "--self-test", "--allow-remote", tokens=["0123456789abcdef"] * 2)
        self.assertEqual([results[0][0], results[1][0]], [0, 0], results)
        self.assertIn("2 ranks: good", results[0][1])

    def test_ipv6(self):
        if not os.path.exists("/proc/net/if_inet6") or "lo" not in pathlib.Path("/proc/net/if_inet6").read_text():
            self.skipTest("this machine has no IPv6")
        self.witness_file([op("a")], [])
        for address in ("::1", "[::1]"):
            results = self.launch(3, "w.json", "--quiet-time", "2", "--allow-remote", address=address, tokens=["0123456789abcdef"] * 3)
            self.assertEqual([results[rank][0] for rank in range(3)], [1, 0, 0], results)
            self.assertIn("waits for ranks 1, 2", results[0][1])
        # Without permission for other nodes, on this machine's own loopback of that version.
        self.assertEqual(self.launch(2, "w.json", "--quiet-time", "2", address="::1")[0][0], 1)

    def listened(self):
        """The IPv4 addresses on which workers of Gloo listen, as seen while they ran."""
        own = set()
        for pid in self.processes():
            try:
                if "allranks-worker-gloo" not in os.readlink(f"/proc/{pid}/exe"):
                    continue
                own.update(os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd"))
            except OSError:
                continue
        lines = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
        listening = [line[1].split(":")[0] for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in own]
        return {socket.inet_ntoa(bytes.fromhex(address)[::-1]) for address in listening}

    def test_the_interface_is_gloos(self):
        """Each rank listens on the interface that --interface names, and on no other."""
        self.witness_file([op("a")], [])
        secret = ["0123456789abcdef"] * 2
        for interface, address in self.interfaces().items():
            with self.subTest(interface):
                seen = set()
                # A busy machine may show nothing while the ranks run.
                while not seen:
                    results, seen = self.watched("w.json", "--quiet-time", "2", "--allow-remote", "--interface", interface, tokens=secret)
                    self.assertIn("hangs on Gloo", results[0][1], results)
                self.assertEqual(seen, {address})

    def watched(self, *args, **options):
        """Results of two ranks, and where they listened meanwhile."""
        results, seen = {}, set()
        thread = threading.Thread(target=lambda: results.update(self.launch(2, *args, **options)))
        thread.start()
        while thread.is_alive():
            seen |= self.listened()
            time.sleep(0.1)
        return results, seen

    @staticmethod
    def interfaces():
        """Those that are up and have an IPv4 address."""
        found = {}
        for _, name in socket.if_nameindex():
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
                try:
                    told = fcntl.ioctl(asking, 0x8915, struct.pack("256s", name.encode()))  # SIOCGIFADDR
                except OSError:
                    continue
            found[name] = socket.inet_ntoa(told[20:24])
        return found

    def test_an_interface_that_is_not_there(self):
        self.witness_file([op("a")], [])
        results = self.launch(2, "w.json", "--allow-remote", "--interface", "nowhere9", tokens=["0123456789abcdef"] * 2)
        for code, _, err in results.values():
            self.assertEqual(code, 4)
            self.assertIn("nowhere9", err)

    def test_other_nodes_need_a_secret(self):
        self.witness_file([op("a")], [])
        for _, _, err in self.launch(2, "w.json", "--allow-remote").values():
            self.assertIn("ALLRANKS_TOKEN", err)

    def test_without_a_launcher(self):
        self.witness_file([op("a")], [])
        self.assert_one_line_error(self.verify("--launched", "--backend", "gloo", "w.json"), "no launcher has said")


if __name__ == "__main__":
    main(at_once=4)
