#!/usr/bin/env python3
"""The comparison can fail, and the simulated ranks hang where real ones do: a stand-in for allranks says what it is told."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from compare import LANGUAGES, Kind, check, judged
from emit_c import Untranslatable, in_c
from execute import truth_of
from expected import Expected
from generate import write
from match import Fate
from run import Result
from shrink import is_whole, shrunk

PROGRAM = """\
import torch
import torch.distributed as dist

def main():
    dist.init_process_group()
    rank, world = (dist.get_rank(), dist.get_world_size())
{body}
if __name__ == '__main__':
    main()
"""


def program(*lines):
    return PROGRAM.format(body="\n".join("    " + line for line in lines))


HANGS = program("if rank == 0:", "    dist.barrier()")
ENDS = program("print(rank)", "dist.barrier()")


class Truths(unittest.TestCase):
    def is_fate(self, fate, *lines):
        truth = truth_of(program(*lines))
        self.assertIs(truth.fate, fate, truth.detail)
        return truth

    def test_presence(self):
        self.assertEqual(truth_of(HANGS).lines, {8})
        self.is_fate(Fate.AGREE, "if rank == 0:", "    dist.barrier()", "else:", "    dist.barrier()")
        # Seen with three ranks only.
        self.is_fate(Fate.MISMATCH, "if rank in (0, 1):", "    dist.barrier()")

    def test_kind_root_and_reduction(self):
        self.is_fate(Fate.MISMATCH, "dist.broadcast(torch.zeros(1), src=rank)")
        self.is_fate(Fate.MISMATCH, "dist.all_reduce(torch.ones(1), op=dist.ReduceOp.MAX if rank else dist.ReduceOp.SUM)")
        self.is_fate(Fate.MISMATCH, "if rank:", "    dist.barrier()", "else:", "    dist.all_reduce(torch.ones(1))")

    def test_values(self):
        reduced = ["x = torch.tensor([rank])", "dist.all_reduce(x)", "y = x.clone()", "dist.all_reduce(y)", "assert x.item() == world * (world - 1) // 2"]
        self.is_fate(Fate.AGREE, *reduced, "if y.item() > 1:", "    dist.barrier()")
        self.is_fate(Fate.MISMATCH, "x = torch.tensor([rank])", "dist.reduce(x, dst=0)", "if x.item() == rank:", "    dist.barrier()")
        parts = ["parts = [torch.zeros(1) for _ in range(world)]", "dist.all_gather(parts, torch.ones(1) * rank)"]
        self.is_fate(Fate.AGREE, *parts, "assert [p.item() for p in parts] == list(range(world))")
        shares = ["out = torch.zeros(1)", "dist.reduce_scatter(out, [torch.ones(1) * i for i in range(world)])"]
        self.is_fate(Fate.AGREE, *shares, "assert out.item() == rank * world")

    def test_data_of_ranks_differs_until_seeded(self):
        guarded = ["if torch.rand(1).item() > 0.5:", "    dist.barrier()"]
        self.is_fate(Fate.MISMATCH, *guarded)
        self.is_fate(Fate.AGREE, "torch.manual_seed(0)", *guarded)

    def test_groups(self):
        pairs = ["mine, rest = dist.new_subgroups(2)", "if {}:", "    dist.barrier(group=mine)"]
        self.is_fate(Fate.AGREE, *[line.format("rank // 2 == 0") for line in pairs])
        self.is_fate(Fate.MISMATCH, *[line.format("rank % 2 == 0") for line in pairs])
        self.is_fate(Fate.UNDEFINED, "group = dist.new_group([0])", "dist.barrier(group=group)")
        self.is_fate(Fate.IMPOSSIBLE, "dist.new_group([0, 7])")
        self.is_fate(Fate.UNDEFINED, "dist.new_group([rank])")
        self.is_fate(Fate.MISMATCH, "if rank:", "    dist.new_group([0, 1])")

    def test_circle_of_three_groups(self):
        groups = ["a, b, c = dist.new_group([0, 1]), dist.new_group([1, 2]), dist.new_group([0, 2])"]
        order = ["if rank == 0:", "    dist.barrier(group=a); dist.barrier(group=c)", "elif rank == 1:", "    dist.barrier(group=b); dist.barrier(group=a)",
                 "elif rank == 2:", "    dist.barrier(group=c); dist.barrier(group=b)"]
        self.is_fate(Fate.MISMATCH, *groups, *order)

    def test_messages(self):
        self.is_fate(Fate.MISMATCH, "if rank == 0:", "    dist.send(torch.zeros(1), dst=1)")
        self.is_fate(Fate.UNDEFINED, "dist.send(torch.zeros(1), (rank + 1) % world)", "dist.recv(torch.zeros(1), (rank - 1) % world)")
        self.is_fate(Fate.AGREE, "work = dist.isend(torch.zeros(1), (rank + 1) % world)", "dist.recv(torch.zeros(1), (rank - 1) % world)", "work.wait()")

    def test_handlers_do_not_run_for_ranks_that_wait(self):
        self.is_fate(Fate.AGREE, "x = torch.tensor([rank])", "dist.all_reduce(x)", "try:", "    y = x.item()", "except BaseException:", "    dist.barrier()")

    def test_no_truth(self):
        self.is_fate(Fate.FAILED, "raise ValueError")
        self.is_fate(Fate.ENDLESS, "while True:", "    print(rank)")


class Judgements(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def saying(self, findings=(), ledger=()):
        """A program in the place of allranks: the same is said of every file."""
        report = {"findings": [{"code": code, "confidence": "certain", "message": "", "location": {"path": "program_0.py", "start": {"line": 8}}} for code in findings]}
        (self.root / "report").write_text(json.dumps(report), encoding="utf-8")
        (self.root / "ledger").write_text("".join(f"program_0.py:8:9: {verdict} `barrier`\n" for verdict in ledger), encoding="utf-8")
        script = f'#!/bin/sh\nfor a in "$@"; do case $a in json=*) cp {self.root}/report "${{a#json=}}";; full=*) cp {self.root}/ledger "${{a#full=}}";; esac; done\n'
        binary = self.root / "allranks"
        binary.write_text(script, encoding="utf-8")
        os.chmod(binary, 0o755)
        return str(binary)

    def kind(self, text, **said):
        return judged(self.saying(**said), [text], LANGUAGES["python"])[0][3]

    def test_kinds(self):
        self.assertIs(self.kind(HANGS), Kind.MISSED)
        self.assertIs(self.kind(HANGS, findings=["AR101"]), Kind.FOUND)
        self.assertIs(self.kind(HANGS, ledger=["proven aligned"]), Kind.PROVEN)
        self.assertIs(self.kind(HANGS, ledger=["aligned as far as read"]), Kind.MISSED)
        self.assertIs(self.kind(ENDS), Kind.SILENT)
        self.assertIs(self.kind(ENDS, findings=["AR106"]), Kind.FALSE)
        self.assertIs(self.kind(ENDS, findings=["AR401"]), Kind.SILENT)

    def test_larger_job(self):
        self.assertIs(self.kind(program("if rank < 7:", "    dist.barrier()"), findings=["AR101"]), Kind.FOUND)

    def test_failure_of_allranks(self):
        binary = self.root / "allranks"
        binary.write_text("#!/bin/sh\necho broken >&2\nexit 2\n", encoding="utf-8")
        os.chmod(binary, 0o755)
        with self.assertRaisesRegex(RuntimeError, "broken"):
            check(str(binary), {"a": ENDS}, ".py")


class Expectations(unittest.TestCase):
    def problems(self, *kinds, **expected):
        results = [Result(f"p{number}", kind, frozenset(), "", []) for number, kind in enumerate(kinds)]
        return list(Expected(**expected).problems(results))

    def test_grave_ones_are_named(self):
        self.assertEqual(self.problems(Kind.FOUND, Kind.SILENT), [])
        self.assertEqual(len(self.problems(Kind.FALSE, Kind.PROVEN)), 2)
        self.assertEqual(self.problems(Kind.FALSE, known={("false alarm", "p0"): "a cause"}), [])
        self.assertEqual(len(self.problems(Kind.FALSE, known={("proven wrong", "p0"): "a cause"})), 1)

    def test_share(self):
        self.assertEqual(self.problems(Kind.FOUND, Kind.MISSED, found=0.5), [])
        self.assertEqual(len(self.problems(Kind.FOUND, Kind.MISSED, found=0.6)), 1)
        self.assertEqual(len(self.problems(Kind.FOUND, Kind.MISSED)), 1)


class Programs(unittest.TestCase):
    def test_same_seed_same_program(self):
        self.assertEqual(write(7).text, write(7).text)
        self.assertNotEqual(write(7).text, write(8).text)

    def test_in_c(self):
        source = in_c(program("if rank % 2 == 0 and world > 2:", "    dist.broadcast(torch.ones(1), src=1)"))
        self.assertIn("if ((((rank % 2) == 0) && (world > 2))) {\n    buffer1[0] = 1;\n    MPI_Bcast(buffer1, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);", source)
        with self.assertRaises(Untranslatable):
            in_c(program("try:", "    dist.barrier()", "finally:", "    print(rank)"))

    def test_shrinks(self):
        text = program("total = 0", "for i in range(3):", "    total += i", "flag = rank == 0", "if flag:", "    print(total)", "    dist.barrier()")
        small = shrunk(text, lambda texts: [each for each in texts if is_whole(each) and truth_of(each).fate is Fate.MISMATCH])
        self.assertEqual(len(small.splitlines()), 8, small)


if __name__ == "__main__":
    unittest.main()
