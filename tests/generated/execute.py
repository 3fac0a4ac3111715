"""Runs a program on every rank of a number of small jobs: what happens there is the truth about the program.

A world is a job of so many ranks on so many nodes, with one choice of the program's options and one of its data. A program
*agrees* if it does in every world in which it can run at all, and is a *mismatch* if it is one in any. What depends on the
backend or on the version of the library (a send that may or may not wait, an operation of a rank that is no member) is neither.
"""

import ast
import builtins
import importlib
import itertools
from dataclasses import dataclass
from types import SimpleNamespace

from fake_torch import ALIKE, OWN_DRAWS, Torch
from match import Ending, Fate
from record import PROGRAM, Job

# (ranks, ranks a node). Nodes only matter to programs that ask for a local rank.
WORLDS = [(2, 2), (3, 3), (4, 4), (5, 5), (6, 6)]
WORLDS_OF_NODES = [(4, 2), (6, 3), (6, 2)]
# A finding may rest on a job larger than those: before it counts as a false alarm, these are run as well.
LARGER_WORLDS = [(7, 7), (8, 8)]
# Draws of the data; whatever ranks agree on by chance in all of them, they agree on. In the last ones all ranks draw alike, so
# that they come to what they seldom come to together.
SAMPLES = OWN_DRAWS + len(ALIKE)
REAL_MODULES = ("abc", "collections", "contextlib", "dataclasses", "enum", "functools", "itertools", "math", "operator", "types", "typing")


@dataclass
class Truth:
    fate: Fate
    # The world that shows it, as words.
    world: str = ""
    detail: str = ""
    lines: frozenset = frozenset()


class _Ticks(ast.NodeTransformer):
    """Each round of a loop without bounds counts, so that a program without an end is given up."""

    def visit_While(self, node):
        self.generic_visit(node)
        node.body.insert(0, ast.copy_location(ast.Expr(ast.Call(ast.Name("__tick__", ast.Load()), [], [])), node))
        return node


def compiled(text):
    return compile(ast.fix_missing_locations(_Ticks().visit(ast.parse(text))) if "while" in text else text, PROGRAM, "exec")


class _Settings:
    """argparse: in every second world the options are given, and a number is another one than by default."""

    def __init__(self, given):
        self._given, self._values = given, SimpleNamespace()

    def add_argument(self, name, action=None, default=None, **_):
        number = default - 1 if self._given and isinstance(default, int) else default
        setattr(self._values, name.lstrip("-").replace("-", "_"), self._given if action == "store_true" else number)

    def parse_args(self):
        return self._values


def _environment(job, rank):
    local = rank.number % job.per_node
    names = {"RANK": rank.number, "WORLD_SIZE": job.size, "LOCAL_RANK": local, "LOCAL_WORLD_SIZE": job.per_node, "GROUP_RANK": rank.number // job.per_node}
    return {name: str(value) for name, value in names.items()}


def _leave(*_):
    raise SystemExit


def _modules(job, rank, given, data):
    environment = _environment(job, rank)
    torch = Torch(job, rank, data)
    return {
        "torch": torch, "torch.distributed": torch.distributed, "torch.distributed.device_mesh": torch.distributed.device_mesh,
        "os": SimpleNamespace(environ=environment, getenv=environment.get, _exit=_leave),
        "sys": SimpleNamespace(exit=_leave),
        "argparse": SimpleNamespace(ArgumentParser=lambda *_, **__: _Settings(given)),
        "time": SimpleNamespace(sleep=lambda _: None),
    }


def _globals(job, rank, given, data):
    modules = _modules(job, rank, given, data)

    def load(name, _=None, __=None, names=(), ___=0):
        if name in REAL_MODULES:
            return importlib.import_module(name)
        return modules[name] if names else modules[name.split(".")[0]]

    own = dict(vars(builtins), __import__=load, print=lambda *_, **__: None)
    return {"__name__": "__main__", "__builtins__": own, "__tick__": rank.tick}


def _run(code, world, given, data, eager):
    job = Job(*world, eager)
    ending = job.run(lambda rank: exec(code, _globals(job, rank, given, data)))
    return ending, job


def ending_in(code, world, given, data):
    """How the program ends in one world; undefined if that depends on whether a send waits."""
    ending, job = _run(code, world, given, data, eager=True)
    if job.sends_block and _run(code, world, given, data, eager=False)[0].fate is not ending.fate:
        return Ending(Fate.UNDEFINED, "a send may wait or not")
    return ending


def worlds_of(text, larger):
    """Sizes, options and data that may matter to the program."""
    worlds = WORLDS + (WORLDS_OF_NODES if "LOCAL_" in text else []) + (LARGER_WORLDS if larger else [])
    return itertools.product(worlds, (False, True) if "add_argument" in text else (False,), range(SAMPLES if "torch.rand" in text else 1))


def truth_of(text, larger=False):
    """The Truth of a program; its fate is AGREE, MISMATCH, or another one if nothing can be said of it."""
    code, agreed, doubt = compiled(text), 0, None
    for world, given, data in worlds_of(text, larger):
        ending = ending_in(code, world, given, data)
        truth = Truth(ending.fate, f"{world[0]} ranks, {world[1]} a node" + (", options given" if given else ""), ending.detail, ending.lines)
        if truth.fate is Fate.MISMATCH:
            return truth
        if truth.fate is Fate.AGREE:
            agreed += 1
        elif truth.fate is not Fate.IMPOSSIBLE:
            doubt = doubt or truth
    return doubt or Truth(Fate.AGREE if agreed else Fate.IMPOSSIBLE)
