"""Writes a program from a seed: a job that starts, one to three patterns of which one, none or each is meant to be wrong, an end."""

import random
from dataclasses import dataclass

from draft import Draft
from operations import Group, operation
from patterns import PATTERNS, plain


@dataclass
class Program:
    name: str
    text: str
    features: frozenset


STARTS = [["rank = dist.get_rank()", "world = dist.get_world_size()"], ["rank, world = dist.get_rank(), dist.get_world_size()"],
          ["world = dist.get_world_size()", "rank = dist.get_rank()", "torch.cuda.set_device(rank % torch.cuda.device_count())"]]


def started(draft):
    draft.add(f'dist.init_process_group({draft.choose(["", chr(34) + "nccl" + chr(34), "backend=" + chr(34) + "gloo" + chr(34)])})')
    if draft.chance(0.2):
        draft.note("start", "rank and size of a function")
        draft.define("""
            def setup():
                return dist.get_rank(), dist.get_world_size()
        """)
        draft.add("rank, world = setup()")
    elif draft.chance(0.2):
        draft.note("start", "rank and size of the environment")
        draft.imports.add("import os")
        draft.add('rank = int(os.environ["RANK"])', 'world = int(os.environ["WORLD_SIZE"])')
    else:
        draft.add(*draft.choose(STARTS))


def moved(draft, pattern, wrong):
    """A pattern in a function of its own: all that it adds to `main` goes there."""
    before, draft.lines = draft.lines, list(draft.lines)
    count = len(before)
    pattern(draft, wrong)
    block, draft.lines = draft.lines[count:], before
    draft.add(draft.lift(block, draft.choose(["train", "validate", "checkpoint", "sync_all"])))


def has_several_mistakes(seed):
    """Mistakes that stand beside one another may hide one another. Decided apart, so that other programs stay what they were."""
    return random.Random(f"several {seed}").random() < 0.08


def write(seed):
    draft = Draft(seed)
    started(draft)
    several = has_several_mistakes(seed)
    patterns = [draft.choose(PATTERNS) for _ in range(draft.choose([2, 3] if several else [1, 1, 2, 3]))]
    broken = draft.rng.randrange(len(patterns)) if draft.chance(0.5) else None
    for place, pattern in enumerate(patterns):
        wrong = (several or place == broken) and pattern is not plain
        draft.note("pattern", pattern.__name__.replace("_", " "))
        if draft.chance(0.7 if several else 0.2):
            moved(draft, pattern, wrong)
        else:
            pattern(draft, wrong)
    if draft.chance(0.5):
        draft.add(*operation(draft, Group())[1])
    draft.add("dist.destroy_process_group()")
    return Program(f"seed {seed}", draft.text(), frozenset(draft.features))
