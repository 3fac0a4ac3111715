"""Programs that have one thing of each kind, and all else plain: what is missed here has its cause in its name.

Each spelling of a condition, each carrier, each form, each way to make a group and each operation, once where ranks part and
once where they agree all the same. Random programs mix all of these; this is the list to work through first.
"""

from carriers import CARRIERS
from conditions import ON_RANK, ON_TEXT, SOURCES, UNIFORM
from draft import Draft, indent
from forms import FORMS
from generate import Program
from operations import KINDS, OPERATIONS, Group
from patterns import RIGHT_ROOTS, RIGHT_ROUNDS, WRONG_ROOTS, WRONG_ROUNDS

BARRIER = ["dist.barrier()"]
WORK = ['print("working")']
# Some parts choose between spellings: so many are tried.
TRIES = 4


def _program(name, seed, write):
    """`write(draft)` adds to `main`; None if there is nothing to write."""
    draft = Draft(seed, carries=False)
    draft.add("dist.init_process_group()", "rank = dist.get_rank()", "world = dist.get_world_size()")
    return None if write(draft) is False else Program(name, draft.text(), frozenset())


def _title(function):
    return function.__name__.replace("_", " ")


def _guard(draft, condition):
    draft.add(f"if {condition}:", *indent(BARRIER))


def _twice(draft, condition):
    """Every rank comes by one of the two: it is asked again in the other sense."""
    draft.add(f"if {condition}:", *indent(BARRIER), f"if not ({condition}):", *indent(BARRIER))


def _conditions():
    for kind, spellings in ON_RANK.items():
        for spelling in spellings:
            condition = spelling.format(r="rank", w="world")
            yield f"{condition}", lambda draft, condition=condition: _guard(draft, condition)
            yield f"{condition}, twice", lambda draft, condition=condition: _twice(draft, condition)
    for text in ON_TEXT:
        yield text, lambda draft, text=text: _guard(draft, text)
        yield f"{text}, twice", lambda draft, text=text: _twice(draft, text)
    for source in SOURCES:
        yield f"rank {_title(source)}", lambda draft, source=source: _guard(draft, f"{source(draft)} == 0")
    for uniform in UNIFORM:
        yield f"uniform {_title(uniform)}", lambda draft, uniform=uniform: _guard(draft, uniform(draft))


def _carriers():
    for carrier in CARRIERS:
        for what, value, test in (("number", "rank", "{} == 0"), ("condition", "rank == 0", "{}"), ("shared number", "world", "{} == 2")):
            name = f"{what} {_title(carrier)}"
            yield name, lambda draft, carrier=carrier, value=value, test=test: _guard(draft, test.format(carrier(draft, value)))
            yield f"{name}, twice", lambda draft, carrier=carrier, value=value, test=test: _twice(draft, test.format(carrier(draft, value)))
        yield f"group {_title(carrier)}", lambda draft, carrier=carrier: draft.add(
            "if rank == 0:", *indent([f"dist.barrier(group={carrier(draft, 'dist.group.WORLD')})"]))


def _forms():
    arms = {"then": (BARRIER, WORK), "else": (WORK, BARRIER), "both": (BARRIER, BARRIER), "other": (BARRIER, ["dist.all_reduce(torch.ones(1))"])}
    for form in dict.fromkeys(FORMS):
        for name, (then, other) in arms.items():
            yield f"{_title(form)} {name}", lambda draft, form=form, then=then, other=other: draft.add(*form(draft, "rank == 0", then, other))


def _of_group(draft, kind, where):
    group = kind(draft)
    if where == "everywhere":
        return False if group.members else draft.add(*draft.choose(OPERATIONS)(draft, group))
    conditions = group.members if where == "on members" else group.inside
    if not conditions:
        return False
    condition = " and ".join(group.members[:1] * (where == "on some members") + [draft.choose(conditions)])
    return draft.add(f"if {condition}:", *indent(draft.choose(OPERATIONS)(draft, group)))


def _groups():
    for kind in dict.fromkeys(KINDS):
        for where in ("everywhere", "on members", "on some members"):
            yield f"group {_title(kind)} {where}", lambda draft, kind=kind, where=where: _of_group(draft, kind, where)


def _operations():
    for operation in dict.fromkeys(OPERATIONS):
        yield f"{_title(operation)} on rank 0", lambda draft, operation=operation: draft.add("if rank == 0:", *indent(operation(draft, Group())))
        yield f"{_title(operation)} in both arms", lambda draft, operation=operation: draft.add(
            "if rank == 0:", *indent(operation(Draft(0), Group())), "else:", *indent(operation(Draft(0), Group())))
    for root in RIGHT_ROOTS + WRONG_ROOTS:
        yield f"root {root}", lambda draft, root=root: draft.add(
            "agreed = torch.tensor([rank])", "dist.broadcast(agreed, src=0)", "for step in range(2):", f"    dist.broadcast(torch.zeros(1), src={root})")
    for over in RIGHT_ROUNDS + WRONG_ROUNDS:
        yield f"rounds {over}", lambda draft, over=over: draft.add(
            "agreed = torch.tensor([rank + 1])", "dist.all_reduce(agreed, op=dist.ReduceOp.MIN)", "uneven = torch.ones(1) * (rank + 1)",
            f"for step in {over}:", *indent(BARRIER))


def programs():
    """All of them, each once; those of one name are numbered."""
    seen = set()
    for part in (_conditions, _carriers, _forms, _groups, _operations):
        for name, write in part():
            for seed in range(TRIES):
                program = _program(name if seed == 0 else f"{name} ({seed + 1})", seed, write)
                if program and program.text not in seen:
                    seen.add(program.text)
                    yield program
