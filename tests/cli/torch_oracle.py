"""Replays witnesses with torch.distributed on Gloo: the oracle of verify_oracle.py.

usage: torch_oracle.py REPORT.json, as `allranks check --output-format json` writes it. Prints a JSON list: for each
finding with a witness the ranks that are stuck, as [rank, operation] pairs; then the epochs of a DistributedSampler.
Each rank is a forked process, so that torch is loaded once.
"""

import datetime
import json
import os
import select
import signal
import sys
import tempfile
import time

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler

QUIET = 1.0
REDUCTIONS = {"sum": dist.ReduceOp.SUM, "max": dist.ReduceOp.MAX, "min": dist.ReduceOp.MIN}


def issue(op, group, members):
    data = torch.ones(op["count"])
    # An absent root is one that the group does not have.
    root = members[op["root"]] if "root" in op else -1
    kind = op["op"]
    if kind == "all_reduce":
        dist.all_reduce(data, REDUCTIONS[op.get("redop", "sum")], group=group)
    elif kind == "broadcast":
        dist.broadcast(data, src=root, group=group)
    elif kind == "reduce":
        dist.reduce(data, dst=root, group=group)
    elif kind == "all_gather":
        dist.all_gather([torch.empty_like(data) for _ in members], data, group=group)
    elif kind == "barrier":
        dist.barrier(group=group)
    elif kind in ("send", "recv"):
        start = dist.isend if kind == "send" else dist.irecv
        work = start(data, members[op["peer"]], group=group)
        if op.get("sync", True):
            work.wait()
    else:
        raise ValueError(f"no {kind} here")


def run_rank(witness, rank, store, events):
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=witness["world"],
                            timeout=datetime.timedelta(seconds=60))
    groups = {comm["id"]: dist.new_group(comm["ranks"]) for comm in witness["comms"]}
    members = {comm["id"]: comm["ranks"] for comm in witness["comms"]}
    own = next(c["id"] for c in witness["classes"] if rank in c["ranks"])
    say = lambda *what: os.write(events, (json.dumps([rank, *what]) + "\n").encode())
    say("ready", "")
    for op in witness["ops"][own]:
        say("issued", op["id"])
        try:
            issue(op, groups[op["comm"]], members[op["comm"]])
        except Exception as error:
            say("failed", str(error))
            break
        say("done", op["id"])
    # A rank that leaves closes connections that others wait on.
    signal.pause()


def stuck_ranks(witness):
    reading, writing = os.pipe()
    pids = []
    with tempfile.TemporaryDirectory() as folder:
        for rank in range(witness["world"]):
            pid = os.fork()
            if pid == 0:
                run_rank(witness, rank, os.path.join(folder, "store"), writing)
                os._exit(0)
            pids.append(pid)
        at, ready, text = {}, 0, b""
        # Coming together takes its time on a busy machine.
        while select.select([reading], [], [], QUIET if ready == len(pids) else 30)[0]:
            text += os.read(reading, 65536)
            *lines, text = text.split(b"\n")
            for rank, what, op in map(json.loads, lines):
                ready += what == "ready"
                at[rank] = op if what == "issued" else None
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    os.close(reading)
    os.close(writing)
    return sorted([rank, op] for rank, op in at.items() if op)


def epochs(set_epoch):
    sampler = DistributedSampler(range(10), num_replicas=2, rank=0, shuffle=True, seed=0)
    lists = []
    for epoch in range(3):
        if set_epoch:
            sampler.set_epoch(epoch)
        lists.append(list(sampler))
    return lists


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        witnesses = [f["witness"] for f in json.load(file)["findings"] if f["witness"]]
    start = time.monotonic()
    results = [stuck_ranks(witness) for witness in witnesses]
    print(json.dumps({"torch": torch.__version__, "seconds": time.monotonic() - start, "stuck": results,
                      "epochs": epochs(False), "epochs_set": epochs(True)}))


if __name__ == "__main__":
    main()
