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
LIMIT = 180.0
# Ranks that poll are given so many times as long.
POLLING = 10
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


def environment(rank, world, port, nodes=1):
    a_node = world // nodes
    return {"RANK": rank, "LOCAL_RANK": rank % a_node, "WORLD_SIZE": world, "LOCAL_WORLD_SIZE": a_node,
            "GROUP_RANK": rank // a_node, "NODE_RANK": rank // a_node,
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "GLOO_SOCKET_IFNAME": "lo"}


@dataclasses.dataclass
class Place:
    """What the ranks of a job have in common."""

    world: int
    nodes: int
    port: int
    folder: str


def run_rank(body, rank, place, events):
    """Never returns: the rank is ended from outside."""
    log = os.open(os.path.join(place.folder, f".log-{rank}"), os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    with open(os.path.join(place.folder, f".stack-{rank}"), "w", encoding="utf-8") as stack:
        faulthandler.register(signal.SIGUSR1, file=stack, all_threads=False)
        os.environ.update({name: str(value) for name, value in environment(rank, place.world, place.port, place.nodes).items()})
        os.chdir(place.folder)

        def say(*note):
            os.write(events, (json.dumps([rank, *note]) + "\n").encode())

        say("started", os.getpid())
        try:
            body(rank, place.world, say)
            say("ended", "")
        except SystemExit as leaving:
            # A text is printed and becomes status 1.
            say("raised" if leaving.code else "left", f"SystemExit: {leaving.code}")
        except BaseException:  # pylint: disable=broad-exception-caught
            say("raised", traceback.format_exc())
        while True:
            signal.pause()


def family(pid):
    """A process and those that it has started."""
    yield pid
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="utf-8") as file:
                for child in file.read().split():
                    yield from family(int(child))


def ticks(pid):
    """Processor time used by a process and its children, or None where one does not sleep: it runs, or waits for a disk."""
    total = 0
    for each in family(pid):
        with contextlib.suppress(OSError), open(f"/proc/{each}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
            if fields[0] not in "SZ":
                return None
            total += int(fields[11]) + int(fields[12])
    return total


def at_rest(pids, since, seen, rest):
    """Whether no process did anything since then; `seen` keeps what they had used."""
    now = [ticks(pid) for pid in pids]
    quiet = None not in now and len(seen.get("ticks", ())) == len(now) and all(abs(new - old) <= 1 for new, old in zip(now, seen["ticks"]))
    if not quiet:
        seen["ticks"] = [0 if used is None else used for used in now]
        seen["at"] = time.monotonic()
    return quiet and time.monotonic() - max(since, seen["at"]) >= rest


def listen(reading, outcomes, rest, polls):
    """Until all ranks have come out, or wait, or the limit is reached; {rank: process} of those that have started."""
    text, last, seen, start, started = b"", time.monotonic(), {}, time.monotonic(), {}
    while any(one.how == "waits" for one in outcomes) and time.monotonic() - start < LIMIT:
        if select.select([reading], [], [], 0.1)[0]:
            text += os.read(reading, 65536)
            last = time.monotonic()
            *lines, text = text.split(b"\n")
            for rank, what, *note in map(json.loads, lines):
                if what == "started":
                    started[rank] = note[0]
                elif what in ("ended", "raised", "left"):
                    outcomes[rank].how, outcomes[rank].text = what, note[0]
                else:
                    outcomes[rank].notes.append([what, *note])
        elif len(started) < len(outcomes):
            continue
        elif time.monotonic() - last >= POLLING * rest if polls else at_rest(list(started.values()), last, seen, rest):
            break
    return started


def stack_of(pid, path):
    os.kill(pid, signal.SIGUSR1)
    time.sleep(0.1)
    with open(path, encoding="utf-8") as file:
        return file.read()


def run_job(body, world, rest=REST, nodes=1, commands=None, polls=False):
    """`body(rank, world, say)` on each rank, in an empty folder; one Outcome a rank. It is at rest after so many seconds.

    With `commands`, ranks are no forks: `commands(place, events)` are the commands that start them, each in a Python of its own, which
    writes to the file `events`. Ranks that poll never sleep: they wait where they have said nothing for a while.
    """
    reading, writing = os.pipe()
    outcomes, pids = [Outcome(rank) for rank in range(world)], []
    with tempfile.TemporaryDirectory() as folder:
        place = Place(world, nodes, free_port(), folder)
        to_start = commands(place, f"/proc/{os.getpid()}/fd/{writing}") if commands else [None] * world
        for rank, command in enumerate(to_start):
            sys.stdout.flush()
            pid = os.fork()
            if pid == 0:
                os.setpgid(0, 0)
                if command:
                    os.environ["PYTHONHASHSEED"] = str(rank + 1)
                    os.execvp(command[0], command)
                os.close(reading)
                run_rank(body, rank, place, writing)
            pids.append(pid)
        started = listen(reading, outcomes, rest, polls)
        for one in outcomes:
            if one.how == "waits" and one.rank in started:
                one.text = stack_of(started[one.rank], os.path.join(folder, f".stack-{one.rank}"))
        for pid in {*started.values()} - {*pids}:
            os.kill(pid, signal.SIGKILL)
        for pid in pids:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    os.close(writing)
    os.close(reading)
    return outcomes
