"""`allranks explain`: recorded hangs, dumps of all versions, logs, stacks, and files that nobody should trust."""

import json
import pathlib
import pickle
import shutil
import unittest

from support import CliTest, main

JOBS = pathlib.Path(__file__).resolve().parents[1] / "explain" / "jobs"

# Of each recorded job: why it hangs, the lines where ranks wait, where they parted (none: no branch), the finding.
RECORDED = {
    "both_receive": ("circle", {7}, None, "AR111"),
    "early_return": ("mismatch", {8, 12}, 6, "AR103"),
    "groups_in_opposite_order": ("circle", {7, 10}, 6, "AR106"),
    "guarded_metric": ("mismatch", {6, 21}, 11, "AR101"),
    "lone_barrier": ("mismatch", {10, 17}, 8, "AR101"),
    "other_operation": ("mismatch", {7, 9}, 6, "AR106"),
    "own_early_stop": ("mismatch", {9, 17}, 10, "AR103"),
    "raised": ("ended", {14}, 6, None),
    "skipped_batch": ("mismatch", {11, 19}, 8, "AR103"),
    "slow_reader": ("absent", {15}, None, None),
    "subgroup_member_missing": ("circle", {7, 16}, 6, "AR101"),
    "swallowed_error": ("mismatch", {14, 22}, 15, "AR107"),
    "uneven_loop": ("mismatch", {9, 17}, 7, "AR105"),
}


def frame(line, function="main", name="/job/src/train.py"):
    return {"filename": name, "line": line, "name": function}


def entry(turn, kind, state, *frames, group=("0", "default_pg"), version=(2, 10), **more):
    made = {"record_id": more.pop("order", turn), "pg_id": 0, "process_group": group, "profiling_name": kind, "state": state,
            "input_sizes": [[4]], "output_sizes": [[4]], "time_created_ns": 1000 + turn, "frames": list(frames), **more}
    made["collective_seq_id" if version >= (2, 2) else "seq_id"] = turn
    if version >= (2, 2):
        made.update(p2p_seq_id=0, op_id=turn, is_p2p=False, input_dtypes=["Float"], output_dtypes=["Float"], retired=False)
    if version >= (2, 4):
        made["timeout_ms"] = 600000
    if version >= (2, 10):
        made.update(thread_id="7", thread_name="python")
    return made


def dump(version, entries, ranks=(0, 1)):
    made = {"version": version, "entries": entries,
            "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(ranks))}}}
    if version not in ("2.0", "2.1"):
        made["pg_status"] = {"0": {"last_enqueued_collective": len(entries), "last_completed_collective": len(entries) - 1}}
    return made


class ExplainTest(CliTest):
    def explain(self, *args, code=0, **options):
        result = self.run_allranks("explain", "--format", "json", *args, **options)
        self.assertEqual(result.code, code, result.out + result.err)
        return json.loads(result.out)

    def dumps(self, *by_rank, version="2.10", protocol=2, ranks=None):
        for rank, entries in enumerate(by_rank):
            made = dump(version, entries, range(len(by_rank)) if ranks is None else ranks)
            self.write(f"traces/trace_rank_{rank}", pickle.dumps(made, protocol=protocol))
        return "traces"


class Recorded(ExplainTest):
    """Dumps of PyTorch's own recorder, of programs that hang on Gloo: tests/explain/record.py made them."""

    def test_all(self):
        for name, (cause, waiting, parting, code) in RECORDED.items():
            with self.subTest(name):
                folder = self.root / name
                shutil.copytree(JOBS / name, folder)
                answer = self.explain(".", cwd=folder)
                self.assertEqual(answer["cause"], cause, answer["summary"])
                self.assertEqual({crowd["at"]["line"] for crowd in answer["waiting"]}, waiting)
                self.assertEqual(answer["partings"][0]["line"] if answer["partings"] else None, parting, answer["partings"])
                self.assertEqual(f"diverged at train.py:{parting}," in answer["summary"], parting is not None, answer["summary"])
                self.assertEqual(answer["finding"] and answer["finding"]["code"], code)
                self.assertEqual(answer["notes"], [])

    def test_every_recording_is_expected(self):
        self.assertEqual(sorted(RECORDED), sorted(folder.name for folder in JOBS.iterdir()))


class Dumps(ExplainTest):
    def test_versions_and_protocols(self):
        for version in ("2.0", "2.1", "2.2", "2.3", "2.4", "2.5", "2.9", "2.10"):
            number = tuple(map(int, version.split(".")))
            common = [entry(1, "nccl:all_reduce", "completed", frame(3), version=number)]
            waiting = common + [entry(2, "nccl:broadcast", "started", frame(9, "share"), version=number)]
            for protocol in (2, 3, 4, 5):
                with self.subTest(version=version, protocol=protocol):
                    answer = self.explain(self.dumps(waiting, common, version=version, protocol=protocol))
                    self.assertEqual((answer["cause"], answer["operation"]["kind"], answer["operation"]["turn"]), ("absent", "broadcast", 2))
                    self.assertEqual(answer["waiting"][0]["at"]["line"], 9)
                    self.assertEqual(answer["missing"][0]["ranks"], [1])
                    self.assertEqual(answer["lastCommon"]["line"], 3)

    def test_json(self):
        common = [entry(1, "nccl:all_reduce", "completed")]
        for rank, entries in enumerate((common + [entry(2, "nccl:_all_gather_base", "scheduled")], common)):
            self.write(f"traces/rank{rank}.json", json.dumps(dump("2.4", entries)))
        answer = self.explain("traces")
        self.assertEqual((answer["cause"], answer["operation"]["kind"]), ("absent", "all_gather"))

    def test_other_major_version(self):
        self.write("trace_rank_0", pickle.dumps(dump("3.0", []), protocol=2))
        self.assert_one_line_error(self.run_allranks("explain", "trace_rank_0"), "version `3.0`")

    def test_all_arrived_is_no_branch(self):
        both = [entry(1, "nccl:all_reduce", "started", frame(3))]
        answer = self.explain(self.dumps(both, both))
        self.assertEqual((answer["cause"], answer["inCode"]), ("all_arrived", False))
        self.assertIn("No branch in the code separates the ranks", answer["summary"])

    def test_the_same_operation_from_other_lines(self):
        """That they agree is chance: something had parted the ranks before."""
        self.write("train.py", "import torch.distributed as dist\n\n\ndef main(x):\n    if dist.get_rank() == 0:\n        dist.all_reduce(x)\n"
                   "    else:\n        dist.all_reduce(x)\n")
        by_rank = [[entry(1, "nccl:all_reduce", "started", frame(line))] for line in (6, 8)]
        answer = self.explain(self.dumps(*by_rank), "--path-map", "/job/src=.")
        self.assertEqual((answer["cause"], answer["inCode"], answer["partings"][0]["line"]), ("all_arrived", None, 5))
        self.assertNotIn("No branch", answer["summary"])

    def test_some_devices_did_not_start(self):
        answer = self.explain(self.dumps([entry(1, "nccl:all_reduce", "started", frame(3))], [entry(1, "nccl:all_reduce", "scheduled", frame(3))]))
        self.assertTrue(any("there the stream is busy" in line for line in answer["evidence"]))

    def test_sizes_that_differ(self):
        other = {**entry(1, "nccl:all_reduce", "started", frame(3)), "input_sizes": [[8]]}
        answer = self.explain(self.dumps([entry(1, "nccl:all_reduce", "started", frame(3))], [other]))
        self.assertEqual(answer["cause"], "mismatch")
        self.assertEqual({crowd["shapes"] for crowd in answer["waiting"]}, {"[[4]] Float", "[[8]] Float"})

    def test_what_follows_is_said_to_follow(self):
        # Rank 0 waits for rank 1 in group dp, rank 1 for rank 2 in the default group, rank 2 is in nothing.
        group = ("1", "dp")
        first = [entry(1, "nccl:all_reduce", "started", frame(5), group=group)]
        second = [entry(1, "nccl:barrier", "started", frame(8))]
        for rank, entries in enumerate((first, second, [])):
            made = dump("2.10", entries, (0, 1, 2))
            made["pg_config"]["1"] = {"name": "1", "desc": "dp", "ranks": "[0, 1]"}
            if rank == 0:
                made["pg_config"]["0"]["ranks"] = "[1, 2]"
            else:
                made["pg_config"]["0"]["ranks"] = "[1, 2]"
            self.write(f"traces/trace_rank_{rank}", pickle.dumps(made, protocol=2))
        answer = self.explain("traces")
        self.assertEqual((answer["cause"], answer["operation"]["kind"], answer["following"]), ("absent", "barrier", 1))
        self.assertEqual(answer["missing"][0]["ranks"], [2])

    def test_point_to_point(self):
        send = {**entry(1, "nccl:send 0->1", "started", frame(4)), "is_p2p": True, "p2p_seq_id": 1}
        answer = self.explain(self.dumps([send], []))
        self.assertEqual((answer["cause"], answer["operation"]["kind"], answer["missing"][0]["ranks"]), ("absent", "send", [1]))

    def test_a_rank_without_a_dump(self):
        both = [entry(1, "nccl:all_reduce", "started", frame(3))]
        answer = self.explain(self.dumps(both, both, ranks=(0, 1, 2)))
        self.assertEqual((answer["cause"], answer["noRecord"]), ("absent", [2]))

    def test_nothing_is_stuck(self):
        both = [entry(1, "nccl:all_reduce", "completed", frame(3))]
        self.assertEqual(self.explain(self.dumps(both, both))["cause"], "none")


class Hostile(ExplainTest):
    def test_nothing_is_executed(self):
        class Evil:
            def __reduce__(self):
                return (open, (str(mark), "w"))

        mark = self.root / "executed"
        for protocol in (2, 3, 4, 5):
            self.write("trace_rank_0", pickle.dumps({"version": "2.4", "entries": [Evil()]}, protocol=protocol))
            self.assert_one_line_error(self.run_allranks("explain", "trace_rank_0"), "would run code")
            self.assertFalse(mark.exists())

    def test_cut_off(self):
        whole = pickle.dumps(dump("2.4", [entry(1, "nccl:all_reduce", "started", frame(3))]), protocol=2)
        for length in range(1, len(whole), 17):
            self.write("trace_rank_0", whole[:length])
            self.assert_one_line_error(self.run_allranks("explain", "trace_rank_0"))

    def test_no_rank_in_the_name(self):
        self.write("trace", pickle.dumps(dump("2.4", []), protocol=2))
        self.assert_one_line_error(self.run_allranks("explain", "trace"), "which rank")

    def test_nothing_of_use(self):
        self.write("notes.txt", "a shopping list\n")
        self.assert_one_line_error(self.run_allranks("explain", "notes.txt"), "nothing in it tells of a hang")
        self.assert_one_line_error(self.run_allranks("explain", "absent.txt"), "absent.txt")


def timeout(rank, turn, kind, *, prefix=True, numel=4):
    front = f"[rank{rank}]:[E101 01:02:03.000000004 ProcessGroupNCCL.cpp:616] " if prefix else "[E ProcessGroupNCCL.cpp:475] "
    return (f"{front}[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={turn}, OpType={kind}, NumelIn={numel}, "
            f"NumelOut={numel}, Timeout(ms)=600000) ran for 600025 milliseconds before timing out.\n")


def status(rank, failed, enqueued, completed, shape):
    front = f"[rank{rank}]:[E101 01:02:03.000000005 ProcessGroupNCCL.cpp:1785] "
    if shape == "newest":
        return (f"{front}[PG ID 0 PG GUID 0(default_pg) Rank {rank}]  failure detected by watchdog at work sequence id: {failed} PG status: "
                f"last enqueued work: {enqueued}, last completed work: {completed}\n")
    if shape == "guid":
        return (f"{front}[PG ID 0 PG GUID 0(default_pg) Rank {rank}] Exception (either an error or timeout) detected by watchdog at work: {failed}, "
                f"last enqueued NCCL work: {enqueued}, last completed NCCL work: {completed}.\n")
    return (f"{front}[PG 0 Rank {rank}] Exception (either an error or timeout) detected by watchdog at work: {failed}, last enqueued NCCL work: "
            f"{enqueued}, last completed NCCL work: {completed}.\n")


def relay(rank, turn):
    return (f"[rank{rank}]:[E101 01:02:03.000000006 ProcessGroupNCCL.cpp:1484] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] Received a dump signal "
            f"due to a collective timeout from  rank 0 and we will try our best to dump the debug info. Last enqueued NCCL work: {turn}, "
            f"last completed NCCL work: {turn}.This is most likely caused by incorrect usages of collectives\n")


class Logs(ExplainTest):
    """Typed anew after what public threads show of their logs; none of their text is here."""

    def explain_log(self, text, *more, **options):
        self.write("job.log", text)
        return self.explain("job.log", *more, **options)

    def test_three_shapes_and_the_rank_that_relays(self):
        stack = "[rank0]:[E101 01:02:03.000000007 ProcessGroupNCCL.cpp:683] Stack trace of the failed collective: \n#0 all_reduce from /opt/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py:9\n" \
                "#1 step from /job/src/train.py:12\n#2 <module> from /job/src/train.py:30\n"
        for shape in ("newest", "guid", "old"):
            with self.subTest(shape):
                answer = self.explain_log(timeout(0, 8, "ALLREDUCE") + status(0, 8, 11, 7, shape) + stack + timeout(2, 8, "ALLREDUCE") +
                                          status(2, 8, 11, 7, shape) + relay(1, 7))
                self.assertEqual((answer["cause"], answer["operation"]["kind"], answer["operation"]["turn"]), ("absent", "all_reduce", 8))
                self.assertEqual([crowd["ranks"] for crowd in answer["missing"]], [[1]])
                self.assertIn(12, [crowd["at"]["line"] for crowd in answer["waiting"] if "at" in crowd])

    def test_prefixes_of_launchers(self):
        lines = timeout(3, 5, "_ALLGATHER_BASE") + status(3, 5, 5, 4, "guid") + relay(1, 4)
        for prefix in ("(TrainWorker pid=77, ip=10.0.0.2) ", "\x1b[36m(RayWorkerWrapper pid=4009)\x1b[0m ", "2025-02-18 12:54 ", "3: ", "[default3]:", "[1,3]<stderr>:"):
            with self.subTest(prefix):
                answer = self.explain_log("".join(prefix + line + "\n" for line in lines.splitlines()))
                self.assertEqual((answer["operation"]["kind"], answer["missing"][0]["ranks"]), ("all_gather", [1]))

    def test_all_wait_in_the_same_operation(self):
        text = "".join(timeout(rank, 7753, "_REDUCE_SCATTER_BASE") + status(rank, 7753, 7755, 7752, "old") for rank in range(8))
        answer = self.explain_log(text)
        self.assertEqual((answer["cause"], answer["inCode"], answer["operation"]["kind"]), ("all_arrived", False, "reduce_scatter"))

    def test_one_rank_is_in_another_operation(self):
        answer = self.explain_log(timeout(0, 57, "ALLREDUCE") + status(0, 57, 57, 56, "guid") + timeout(1, 57, "BROADCAST") + status(1, 57, 57, 56, "guid"))
        self.assertEqual(answer["cause"], "mismatch")

    def test_sizes_differ(self):
        answer = self.explain_log(timeout(0, 1, "ALLREDUCE", numel=209715200) + timeout(1, 1, "ALLREDUCE", numel=104857600))
        self.assertEqual(answer["cause"], "mismatch")

    def test_numbers_that_nobody_wrote(self):
        # Before the first completion PyTorch 2.3 prints memory as it lies.
        text = timeout(1, 1, "ALLREDUCE") + status(1, 1, 1, 93459313471793, "old") + timeout(0, 1, "ALLREDUCE") + status(0, 1, 1, 93459313471793, "old")
        self.assertEqual(self.explain_log(text)["cause"], "all_arrived")

    def test_no_prefix_at_all(self):
        answer = self.explain_log(timeout(0, 96120, "ALLREDUCE", prefix=False) + timeout(7, 64088, "ALLREDUCE", prefix=False))
        self.assertEqual((answer["operation"]["turn"], answer["cause"]), (64088, "absent") if answer["missing"] else (64088, answer["cause"]))

    def test_a_rank_that_raised(self):
        text = timeout(0, 5, "ALLREDUCE") + status(0, 5, 5, 4, "newest") + relay(1, 4) + (
            "[rank1]: Traceback (most recent call last):\n[rank1]:   File \"/job/src/train.py\", line 7, in read\n[rank1]:     return json.loads(line)\n"
            "[rank1]: ValueError: Expecting value\n")
        answer = self.explain_log(text)
        self.assertEqual(answer["cause"], "ended")
        self.assertEqual(answer["missing"][0]["at"]["line"], 7)
        self.assertIn("with `ValueError: Expecting value`", answer["summary"])

    def test_a_rank_that_was_killed(self):
        text = timeout(0, 5, "ALLREDUCE") + status(0, 5, 5, 4, "newest") + (
            "Root Cause (first observed failure):\n[0]:\n  time      : 2026-01-01_00:00:00\n  host      : node1\n  rank      : 3 (local_rank: 3)\n"
            "  exitcode  : -9 (pid: 12345)\n  error_file: <N/A>\n  traceback : Signal 9 (SIGKILL) received by PID 12345\n")
        answer = self.explain_log(text)
        self.assertEqual((answer["cause"], answer["inCode"]), ("ended", False))
        self.assertIn("killed by signal 9", answer["summary"])

    def test_hardware(self):
        text = "".join(timeout(rank, 9, "ALLREDUCE") + status(rank, 9, 9, 8, "newest") for rank in range(2))
        answer = self.explain_log(text + "[rank1]: node1:7:9 [1] net_ib.cc:1 NCCL WARN NET/IB : Got completion from peer 10.0.0.1 with status=12\n")
        self.assertEqual(answer["cause"], "all_arrived")
        self.assertTrue(any("Got completion from peer" in line for line in answer["evidence"]))

    def test_detail(self):
        text = ("RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: CollectiveFingerPrint(SequenceNumber=3, OpType=BROADCAST, "
                "TensorShape=[4], TensorDtypes=Float, TensorDeviceTypes=TensorOptions()), but Rank 0 is running collective: "
                "CollectiveFingerPrint(SequenceNumber=3, OpType=ALLREDUCE, TensorShape=[4], TensorDtypes=Float).\n")
        answer = self.explain_log(text)
        self.assertEqual(answer["cause"], "mismatch")
        self.assertEqual({(tuple(crowd["ranks"]), crowd["operation"]) for crowd in answer["waiting"]}, {((0,), "all_reduce"), ((1,), "broadcast")})

    def test_monitored_barrier(self):
        answer = self.explain_log("[Rank 0]: Ranks 1, 3 failed to pass monitoredBarrier in 10000 ms\n")
        self.assertEqual(answer["cause"], "absent")
        self.assertEqual(answer["missing"][0]["ranks"], [1, 3])

    def test_error_files(self):
        self.write("job.log", timeout(0, 5, "ALLREDUCE") + status(0, 5, 5, 4, "newest"))
        self.write("run/attempt_0/1/error.json", json.dumps({"message": {"message": "OSError: no space", "extraInfo": {
            "py_callstack": "Traceback (most recent call last):\n  File \"/job/src/train.py\", line 4, in save\n    f()\nOSError: no space\n", "timestamp": "1"}}}))
        answer = self.explain("job.log", "run")
        self.assertEqual((answer["cause"], answer["missing"][0]["at"]["line"]), ("ended", 4))


def watchdog(rank, turn, kind, own="", group=""):
    """What a watchdog logs: a line on the operation, and one that names the group; either may be missing."""
    front = f"[rank{rank}]:[E101 01:02:03.000000004 ProcessGroupNCCL.cpp:616] "
    text = f"{front}[{own or 'Rank ' + str(rank)}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={turn}, OpType={kind}, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600025 milliseconds.\n"
    if group:
        text += f"{front}[{group}] failure detected by watchdog at work sequence id: {turn} PG status: last enqueued work: {turn}, last completed work: {turn - 1}\n"
    return text


class Members(ExplainTest):
    """A rank is missing in an operation only if it is a member of the group."""

    DEFAULT = "PG ID 0 PG GUID 0(default_pg) Rank {}"
    DP = "PG ID 1 PG GUID 5(dp) Rank {}"

    def explain_log(self, *texts):
        self.write("job.log", "".join(texts))
        return self.explain("job.log")

    @staticmethod
    def ranks(crowds):
        return sorted(rank for crowd in crowds for rank in crowd["ranks"])

    def test_a_rank_that_waits_in_another_group(self):
        answer = self.explain_log(*(watchdog(rank, 8, "ALLREDUCE", group=self.DEFAULT.format(rank)) for rank in (1, 2)), watchdog(0, 3, "BROADCAST", group=self.DP.format(0)))
        self.assertEqual((answer["cause"], self.ranks(answer["waiting"]), answer["noRecord"]), ("circle", [0, 1, 2], []))
        self.assertNotIn("no record", answer["summary"])
        self.assertIn("members of the group `dp` are not recorded", answer["summary"])

    def test_the_watchdogs_line_names_the_group(self):
        answer = self.explain_log(watchdog(1, 8, "ALLREDUCE", own=self.DP.format(0)), watchdog(3, 8, "ALLREDUCE", own=self.DP.format(1)))
        self.assertEqual((answer["operation"]["group"], self.ranks(answer["waiting"]), answer["noRecord"]), ("the group `dp`", [1, 3], []))

    def test_another_ranks_log_names_the_group(self):
        answer = self.explain_log(watchdog(1, 8, "ALLREDUCE", group=self.DP.format(0)), watchdog(3, 8, "ALLREDUCE"))
        self.assertEqual((answer["operation"]["group"], self.ranks(answer["waiting"]), answer["noRecord"]), ("the group `dp`", [1, 3], []))

    def test_a_group_that_nobody_names(self):
        # Another turn than that of the named group: it may be any group.
        answer = self.explain_log(watchdog(1, 8, "ALLREDUCE", group=self.DP.format(0)), watchdog(3, 5, "ALLREDUCE"))
        self.assertEqual((self.ranks(answer["missing"]), answer["noRecord"]), ([], []))

    def test_one_rank_of_a_group_whose_members_nobody_tells(self):
        answer = self.explain_log(watchdog(1, 8, "ALLREDUCE", group=self.DP.format(0)), relay(0, 20), relay(2, 20))
        self.assertEqual((self.ranks(answer["missing"]), answer["noRecord"]), ([], []))
        self.assertIn("members are not recorded", answer["summary"])

    def grouped(self, rank, name, members, entries, description="dp", world=4):
        made = dump("2.10", entries, range(world))
        made["pg_config"][name] = {"name": name, "desc": description, "ranks": str(members)}
        self.write(f"traces/trace_rank_{rank}", pickle.dumps(made, protocol=2))

    def test_groups_of_one_name(self):
        # Parts that were split off one group.
        done = entry(1, "nccl:all_reduce", "completed", frame(3), group=("5", "dp"))
        waits = entry(2, "nccl:all_reduce", "started", frame(4), group=("5", "dp"))
        passed = {**waits, "state": "completed"}
        for rank, members, entries in ((0, [0, 1], [done, passed]), (1, [0, 1], [done, passed]), (2, [2, 3], [done, waits]), (3, [2, 3], [done])):
            self.grouped(rank, "5", members, entries)
        answer = self.explain("traces")
        self.assertEqual((self.ranks(answer["waiting"]), self.ranks(answer["missing"]), answer["noRecord"]), ([2], [3], []))

    def test_a_log_and_dumps_of_groups_of_one_description(self):
        done = entry(1, "nccl:all_reduce", "completed", frame(3), group=("3", "mesh_dp"))
        for rank in (0, 1):
            self.grouped(rank, "3", [0, 1], [done], "mesh_dp", world=8)
        self.write("job.log", watchdog(6, 9, "ALLREDUCE", group="PG ID 2 PG GUID 5(mesh_dp) Rank 0"))
        answer = self.explain("traces", "job.log")
        self.assertEqual((self.ranks(answer["waiting"]), self.ranks(answer["missing"]), answer["noRecord"]), ([6], [], []))

    def test_a_log_of_a_rank_whose_group_a_dump_tells(self):
        done = entry(1, "nccl:all_reduce", "completed", frame(3), group=("3", "mesh_dp"))
        self.grouped(0, "3", [0, 2], [done], "mesh_dp")
        self.write("job.log", watchdog(2, 2, "ALLREDUCE", group="PG ID 2 PG GUID 3(mesh_dp) Rank 1"))
        answer = self.explain("traces", "job.log")
        self.assertEqual((self.ranks(answer["waiting"]), self.ranks(answer["missing"]), answer["noRecord"]), ([2], [0], []))

    def test_a_rank_that_only_complains(self):
        answer = self.explain_log(watchdog(1, 8, "ALLREDUCE", group=self.DEFAULT.format(1)), "[rank0]: node:7:9 [0] NCCL WARN socketProgress: Connection closed\n")
        self.assertEqual(answer["noRecord"], [0])
        self.assertIn("What rank 0 issued is not recorded", answer["summary"])

    def test_a_monitor_numbers_ranks_within_each_communicator(self):
        world = [{"rank": rank, "host": "n", "pid": 70 + rank, "collective_counts": {"AllReduce": 4}} for rank in range(4)]
        pair = [{"rank": 0, "host": "n", "pid": 72, "collective_counts": {"Broadcast": 5}}, {"rank": 1, "host": "n", "pid": 73, "collective_counts": {"Broadcast": 4}}]
        self.write("ras.json", json.dumps({"nccl_version": "2.29.2", "communicators": [{"hash": "cd", "ranks": pair}, {"hash": "ab", "ranks": world}]}))
        answer = self.explain("ras.json")
        self.assertEqual((answer["operation"]["kind"], self.ranks(answer["waiting"]), self.ranks(answer["missing"])), ("broadcast", [2], [3]))


class Stacks(ExplainTest):
    def test_py_spy(self):
        self.write("stacks/rank_0.txt", "Process 7: python train.py\nPython v3.11.7\n\nThread 7 (active): \"MainThread\"\n"
                   "    all_reduce (torch/distributed/distributed_c10d.py:9)\n    mean (train.py:5)\n    <module> (train.py:30)\nThread 8 (idle): \"Thread-1\"\n    wait (threading.py:4)\n")
        self.write("stacks/rank_1.txt", "Process 8: python train.py\nThread 8 (active): \"MainThread\"\n    read (data.py:11)\n    <module> (train.py:28)\n")
        answer = self.explain("stacks")
        self.assertEqual((answer["cause"], answer["operation"]["kind"]), ("absent", "all_reduce"))
        self.assertEqual((answer["waiting"][0]["at"]["line"], answer["missing"][0]["at"]["line"]), (5, 11))

    def test_several_ranks_in_one_file(self):
        self.write("stacks.txt", "=== rank 0 ===\nThread 0x7f (most recent call first):\n  File \"/o/site-packages/torch/distributed/distributed_c10d.py\", line 3 in barrier\n"
                   "  File \"/job/src/train.py\", line 4 in f\n=== rank 1 ===\nThread 0x7f (most recent call first):\n  File \"/job/src/train.py\", line 6 in g\n")
        answer = self.explain("stacks.txt")
        self.assertEqual((answer["operation"]["kind"], answer["missing"][0]["ranks"]), ("barrier", [1]))

    def test_monitor(self):
        report = {"nccl_version": "2.29.2", "communicators": [{"hash": "ab", "ranks": [
            {"rank": rank, "collective_counts": {"AllReduce": 9 - (rank == 1), "Broadcast": 4}} for rank in range(3)]}]}
        self.write("ras.json", json.dumps(report))
        answer = self.explain("ras.json")
        self.assertEqual((answer["cause"], answer["operation"]["kind"], answer["missing"][0]["ranks"]), ("absent", "all_reduce", [1]))

    def test_monitor_with_its_missing_comma(self):
        self.write("ras.json", '{"nccl_version": "2.28.9", "communicators": [{"hash": "ab", "ranks": [{"rank": 0, "collective_counts": {"AllReduce": 2}}, '
                   '{"rank": 1, "collective_counts": {"AllReduce": 1}}], "missing_ranks": [{"rank": 1, "nvml_dev": 3\n "status": {"considered_dead": true}}]}]}')
        self.assertEqual(self.explain("ras.json")["cause"], "ended")


class Sources(ExplainTest):
    def setUp(self):
        super().setUp()
        for name in ("train.py", "trace_rank_0", "trace_rank_1"):
            folder = "src" if name == "train.py" else "traces"
            self.write(f"{folder}/{name}", (JOBS / "guarded_metric" / name).read_bytes())

    def test_a_finding_beside_the_way_is_not_seen_in_a_job(self):
        self.write("src/train.py", "import torch.distributed as dist\n\n\ndef main(steps, x):\n    for step in steps:\n        dist.all_reduce(x)\n"
                   "        if dist.get_rank() == 0:\n            dist.barrier()\n")
        self.dumps([], [entry(2, "nccl:all_reduce", "started", frame(6))])
        (self.root / "traces/trace_rank_0").unlink()
        answer = self.explain("traces", "--path-map", "/job/src=src")
        self.assertEqual((answer["cause"], answer["inCode"], answer["noRecord"], answer["partings"][0]["line"]), ("absent", True, [0], 7))
        self.assertEqual((answer["finding"], answer["beside"]["code"], answer["beside"]["line"]), (None, "AR101", 8))
        # Where rank 0 itself is seen to wait elsewhere, the schedule of that finding does not fit.
        self.dumps([entry(2, "nccl:all_reduce", "started", frame(6))], [])
        (self.root / "traces/trace_rank_1").unlink()
        self.assertIsNone(self.explain("traces", "--path-map", "/job/src=src")["beside"])

    def test_path_map(self):
        answer = self.explain("traces", "--path-map", "/job/src=src")
        self.assertEqual(answer["partings"][0]["path"], "src/train.py")
        answer = self.explain("traces", "--path-map", "/job/src=nowhere")
        self.assertIn("sources of these lines are not here", answer["summary"])
        self.assert_one_line_error(self.run_allranks("explain", "traces", "--path-map", "wrong"), "FROM=TO")

    def test_sources_that_differ(self):
        text = (JOBS / "guarded_metric" / "train.py").read_text()
        self.write("src/train.py", "\n\n\n\n\n\n\n" + text)
        answer = self.explain("traces", "--path-map", "/job/src=src")
        self.assertTrue(any("the sources differ" in note for note in answer["notes"]), answer["notes"])

    def test_a_report_comes_back_with_the_verdict(self):
        for form in ("sarif", "json"):
            self.write(f"report.{form}", self.run_allranks("check", "src", "--output-format", form).out)
            answer = self.explain("traces", f"report.{form}", "--path-map", "/job/src=src")
            self.assertEqual(answer["finding"]["code"], "AR101")
            self.assertEqual(answer["finding"]["verify"]["evidence"], "job")
        report = json.loads(self.run_allranks("explain", "traces", "report.sarif", "--path-map", "/job/src=src", "--format", "sarif").out)
        marked = [result for run in report["runs"] for result in run["results"] if "allranks/verify" in result["properties"]]
        self.assertEqual([(result["ruleId"], result["rank"]) for result in marked], [("AR101", 100)])

    def test_the_html_report_of_check_takes_the_answer(self):
        self.write("answer.json", self.run_allranks("explain", "traces", "--path-map", "/job/src=src", "--format", "json").out)
        page = self.run_allranks("check", "src", "--output-format", "html", "--verdicts", "answer.json").out
        self.assertIn("seen in a job", page)

    def test_the_baseline_keeps_the_verdict(self):
        self.write("answer.json", self.run_allranks("explain", "traces", "--path-map", "/job/src=src", "--format", "json").out)
        known = ("check", "src", "--baseline", "known.json")
        self.run_allranks(*known, "--update-baseline")
        self.assertNotIn("seen", (self.root / "known.json").read_text())
        self.run_allranks(*known, "--update-baseline", "--verdicts", "answer.json")
        entries = json.loads((self.root / "known.json").read_text())["findings"]
        self.assertEqual([entry["code"] for entry in entries if "did not complete in a job" in entry.get("seen", "")], ["AR101"])
        # From there on without the answer, also when others are added.
        self.assertIn("1 of them seen in a job", self.run_allranks(*known, "--update-baseline").out + self.run_allranks(*known).out)
        report = json.loads(self.run_allranks(*known, "--output-format", "sarif", "--sarif-include", "known").out)
        seen = [result for result in report["runs"][0]["results"] if "allranks/verify" in result["properties"]]
        self.assertEqual([(one["baselineState"], one["rank"], one["properties"]["allranks/verify"]["evidence"]) for one in seen], [("unchanged", 100, "job")])

    def test_a_report_of_check_takes_the_answer(self):
        self.write("answer.json", self.run_allranks("explain", "traces", "--path-map", "/job/src=src", "--format", "json").out)
        self.assertIn("verified: seen in a job: ", self.run_allranks("check", "src", "--verdicts", "answer.json").out)
        report = json.loads(self.run_allranks("check", "src", "--verdicts", "answer.json", "--output-format", "sarif").out)
        ranks = {result["ruleId"]: result.get("rank") for result in report["runs"][0]["results"]}
        self.assertEqual(ranks["AR101"], 100)

    def test_formats(self):
        for form, begin in (("text", "hang: "), ("markdown", "## "), ("html", "<!doctype html>"), ("sarif", "{"), ("json", "{")):
            result = self.run_allranks("explain", "traces", "--path-map", "/job/src=src", "--format", form)
            self.assertEqual(result.code, 0, result.err)
            self.assertTrue(result.out.startswith(begin), result.out[:80])
            self.assertIn("train.py", result.out)


if __name__ == "__main__":
    unittest.TestCase.maxDiff = None
    main()
