"""`allranks verify --backend nccl` against a double of CUDA and NCCL: every line of the real backend runs, on no device.

usage: verify_double.py ALLRANKS CUDA_DOUBLE NCCL_DOUBLE
"""

import json
import shutil
import sys

from support import main
from verify_support import VerifyTest, op

NCCL_DOUBLE, CUDA_DOUBLE = sys.argv.pop(), sys.argv.pop()


class DoubleTest(VerifyTest):
    def setUp(self):
        super().setUp()
        shutil.copy(CUDA_DOUBLE, self.root / "libcuda.so.1")
        shutil.copy(NCCL_DOUBLE, self.root / "libnccl.so.2")

    def verdict(self, first, rest, backend="nccl", injected="", **more):
        self.witness_file(first, rest, **more)
        result = self.run_allranks(
            "verify", "w.json", "--backend", backend, "--nccl-lib", self.root / "libnccl.so.2", "--quiet-time", "2", "--output-format", "json",
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

    def test_who_waits_for_whom(self):
        self.same([op("a")], [], world=3)
        self.same([op("a")], [op("b", "all_gather")], world=3)
        self.same([op("a"), op("b", "broadcast", root=0)], [op("c", "broadcast", root=0), op("d")])

    def test_an_exclusive_device(self):
        seen = self.verdict([op("a")], [], injected="exclusive")
        self.assertEqual(seen["verdict"], "inconclusive")
        self.assertIn("exclusive-process mode", seen["reason"])

    def test_no_memory(self):
        seen = self.verdict([op("a")], [], injected="memory")
        self.assertEqual(seen["verdict"], "inconclusive")


if __name__ == "__main__":
    main()
