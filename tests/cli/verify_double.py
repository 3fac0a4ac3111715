"""`allranks verify --backend nccl` against a double of CUDA and NCCL: every line of the real backend runs, on no device.

usage: verify_double.py ALLRANKS CUDA_DOUBLE NCCL_DOUBLE
"""

import json
import os
import random
import shutil
import subprocess
import sys

import support
from support import alone, main
from verify_support import VerifyTest, op

NCCL_DOUBLE, CUDA_DOUBLE = sys.argv.pop(), sys.argv.pop()


class DoubleTest(VerifyTest):
    def setUp(self):
        super().setUp()
        shutil.copy(CUDA_DOUBLE, self.root / "libcuda.so.1")
        shutil.copy(NCCL_DOUBLE, self.root / "libnccl.so.2")

    def verdict(self, first, rest, backend="nccl", injected="", force=False, **more):
        self.witness_file(first, rest, **more)
        result = self.run_allranks(
            "verify", "w.json", "--backend", backend, "--nccl-lib", self.root / "libnccl.so.2", "--quiet-time", "2", "--output-format", "json",
            *(["--force"] if force else []),
            env={"LANG": self.mark, "LD_LIBRARY_PATH": str(self.root), "CUDA_VISIBLE_DEVICES": injected})
        self.assertEqual(result.err, "")
        self.assertFalse(self.processes())
        return json.loads(result.out)["findings"][0]["verify"]

    def same(self, first, rest, **more):
        """What the simulator says of who is stuck where and for whom the double says, too."""
        keys = ("effect", "stuck", "cycle")
        model = self.verdict(first, rest, "sim", **more)
        seen = self.verdict(first, rest, **more)
        plain = [{key: [(s["rank"], s["op"], s["waitsFor"]) for s in verdict[key]] if key == "stuck" else verdict[key]
                  for key in keys if key in verdict} for verdict in (model, seen)]
        self.assertEqual(plain[0], plain[1])
        return seen


class Backend(DoubleTest):
    def test_a_wait_brings_no_data(self):
        ops = [op("a", sync=False), {"id": "w", "op": "wait", "comm": "world", "at": {"uri": "t.py", "line": 9}}, op("b")]
        seen = self.verdict(ops, [{**one, "id": one["id"] + "2"} for one in ops])
        self.assertEqual(seen["verdict"], "not_reproduced", seen)

    def test_every_kind_with_checked_data(self):
        kinds = [op("a"), op("b", "broadcast", root=1), op("c", "reduce", root=0), op("d", "all_gather"), op("e", "reduce_scatter"),
                 op("f", "all_to_all"), op("g", "barrier")]
        seen = self.verdict([*kinds, op("s", "send", peer=1)], [*({**one, "id": one["id"] + "2"} for one in kinds), op("r", "recv", peer=0)])
        self.assertEqual(seen["verdict"], "not_reproduced", seen)

    def test_a_hang_is_put_on_the_operation_that_hangs(self):
        for kind, more in (("recv", {"peer": 1}), ("send", {"peer": 1}), ("all_to_all", {})):
            with self.subTest(kind):
                seen = self.same([op("a"), op("x", kind, **more)], [op("b")])
                self.assertEqual(seen["stuck"][0]["op"], "x")

    def test_a_circle_over_two_groups(self):
        comms = [{"id": "world", "ranks": [0, 1]}, {"id": "g", "ranks": [0, 1]}]
        seen = self.same([op("a"), op("b", comm="g")], [op("c", comm="g"), op("d")], comms=comms)
        self.assertEqual([one["waitsFor"] for one in seen["stuck"]], [[1], [0]])

    def test_an_operation_behind_another_on_the_stream_has_not_come(self):
        """The send holds the stream of rank 0, and with it the reduction that rank 1 waits in: a circle."""
        wait = {"id": "w", "op": "wait", "comm": "world", "at": {"uri": "t.py", "line": 9}}
        seen = self.verdict([op("s", "send", peer=1, sync=False), op("a"), wait], [op("b"), op("r", "recv", peer=0)])
        self.assertEqual([(one["op"], one["waitsFor"]) for one in seen["stuck"]], [("s", [1]), ("b", [0])], seen)
        self.assertEqual(seen["cycle"], [0, 1])

    def test_who_waits_for_whom(self):
        self.same([op("a")], [], world=3)
        self.same([op("a")], [op("b", "all_gather")], world=3)
        self.same([op("a"), op("b", "broadcast", root=0)], [op("c", "broadcast", root=0), op("d")])

    def test_a_communicator_that_fails(self):
        seen = self.verdict([op("a"), op("b")], [op("c"), op("d")], injected="async=2")
        self.assertEqual(seen["verdict"], "inconclusive")
        self.assertIn("control_failed", seen["reason"])

    def test_a_driver_that_starts_slowly(self):
        # Longer than the 5 s after which it was once taken for wedged.
        seen = self.verdict([op("a")], [], injected="slow=5500")
        self.assertEqual((seen["verdict"], seen["effect"]), ("reproduced", "deadlock"))
        self.assertEqual(seen["says"], "hangs on NCCL")


class OfPyTorch(DoubleTest):
    """Communicators that the first operation makes, batches, and what the text says of it."""

    def test_the_first_operation_of_a_group_waits_for_all_members(self):
        root = {**op("a", "broadcast", root=0), "source": "torch.distributed.broadcast"}
        seen = self.verdict([root], [], injected="ring=1")
        effects = {trial["name"]: trial["effect"] for trial in seen["trials"]}
        self.assertEqual(effects, {"nccl first use": "deadlock", "nccl LL": "corruption", "nccl Simple": "corruption"})
        self.assertEqual((seen["effect"], seen["stuck"][0]["waitsFor"], seen["stuck"][0]["stuckIn"]), ("deadlock", [1], "host"))
        # Where init_process_group is given a device, that way does not exist.
        seen = self.verdict([root], [], injected="ring=1", communicators="at_init")
        self.assertEqual((seen["effect"], len(seen["trials"])), ("corruption", 2))

    def test_setting_up_the_job_makes_no_communicator_of_its_group(self):
        init = {**op("i", "barrier"), "source": "torch.distributed.init_process_group"}
        root = {**op("a", "broadcast", root=0), "source": "torch.distributed.broadcast"}
        seen = self.verdict([init, root], [{**init, "id": "j"}], injected="ring=1")
        self.assertEqual({trial["name"]: trial["effect"] for trial in seen["trials"]},
                         {"nccl first use": "deadlock", "nccl LL": "corruption", "nccl Simple": "corruption"})
        self.assertEqual([(one["op"], one["comm"], one["waitsFor"]) for one in seen["stuck"]], [("a", "world", [1])])
        # A barrier that is one makes the communicator for the operation behind it.
        barrier = {**init, "source": "torch.distributed.barrier"}
        seen = self.verdict([barrier, root], [{**barrier, "id": "j"}], injected="ring=1")
        self.assertEqual((seen["effect"], len(seen["trials"])), ("corruption", 2))

    def test_a_first_use_of_two_groups_in_opposite_order(self):
        comms = [{"id": "world", "ranks": [0, 1]}, {"id": "g", "ranks": [0, 1]}]
        a, b = ({**op("a", sync=False), "source": "torch.distributed.all_reduce"}, {**op("b", comm="g", sync=False), "source": "torch.distributed.all_reduce"})
        seen = self.verdict([a, b], [{**b, "id": "c"}, {**a, "id": "d"}], comms=comms)
        self.assertEqual({trial["name"]: trial["effect"] for trial in seen["trials"]}, {"nccl first use": "deadlock", "nccl LL": "clean", "nccl Simple": "clean"})
        self.assertEqual(seen["cycle"], [0, 1])

    def test_a_batch_goes_together(self):
        def batch(*ops):
            return [{**one, "sync": False, "batch": 1} for one in ops] + [{"id": "w" + ops[0]["id"], "op": "wait", "comm": "world", "at": {"uri": "t.py", "line": 9}}]

        ring = batch(op("a", "send", peer=1), op("b", "recv", peer=1))
        seen = self.verdict(ring, batch(op("c", "send", peer=0), op("d", "recv", peer=0)))
        self.assertEqual(seen["verdict"], "not_reproduced", seen)
        # One after the other they wait for each other.
        alone = [{**one, "batch": 0} for one in ring]
        seen = self.verdict(alone, [{**one, "id": one["id"] + "2", **({"peer": 0} if "peer" in one else {})} for one in alone])
        self.assertEqual(seen["effect"], "deadlock")
        # A batch that makes the group's communicator.
        torch = [{**one, "source": "torch.distributed.batch_isend_irecv"} for one in ring]
        self.assertEqual(self.verdict(torch, [])["effect"], "deadlock")

    def test_the_monitor_says_who_is_behind(self):
        seen = self.verdict([op("a"), op("b")], [op("c")])
        report = seen["trials"][0]["ras"]
        self.assertTrue(report.startswith("OK\nOK\n{"), report)
        (self.root / "ras.json").write_text(report.split("\n", 2)[2])
        result = self.run_allranks("explain", "--format", "json", "ras.json")
        answer = json.loads(result.out)
        self.assertEqual((answer["operation"]["kind"], [crowd["ranks"] for crowd in answer["missing"]]), ("all_reduce", [[1]]))


class OfTwoRanks(DoubleTest):
    """What one rank can do and two cannot: `auto` answers with the simulator and says why, `nccl` says that it is not available."""

    def both(self, injected, *words):
        self.witness_file([op("a")], [])
        library = ("--nccl-lib", self.root / "libnccl.so.2", "--output-format", "json", "w.json")
        env = {"LANG": self.mark, "LD_LIBRARY_PATH": str(self.root), "CUDA_VISIBLE_DEVICES": injected}
        asked = self.run_allranks("verify", "--backend", "nccl", *library, env=env)
        chosen = self.run_allranks("verify", *library, env=env)
        self.assertFalse(self.processes())
        self.assertEqual((asked.code, asked.out), (4, ""), asked.err)
        self.assertEqual(chosen.code, 1, chosen.err)
        verdict = json.loads(chosen.out)["findings"][0]["verify"]
        self.assertEqual((verdict["says"], verdict["backend"]), ("hangs in the simulator", "sim"))
        self.assertEqual([one["rank"] for one in verdict["stuck"]], [0])
        for word in words:
            self.assertIn(word, asked.err)
            self.assertIn(word, chosen.err)

    def test_an_exclusive_device(self):
        self.both("exclusive", "exclusive-process mode", "two ranks cannot run here")

    def test_no_memory(self):
        self.both("memory", "two ranks cannot run here")

    def test_a_communicator_that_never_gets_ready(self):
        self.both("init=1", "did not connect")

    def test_exclusive_devices_are_enough_for_as_many_ranks(self):
        seen = self.verdict([op("a")], [], injected="exclusive,devices=2")
        self.assertEqual(seen["says"], "hangs on NCCL")
        # A third rank has none; `auto` then answers with the simulator.
        seen = self.verdict([op("a")], [], "auto", injected="exclusive,devices=2", world=3)
        self.assertEqual(seen["says"], "hangs in the simulator")
        self.assertIn("nccl could not tell", seen["reason"])


class Wheels(DoubleTest):
    """Where pip, Debian and systems with a lib64 put NCCL; below the interpreter that is named, or the first on PATH."""

    def loaded(self, folder, *args, **env):
        wheel = self.root / "env" / folder / "nvidia/nccl/lib"
        wheel.mkdir(parents=True)
        shutil.copy(NCCL_DOUBLE, wheel / "libnccl.so.2")
        self.witness_file([op("a")], [])
        result = self.run_allranks("verify", "w.json", "--backend", "nccl", "--quiet-time", "1", *args,
                                   env={"LANG": self.mark, "LD_LIBRARY_PATH": str(self.root), "CUDA_VISIBLE_DEVICES": "mark=1", **env})
        self.assertIn("hangs on NCCL", result.out, result.err)
        used = (wheel / "used").exists()
        shutil.rmtree(self.root / "env" / folder.split("/")[0])
        return used

    def setUp(self):
        super().setUp()
        python = self.root / "env/bin/python3"
        python.parent.mkdir(parents=True)
        python.write_text("#!/bin/sh\n")
        python.chmod(0o755)

    def test_of_the_interpreter_that_is_named(self):
        for folder in ("lib/python3.12/site-packages", "lib/python3/dist-packages", "lib64/python3.12/site-packages"):
            self.assertTrue(self.loaded(folder, "--python", self.root / "env/bin/python3"), folder)

    def test_of_the_first_on_path(self):
        path = f"{self.root / 'env/bin'}:{os.environ['PATH']}"
        self.assertTrue(self.loaded("lib/python3.12/site-packages", PATH=path, HOME=str(self.root), VIRTUAL_ENV="", CONDA_PREFIX=""))


class Devices(DoubleTest):
    def test_busy_ones_are_left_alone(self):
        seen = self.verdict([op("a")], [], injected="devices=4,busy=0,busy=2,")
        self.assertEqual(seen["says"], "hangs on NCCL")
        # Device 1 is taken by no rank while both may have 3: exclusive ones show which are used.
        seen = self.verdict([op("a")], [], injected="exclusive,devices=4,busy=0,busy=2,", world=2)
        self.assertEqual(seen["says"], "hangs on NCCL")

    def test_all_busy(self):
        self.witness_file([op("a")], [])
        result = self.run_allranks("verify", "w.json", "--backend", "nccl", "--nccl-lib", self.root / "libnccl.so.2",
                                   env={"LANG": self.mark, "LD_LIBRARY_PATH": str(self.root), "CUDA_VISIBLE_DEVICES": "devices=2,busy=0,busy=1,"})
        self.assertEqual(result.code, 4)
        self.assertIn("more than half of the memory of Double is in use", result.err)
        self.assertEqual(self.verdict([op("a")], [], "nccl", "devices=1,busy=0,", force=True)["says"], "hangs on NCCL")


class Job(DoubleTest):
    @alone
    def test_many_ranks(self):
        """ALLRANKS_LAUNCHED_RANKS=512 tries as many; they take a minute on an idle machine of two cores."""
        ranks = int(os.environ.get("ALLRANKS_LAUNCHED_RANKS", "96"))
        self.witness_file([op("a")], [])
        env = {**os.environ, "LANG": self.mark, "LD_LIBRARY_PATH": str(self.root), "CUDA_VISIBLE_DEVICES": "", "WORLD_SIZE": str(ranks),
               "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(random.randrange(20000, 30000))}
        processes = [subprocess.Popen(
            [support.ALLRANKS, "verify", "--launched", "--backend", "nccl", "--nccl-lib", self.root / "libnccl.so.2", "w.json"], cwd=self.root,
            env={**env, "RANK": str(rank), "LOCAL_RANK": str(rank)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(ranks)]
        results = [process.communicate(timeout=300) for process in processes]
        self.assertEqual([process.returncode for process in processes], [1] + [0] * (ranks - 1), results[0])
        self.assertIn(f"hangs on NCCL (NCCL 2.28.9, Double (1 device), driver for CUDA 13.0, {ranks} ranks", results[0][0])
        self.assertIn(f"waits for ranks 1-{ranks - 1}", results[0][0])
        self.wait_for(lambda: not self.processes())


class Nodes(DoubleTest):
    """Two ranks of a launched job, each with a library of its own, as on two nodes."""

    def launch(self, *args, **settings):
        used = []
        processes = []
        port = str(random.randrange(20000, 30000))
        for rank in range(2):
            folder = self.root / f"node{rank}"
            folder.mkdir(exist_ok=True)
            shutil.copy(NCCL_DOUBLE, folder / "libnccl.so.2")
            (folder / "used").unlink(missing_ok=True)
            env = {**os.environ, "LANG": self.mark, "LD_LIBRARY_PATH": str(self.root), "CUDA_VISIBLE_DEVICES": "mark=1,exclusive,devices=2",
                   "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port,
                   "ALLRANKS_TOKEN": "0123456789abcdef", **settings}
            processes.append(subprocess.Popen(
                [support.ALLRANKS, "verify", "--launched", "--backend", "nccl", "--nccl-lib", folder / "libnccl.so.2", "--quiet-time", "1", *args, "w.json"],
                cwd=self.root, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        results = [process.communicate(timeout=100) for process in processes]
        for rank in range(2):
            path = self.root / f"node{rank}" / "used"
            used.append(sorted(set(path.read_text().splitlines())) if path.exists() else [])
        return results, used

    def setUp(self):
        super().setUp()
        self.witness_file([op("a")], [])

    def test_each_takes_its_own_library_and_device(self):
        results, used = self.launch()
        self.assertIn("hangs on NCCL", results[0][0], results)
        self.assertEqual(used, [["rank 0 =lo AF_INET EAGER 32"], ["rank 1 =lo AF_INET EAGER 32"]])

    def test_the_network_between_nodes(self):
        results, used = self.launch("--allow-remote", "--interface", "eth7")
        self.assertIn("hangs on NCCL", results[0][0], results)
        self.assertEqual(used, [["rank 0 =eth7 - EAGER 32"], ["rank 1 =eth7 - EAGER 32"]])
        _, used = self.launch("--allow-remote", NCCL_SOCKET_IFNAME="ib0", NCCL_SOCKET_FAMILY="AF_INET6")
        self.assertEqual(used, [["rank 0 ib0 AF_INET6 EAGER 32"], ["rank 1 ib0 AF_INET6 EAGER 32"]])


if __name__ == "__main__":
    main(at_once=4)
