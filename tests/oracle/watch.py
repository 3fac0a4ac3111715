"""Runs one function as the ranks of a job, and says how each rank came out: ended, raised, left, or waits forever.

Each rank is a forked process, so that PyTorch is loaded once. A rank that has ended stays until the job is judged: one that
goes closes connections, and what others wait for would look like an error. A job is at rest when no rank has used the
processor for a while; whoever has said nothing by then waits for others.
"""

import contextlib
import dataclasses
import faulthandler
import itertools
import json
import os
import select
import signal
import socket
import sys
import tempfile
import time
import traceback

REST = 1.5
LIMIT = 60.0
# Below the ports that systems give to whoever asks for any.
PORTS = (20000, 30000)


@dataclasses.dataclass
class Outcome:
    rank: int
    # "ended", "raised", "left" (with status 0) or "waits".
    how: str = "waits"
    # What was raised, or the stack of a rank that waits.
    text: str = ""
    # What the rank has said by `say`.
    notes: list = dataclasses.field(default_factory=list)


def free_port(tried=itertools.count()):
    """One that nobody has, and that jobs beside this one do not try at the same time."""
    first, last = PORTS
    while True:
        port = first + (os.getpid() * 101 + next(tried)) % (last - first)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def environment(rank, world, port):
    return {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": world, "LOCAL_WORLD_SIZE": world, "GROUP_RANK": 0, "NODE_RANK": 0,
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "GLOO_SOCKET_IFNAME": "lo"}


def run_rank(body, rank, world, port, folder, events):
    """Never returns: the rank is ended from outside."""
    log = os.open(os.path.join(folder, f".log-{rank}"), os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    with open(os.path.join(folder, f".stack-{rank}"), "w", encoding="utf-8") as stack:
        faulthandler.register(signal.SIGUSR1, file=stack, all_threads=False)
        os.environ.update({name: str(value) for name, value in environment(rank, world, port).items()})
        os.chdir(folder)

        def say(*note):
            os.write(events, (json.dumps([rank, *note]) + "\n").encode())

        try:
            body(rank, world, say)
            say("ended", "")
        except SystemExit as leaving:
            # A text is printed and becomes status 1.
            say("raised" if leaving.code else "left", f"SystemExit: {leaving.code}")
        except BaseException:  # pylint: disable=broad-exception-caught
            say("raised", traceback.format_exc())
        while True:
            signal.pause()


def ticks(pid):
    """Processor time used by a process, or None where it does not sleep: it runs, or waits for a disk."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12]) if fields[0] == "S" else None


def at_rest(pids, since, seen, rest):
    """Whether no process did anything since then; `seen` keeps what they had used."""
    now = [ticks(pid) for pid in pids]
    quiet = None not in now and "ticks" in seen and all(new - old <= 1 for new, old in zip(now, seen["ticks"]))
    if not quiet:
        seen["ticks"] = [0 if used is None else used for used in now]
        seen["at"] = time.monotonic()
    return quiet and time.monotonic() - max(since, seen["at"]) >= rest


def listen(reading, pids, outcomes, rest):
    """Until all ranks have come out, or wait, or the limit is reached."""
    text, last, seen, start = b"", time.monotonic(), {}, time.monotonic()
    while any(one.how == "waits" for one in outcomes) and time.monotonic() - start < LIMIT:
        if select.select([reading], [], [], 0.1)[0]:
            text += os.read(reading, 65536)
            last = time.monotonic()
            *lines, text = text.split(b"\n")
            for rank, what, *note in map(json.loads, lines):
                if what in ("ended", "raised", "left"):
                    outcomes[rank].how, outcomes[rank].text = what, note[0]
                else:
                    outcomes[rank].notes.append([what, *note])
        elif at_rest(pids, last, seen, rest):
            break


def stack_of(pid, path):
    os.kill(pid, signal.SIGUSR1)
    time.sleep(0.1)
    with open(path, encoding="utf-8") as file:
        return file.read()


def run_job(body, world, rest=REST):
    """`body(rank, world, say)` on each rank, in an empty folder; one Outcome a rank. It is at rest after so many seconds."""
    reading, writing = os.pipe()
    port, outcomes, pids = free_port(), [Outcome(rank) for rank in range(world)], []
    with tempfile.TemporaryDirectory() as folder:
        for rank in range(world):
            sys.stdout.flush()
            pid = os.fork()
            if pid == 0:
                os.setpgid(0, 0)
                os.close(reading)
                run_rank(body, rank, world, port, folder, writing)
            pids.append(pid)
        os.close(writing)
        listen(reading, pids, outcomes, rest)
        for one, pid in zip(outcomes, pids):
            if one.how == "waits":
                one.text = stack_of(pid, os.path.join(folder, f".stack-{one.rank}"))
        for pid in pids:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    os.close(reading)
    return outcomes
