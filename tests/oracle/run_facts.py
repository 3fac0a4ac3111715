#!/usr/bin/env python3
"""Tries on the installed releases what rules and knowledge claim of PyTorch and its kin; each file of facts/ is one claim.

usage: run_facts.py [--show] [NAME...]
A fact has `PROVES`, the entry of knowledge/ or the rule that rests on it, and `check(rank, world)`, which asserts it on each
rank of a job of WORLD (2) ranks on Gloo. A fact with `WAITS = True` is that the job never ends. Exit code 1 if one is not so.
"""

import argparse
import contextlib
import importlib
import importlib.metadata
import os
import pathlib
import sys

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["ACCELERATE_USE_CPU"] = "true"

import torch  # pylint: disable=wrong-import-position
import torch.distributed as dist  # pylint: disable=wrong-import-position

import watch  # pylint: disable=wrong-import-position

FOLDER = pathlib.Path(__file__).with_name("facts")
LIBRARIES = ("torch", "accelerate", "transformers", "deepspeed", "lightning", "torchmetrics")
# As modules, so that all ranks have them loaded.
PRELOADED = ("torch._dynamo", "torch.distributed.fsdp", "torch.distributed.tensor", "torch.distributed.checkpoint")


def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def build_operators():
    """DeepSpeed compiles what it needs when it is used first, which would look like ranks that wait."""
    if version("deepspeed"):
        os.environ.setdefault("TORCH_EXTENSIONS_DIR", str(pathlib.Path(sys.prefix, "operators")))
        with contextlib.suppress(Exception):
            importlib.import_module("deepspeed.ops.op_builder").ShareMemCommBuilder().load()


def try_fact(name):
    """Whether it is so, and if not, what was seen; None where its library is missing."""
    needed = name.partition("_")[0]
    if needed in LIBRARIES and not version(needed):
        return None, f"{needed} is not installed"
    fact = importlib.import_module(name)

    def body(rank, world, _say):
        dist.init_process_group("gloo")
        fact.check(rank, world)

    outcomes = watch.run_job(body, getattr(fact, "WORLD", 2), rest=4 * watch.REST)
    waits = [one for one in outcomes if one.how == "waits"]
    raised = [one for one in outcomes if one.how == "raised"]
    is_so = bool(waits) if getattr(fact, "WAITS", False) else not waits and not raised
    what = raised[0].text if raised else waits[0].text if waits else "all ranks end"
    return is_so, what


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", action="store_true", help="show what each fact is about")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    sys.path.insert(0, str(FOLDER))
    torch.set_num_threads(1)
    names = options.names or sorted(path.stem for path in FOLDER.glob("*.py"))
    for name in PRELOADED:
        importlib.import_module(name)
    if any(name.startswith("deepspeed") for name in names):
        build_operators()
    print(", ".join(f"{name} {version(name)}" for name in LIBRARIES if version(name)))
    counts = {True: 0, False: 0, None: 0}
    for name in names:
        is_so, what = try_fact(name)
        counts[is_so] += 1
        print(f"{name}: {({True: 'so', False: 'NOT SO', None: 'not tried'})[is_so]}", flush=True)
        if is_so is False or options.show:
            print("  " + what.replace("\n", "\n  "))
    print(f"{counts[True]} are so, {counts[False]} are not, {counts[None]} were not tried")
    return bool(counts[False])


if __name__ == "__main__":
    sys.exit(main())
