#!/usr/bin/env python3
"""Runs the Python fixtures of the hang rules on Gloo: what is flagged must hang or fail, `ok_*` and the rest must end.

usage: run_fixtures.py [--jobs N] [--show] [FIXTURE...]   (fixtures/AR1*/ of this repository unless given)
Needs PyTorch: `make oracle` makes a Python that has it. Prints a line for each entry that disagrees or could not be run,
then a table. Exit code 1 if anything disagrees.
"""

import argparse
import ast
import builtins
import collections
import contextlib
import dataclasses
import importlib
import json
import multiprocessing
import os
import pathlib
import random
import sys
import types
import warnings
from concurrent import futures

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["ACCELERATE_USE_CPU"] = "true"

import numpy  # pylint: disable=wrong-import-position
import torch  # pylint: disable=wrong-import-position
import torch.distributed as dist  # pylint: disable=wrong-import-position

import entries  # pylint: disable=wrong-import-position
import on_cpu  # pylint: disable=wrong-import-position
import situations  # pylint: disable=wrong-import-position
import stand_ins  # pylint: disable=wrong-import-position
import watch  # pylint: disable=wrong-import-position

MPIEXEC = pathlib.Path(sys.executable).with_name("mpiexec")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# What these rules find is no hang, or none that a run shows for sure.
NOT_SHOWN = {"AR112": "a race: the values are wrong, and no rank waits", "AR113": "a race between threads or signals",
             "AR117": "the others wait for longer than they are allowed to", "AR118": "the values are wrong, and no rank waits"}


@dataclasses.dataclass
class Result:
    fixture: str
    entry: entries.Entry
    # "agrees", "disagrees" or "cannot".
    verdict: str
    why: str
    outcomes: list = dataclasses.field(default_factory=list)


def undefined(tree):
    """Names that the file uses and never binds."""
    bound, used = set(dir(builtins)), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            bound.add(node.name)
    return used - bound - {"__file__"}


def kind_of_samples(tree):
    """Pairs, tables or single tensors: as the loops of the file take them apart."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.comprehension)):
            if any(isinstance(inner, ast.Attribute) and inner.attr in ("items", "named_parameters") for inner in ast.walk(node.iter)):
                continue
            target, is_numbered = node.target, "enumerate" in set(entries.names_in(node.iter))
            if is_numbered and isinstance(target, ast.Tuple):
                target = target.elts[-1]
            if isinstance(target, ast.Tuple) and len(target.elts) == 2:
                return stand_ins.Pairs
    keys = [node for node in ast.walk(tree) if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str) and set(entries.names_in(node.value)) & {"batch", "inputs"}]
    return stand_ins.Tables if keys else stand_ins.Samples


def starts_its_job(entry):
    """It sets up its process group, or the processes that will."""
    return "init_process_group" in entry.names or starts_processes(entry)


def starts_processes(entry):
    return bool({"spawn", "start_processes", "Process"} & entry.names)


def draw_by_rank(rank):
    """Processes draw other numbers; forks would all draw those of the process that they come from."""
    torch.manual_seed(rank)
    numpy.random.seed(rank)
    random.seed(rank)


def watch_lines(lines, say):
    """Says when one of these lines, (file, line), is reached."""
    left = set(lines)
    files = {file for file, _ in left}

    def local(frame, event, _arg):
        place = (frame.f_code.co_filename, frame.f_lineno)
        if event == "line" and place in left:
            left.discard(place)
            say("reached", place[1])
        return local

    sys.settrace(lambda frame, _event, _arg: local if frame.f_code.co_filename in files else None)


def say_warnings(say):
    """Says what PyTorch warns of: that a rank is no member of a group."""
    warnings.showwarning = lambda message, *_args, **_kwargs: say("warned", str(message))
    warnings.filterwarnings("always", message=".*does not belong to the given group")


class Run:
    """One entry of a fixture, called on one rank."""

    def __init__(self, path, entry, given, variant=""):
        self.path, self.entry, self.given, self.variant = str(path), entry, given, variant
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.kind = kind_of_samples(self.tree)
        self.tensors, self.data_sets, self.iterators = (find(self.tree) for find in (entries.tensors, entries.data_sets, entries.iterators))

    def value(self, name, rank, world):
        if name in self.given.given:
            return self.given.given[name](rank, world)
        value = stand_ins.argument(name, rank, world, self.kind, self.variant)
        if name in self.data_sets and isinstance(value, (stand_ins.Anything, bool, torch.Tensor)):
            return self.kind()
        if name in self.iterators and isinstance(value, list):
            return iter(value)
        return stand_ins.tensor() if name in self.tensors and isinstance(value, (stand_ins.Anything, bool, list)) else value

    def of_parameter(self, arg, names, rank, world):
        """Where nothing else is known of it, an object of the class that its annotation names."""
        value = self.value(arg.arg, rank, world)
        known = names.get(arg.annotation.id) if isinstance(arg.annotation, ast.Name) else None
        is_open = arg.arg not in self.given.given and isinstance(value, (stand_ins.Anything, bool))
        return self.made(arg.annotation.id, names, rank, world) if is_open and known and known.__module__ == names["__name__"] else value

    def made(self, holder, names, rank, world):
        args, kwargs = self.arguments(f"{holder}.__init__", names, rank, world, skip=1)
        return names[holder](*args, **kwargs)

    def arguments(self, function, names, rank, world, skip=0):
        node = entries.functions(self.tree).get(function)
        if node is None:
            return [], {}
        plain = node.args.posonlyargs + node.args.args
        needed = plain[skip : len(plain) - len(node.args.defaults)]
        optional = [arg for arg in plain[len(plain) - len(node.args.defaults) :] if arg.arg in self.given.given]
        only = [arg for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults) if default is None]
        return ([self.of_parameter(arg, names, rank, world) for arg in needed],
                {arg.arg: self.of_parameter(arg, names, rank, world) for arg in optional + only})

    def call(self, names, rank, world):
        if self.given.call:
            return self.given.call(names, rank)
        if self.entry.name == entries.SCRIPT:
            return None
        holder, _, method = self.entry.name.rpartition(".")
        if not holder:
            args, kwargs = self.arguments(method, names, rank, world)
            return names[method](*args, **kwargs)
        receiver = self.made(holder, names, rank, world)
        is_static = not isinstance(names[holder].__dict__[method], (staticmethod, classmethod))
        args, kwargs = self.arguments(self.entry.name, names, rank, world, skip=int(is_static))
        return getattr(receiver, method)(*args, **kwargs)

    def __call__(self, rank, world, say):
        draw_by_rank(rank)
        if self.given.own_folder:
            os.mkdir(str(rank))
            os.chdir(str(rank))
        if self.given.prepare:
            self.given.prepare(rank)
        if not starts_its_job(self.entry):
            dist.init_process_group("gloo")
        if self.given.joined:
            self.given.joined(rank)
        if not self.given.given:
            stand_ins.FEATURES = entries.width(self.tree) or stand_ins.FEATURES
        typed = list(self.given.typed)
        builtins.input = lambda *_: typed.pop(0) if typed else situations.leave()
        module = types.ModuleType("__main__" if self.entry.name == entries.SCRIPT else "fixture")
        # What is sent as an object is looked up in its module.
        sys.modules[module.__name__] = module
        names = module.__dict__
        names["__file__"] = self.path
        names.update({name: self.value(name, rank, world) for name in undefined(self.tree)})
        sys.argv = [self.path, *(self.given.flags(rank) if self.given.flags else ())]
        sys.path.insert(0, os.path.dirname(self.path))
        say_warnings(say)
        watch_lines(self.entry.expected, say)
        exec(compile(self.tree, self.path, "exec"), names)  # pylint: disable=exec-used
        result = self.call(names, rank, world)
        if self.given.after:
            self.given.after(result)


def is_of_communication(text):
    """Whether the innermost frame of a traceback is one of a library that communicates."""
    frames = [line for line in text.splitlines() if line.lstrip().startswith("File ")]
    if "\nTypeError: " in text:
        # It was handed a stand-in of another kind.
        return False
    if "mpi4py.MPI.Exception" in text or "/gloo/transport/" in text:
        return True
    return bool(frames) and any(part in frames[-1] for part in ("torch/distributed/", "deepspeed/comm", "torch/nn/parallel"))


def shortened(text):
    return text.strip().splitlines()[-1][:160] if text.strip() else "?"


def judge(entry, outcomes):
    foreign = [one for one in outcomes if one.how == "raised" and not is_of_communication(one.text)]
    if foreign and not entry.expected and all(one.text.startswith("SystemExit") for one in foreign):
        return "agrees", f"rank {foreign[0].rank} ends the job with an error"
    codes = {code for line in entry.expected.values() for code in line}
    # Of AR116 the failure of some ranks is what the others wait behind.
    if foreign and not (codes == {"AR116"} and len(foreign) < len(outcomes)):
        return "cannot", shortened(foreign[0].text)
    waiting = [one for one in outcomes if one.how == "waits"]
    failed = [one for one in outcomes if one.how == "raised"]
    if not entry.expected:
        if len(failed) == len(outcomes) and len({shortened(one.text) for one in failed}) == 1:
            return "cannot", "all ranks fail alike: " + shortened(failed[0].text)
        if failed or waiting:
            return "disagrees", "fails: " + shortened(failed[0].text) if failed else f"rank {waiting[0].rank} waits forever"
        return "agrees", "all ranks end"
    said = sorted({note[1] for one in outcomes for note in one.notes if note[0] == "reached"})
    if not said:
        return "cannot", "no rank reaches the line of the finding"
    warned = [one for one in outcomes if any("does not belong" in note[1] for note in one.notes if note[0] == "warned")]
    if waiting or failed or warned:
        ranks = {"wait": waiting, "fail": failed, "are no members": warned}
        return "agrees", ", ".join(f"{how}: {[one.rank for one in those]}" for how, those in ranks.items() if those)
    return "disagrees", "all ranks end"


def commands_of(path, entry, variant):
    """What starts ranks in a Python of their own: by mpiexec, if they use MPI."""

    def commands(place, events):
        rank = [sys.executable, "-B", str(pathlib.Path(__file__).with_name("one_rank.py")), str(path), entry.name, variant,
                json.dumps(dataclasses.asdict(place)), events]
        if uses_mpi(path):
            return [[str(MPIEXEC), "-n", str(place.world), *rank]]
        return [[*rank, str(number)] for number in range(place.world)]

    return commands


def uses_mpi(path):
    return "mpi4py" in modules_of(path)


def run_once(path, entry, variant="", rest=watch.REST):
    given = situations.situation(fixture_of(path), entry.name)
    world = 1 if starts_processes(entry) else given.world
    is_alone = given.own_python or uses_mpi(path)
    outcomes = watch.run_job(Run(path, entry, given, variant), world, rest, given.nodes, commands_of(path, entry, variant) if is_alone else None,
                             polls=uses_mpi(path))
    return *judge(entry, outcomes), outcomes


def run_entry(work):
    path, entry = work
    given = situations.situation(fixture_of(path), entry.name)
    codes = sorted({code for line in entry.expected.values() for code in line})
    reason = given.cannot or next((NOT_SHOWN[code] for code in codes if code in NOT_SHOWN), "")
    if reason:
        return Result(fixture_of(path), entry, "cannot", reason)
    verdict, why, outcomes = run_once(path, entry)
    if verdict != "agrees" and any(one.how == "waits" for one in outcomes):
        # On a machine that does much else, a rank may look as if it slept.
        verdict, why, outcomes = run_once(path, entry, rest=4 * watch.REST)
    for variant in (stand_ins.UNEVEN, stand_ins.OTHER_OPTIONS):
        # Of what is flagged one of the ways to call it has to show it.
        if entry.expected and verdict != "agrees":
            other = run_once(path, entry, variant)
            if other[0] == "agrees":
                verdict, why, outcomes = other
    return Result(fixture_of(path), entry, verdict, why, outcomes)


def fixture_of(path):
    return path.relative_to(ROOT / "fixtures").as_posix()


def work_of(paths):
    return [(path, entry) for path in paths for entry in entries.entries(path)]


def is_helper(path):
    """Whether a file beside it imports it: it is run with that."""
    return any(path in entries.imported_files(other, ast.parse(other.read_text(encoding="utf-8")))
               for other in path.parent.glob("*.py") if other != path and path.parent.parent.parent == ROOT / "fixtures")


def python_fixtures():
    return sorted(path for path in (ROOT / "fixtures").glob("AR1*/**/*.py") if path.name != "__init__.py" and not is_helper(path))


def modules_of(path):
    """What a file imports."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        modules |= {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
        modules |= {node.module} if isinstance(node, ast.ImportFrom) and node.module else set()
    return modules


def preload(paths):
    """Loads what fixtures import, once for all ranks."""
    modules = {"torch._dynamo", "torch.distributed.fsdp", "torch.distributed.tensor", "torch.distributed.checkpoint"}
    for name in sorted(modules.union(*map(modules_of, paths))):
        if name.partition(".")[0] in ("torch", "accelerate", "lightning", "pytorch_lightning", "transformers", "torchmetrics", "deepspeed", "megatron"):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def print_result(result, everything):
    if result.verdict != "agrees" or everything:
        print(f"{result.fixture}::{result.entry.name}: {result.verdict}: {result.why}", flush=True)
    if everything:
        for one in result.outcomes:
            print(f"  rank {one.rank} {one.how} {one.notes}\n{one.text}")


def print_table(results):
    by_code = collections.defaultdict(collections.Counter)
    for result in results:
        by_code[result.fixture[:5]][("flagged " if result.entry.expected else "right ") + result.verdict] += 1
    columns = [f"{kind} {verdict}" for kind in ("flagged", "right") for verdict in ("agrees", "disagrees", "cannot")]
    print(f"\nPyTorch {torch.__version__}")
    print("rule  " + "".join(f"{column:>19}" for column in columns))
    for code, counts in sorted(by_code.items()):
        print(f"{code} " + "".join(f"{counts[column]:19}" for column in columns))
    total = sum(by_code.values(), collections.Counter())
    print("all   " + "".join(f"{total[column]:19}" for column in columns))
    reasons = collections.Counter(result.why for result in results if result.verdict == "cannot")
    print("\nnot run, and why:")
    for reason, count in reasons.most_common():
        print(f"{count:4} {reason}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--show", action="store_true", help="show each entry, and where its ranks are")
    parser.add_argument("fixtures", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    paths = [path.resolve() for path in options.fixtures] or python_fixtures()
    preload(paths)
    on_cpu.install()
    work = work_of(paths)
    results = []
    # Its processes are no daemons: what they run may start processes.
    with futures.ProcessPoolExecutor(options.jobs, multiprocessing.get_context("fork")) as pool:
        for done in futures.as_completed([pool.submit(run_entry, each) for each in work]):
            results.append(done.result())
            print_result(results[-1], options.show)
    print_table(results)
    return any(result.verdict == "disagrees" for result in results)


if __name__ == "__main__":
    sys.exit(main())
