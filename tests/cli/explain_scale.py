"""`allranks explain` on 512 dumps of 2,000 operations: bounded time and memory."""

import os
import pickle
import subprocess

import support
from support import CliTest, main

RANKS, OPERATIONS, LATE = 512, 2000, 300
MOST_BYTES = 500 << 20
# Of the processor, as other tests run beside it. A build for debugging needs three to four on a machine of today.
MOST_SECONDS = 15
# Ten times of what it needs; a square took more than fifteen.
MOST_SECONDS_OF_LOG = 8


def stack(place):
    frames = [{"name": "all_reduce", "filename": "/opt/venv/lib/site-packages/torch/distributed/distributed_c10d.py", "line": 2000}]
    return frames + [{"name": f"f{place}_{depth}", "filename": f"/job/src/module{(place + depth) % 40}.py", "line": 10 + place + depth} for depth in range(12)]


def dump(operations):
    stacks = [stack(place) for place in range(60)]
    entries = [{"frames": stacks[turn % 60], "record_id": turn, "pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": turn, "p2p_seq_id": 0,
                "op_id": turn, "profiling_name": "nccl:all_reduce", "time_created_ns": 10**18 + turn, "input_sizes": [[1024]], "input_dtypes": ["Float"],
                "output_sizes": [[1024]], "output_dtypes": ["Float"], "state": "completed" if turn < OPERATIONS else "started", "retired": turn < OPERATIONS,
                "timeout_ms": 600000, "is_p2p": False} for turn in range(1, operations + 1)]
    groups = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(RANKS)))}}
    return pickle.dumps({"version": "2.10", "pg_config": groups, "entries": entries}, protocol=2)


class Scale(CliTest):
    def test_512_dumps(self):
        self.write("whole", dump(OPERATIONS))
        self.write("late", dump(OPERATIONS - 1))
        (self.root / "traces").mkdir()
        for rank in range(RANKS):
            os.link(self.root / ("late" if rank == LATE else "whole"), self.root / f"traces/trace_rank_{rank}")
        process = subprocess.Popen([support.ALLRANKS, "explain", "traces"], cwd=self.root, stdout=subprocess.PIPE)
        out = process.stdout.read().decode()
        process.stdout.close()
        _, code, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
        self.assertEqual(process.returncode, 0)
        self.assertIn(f"Rank {LATE} never came", out)
        self.assertLess(used.ru_maxrss * 1024, MOST_BYTES)
        self.assertLess(used.ru_utime + used.ru_stime, MOST_SECONDS)

    def test_a_log_of_many_ranks(self):
        ranks = 40_000
        line = "[rank{0}]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum={0}, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran\n"
        self.write("log.txt", "".join(line.format(rank) for rank in range(ranks)))
        process = subprocess.Popen([support.ALLRANKS, "explain", "log.txt"], cwd=self.root, stdout=subprocess.DEVNULL)
        _, code, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
        self.assertEqual(process.returncode, 0)
        self.assertLess(used.ru_utime + used.ru_stime, MOST_SECONDS_OF_LOG)


if __name__ == "__main__":
    main()
