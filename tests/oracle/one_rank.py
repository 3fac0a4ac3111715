#!/usr/bin/env python3
"""One rank of a job in a Python of its own: so that its sets have an order of their own, or because mpiexec starts it."""

import json
import os
import pathlib
import sys

import run_fixtures  # sets up the environment of PyTorch, and so comes first
import entries
import on_cpu
import situations
import watch


def main():
    path, name, variant, place, events, *rank = sys.argv[1:]
    path = pathlib.Path(path)
    on_cpu.install()
    entry = next(entry for entry in entries.entries(path) if entry.name == name)
    given = situations.situation(run_fixtures.fixture_of(path), name)
    number = int(rank[0] if rank else os.environ["PMI_RANK"])
    watch.run_rank(run_fixtures.Run(path, entry, given, variant), number, watch.Place(**json.loads(place)), os.open(events, os.O_WRONLY))


if __name__ == "__main__":
    main()
