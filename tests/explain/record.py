#!/usr/bin/env python3
"""Runs a program on Gloo ranks until it hangs, and keeps what PyTorch's own Flight Recorder and faulthandler have of each rank.

usage: record.py PROGRAM RANKS FOLDER [SECONDS]. For the interpreter that runs it PyTorch 2.9 or later must be installed.

What is written names the program's folder /job/src and the packages /opt/venv, wherever they are. The recordings beside the
programs in jobs/ were made with it: `record.py jobs/NAME/train.py 2 jobs/NAME`.
"""

import faulthandler
import os
import pickle
import runpy
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path


def renamed(text, program):
    """Paths of this machine as the job is said to have them."""
    places = [
        (str(Path(program).resolve().parent), "/job/src"),
        (str(Path(__file__).resolve()), "/opt/venv/lib/site-packages/record.py"),
        (sys.prefix, "/opt/venv"),
        (sys.base_prefix, "/usr"),
    ]
    for here, there in places:
        text = text.replace(here, there)
    return text


def renamed_dump(data, program):
    dump = pickle.loads(data)
    for entry in dump["entries"]:
        for frame in entry["frames"]:
            frame["filename"] = renamed(frame["filename"], program)
    return pickle.dumps(dump, protocol=2)


def write_renamed(path, text, program):
    path.write_text(renamed(text, program), encoding="utf-8")


def dump_later(program, folder, rank, seconds):
    import torch

    time.sleep(seconds)
    Path(folder, f"trace_rank_{rank}").write_bytes(renamed_dump(torch._C._distributed_c10d._dump_fr_trace(), program))
    stack = Path(folder, f"stack_rank_{rank}.txt")
    with open(stack, "w", encoding="utf-8") as out:
        faulthandler.dump_traceback(out)
    write_renamed(stack, stack.read_text(encoding="utf-8"), program)
    os._exit(0)


def run_rank(program, folder, seconds):
    rank = os.environ["RANK"]
    threading.Thread(target=dump_later, args=(program, folder, rank, seconds), daemon=True).start()
    try:
        runpy.run_path(program, run_name="__main__")
    except Exception:
        write_renamed(Path(folder, f"error_rank_{rank}.log"), traceback.format_exc(), program)
    time.sleep(10 * seconds)


def run_all(ranks, folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    port = str(20000 + os.getpid() % 10000)
    children = []
    for rank in range(ranks):
        settings = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": ranks, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port,
                    "GLOO_SOCKET_IFNAME": "lo", "TORCH_FR_BUFFER_SIZE": 2000, "OMP_NUM_THREADS": 1}
        environment = {**os.environ, **{name: str(value) for name, value in settings.items()}}
        children.append(subprocess.Popen([sys.executable, *sys.argv], env=environment))
    for child in children:
        child.wait()


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 10
    if "RANK" in os.environ:
        run_rank(str(Path(sys.argv[1]).resolve()), sys.argv[3], seconds)
    else:
        run_all(int(sys.argv[2]), sys.argv[3])


if __name__ == "__main__":
    main()
