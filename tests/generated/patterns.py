"""What programs do with operations and ranks: each pattern adds to `main`, in a way that is meant to be right or wrong.

The intention only steers how often programs are right. What a program really does is found out by running it.
"""

from conditions import differing, uniform
from draft import indent
from forms import decided
from operations import COMPLETE, Group, all_reduce, barrier, group_of, operation, operations, work


def plain(draft, wrong):
    draft.add(*operations(draft, group_of(draft, COMPLETE)))


def one_arm(draft, wrong):
    """Operations in one arm only."""
    group = group_of(draft, COMPLETE)
    condition = differing(draft) if wrong else uniform(draft)
    block = operations(draft, group)
    arms = (block, work(draft)) if draft.chance(0.7) else (work(draft), block)
    draft.add(*decided(draft, condition, *arms))


def arms_of_group(draft, wrong):
    """An operation of a group under its members' condition; wrong: one of another group, or under a narrower condition."""
    group = group_of(draft)
    choices = group.members or group.inside
    if not choices:
        return one_arm(draft, wrong)
    if not wrong and not group.members:
        return two_arms(draft, wrong)
    condition = draft.choose(group.inside if wrong and group.inside else group.members)
    block = operations(draft, group)
    if wrong and draft.chance(0.4):
        condition, block = draft.choose(choices), operations(draft, Group())
    elif wrong and group.members:
        condition = f"{draft.choose(group.members[:1])} and {condition}"
    return draft.add(*decided(draft, condition, block, work(draft)))


def two_arms(draft, wrong):
    """The same operations in both arms; wrong: another one, none, or another order."""
    group = group_of(draft, COMPLETE)
    condition = differing(draft)
    kind, first = operation(draft, group)
    if not wrong:
        second = first
    else:
        second = operation(draft, group, other_than=kind)[1] if draft.chance(0.5) else work(draft)
    if draft.chance(0.3):
        more = operations(draft, group)
        first, second = first + more, more + second if wrong else second + more
    draft.add(*decided(draft, condition, work(draft) + first, second + work(draft)))


def one_first(draft, wrong):
    """Some ranks wait while the others work; then it is their turn."""
    condition = draft.choose([differing, uniform])(draft) if not wrong else differing(draft)
    name = draft.fresh("mine")
    draft.add(f"{name} = bool({condition})")
    again = name if not wrong else draft.choose([differing(draft), f"not {name}"])
    kind, block = operation(draft, Group())
    draft.add(f"if not {name}:", *indent(block), *work(draft), f"if {again}:", *indent(block))


def main_first(draft, wrong):
    draft.imports.add("from contextlib import contextmanager")
    name = draft.fresh("main_process_first")
    before, after = draft.choose([("!= 0", "== 0"), ("> 0", "< 1"), ("", "== 0")])
    if wrong:
        before, after = draft.choose([("== 0", "== 0"), ("!= 0", "!= 0"), ("== 0", "== 1"), ("!= 0", "== 1")])
    release = ["try:", "    yield", "finally:", f"    if rank {after}:", "        dist.barrier()"] if draft.chance(0.5) else ["yield", f"if rank {after}:", "    dist.barrier()"]
    draft.top.append("\n".join(["@contextmanager", f"def {name}(rank):", *indent([f"if rank {before}:", "    dist.barrier()", *release])]))
    draft.add(f"with {name}({draft.choose(['rank', 'dist.get_rank()'])}):", *indent(work(draft)))


RIGHT_ROUNDS = ["range(3)", "range(world)", "range(world // 2)", "[r for r in range(world) if r % 2 == 0]", "range(len(list(range(0, world, 2))))", "zip(range(2), 'ab')",
                "enumerate('abc')", "range(int(agreed))", "range(5)[:2]", "range(min(2, world))", "reversed(range(2))", "{'a': 1, 'b': 2}.items()"]
WRONG_ROUNDS = ["range(rank)", "range(rank + 1)", "range(world - rank)", "range(rank, world)", "list(range(10))[rank:]", "list(range(world + 1))[rank::world]",
                "[r for r in range(world) if r != rank and r > 0 and rank > 0]", "range(int(uneven))", "range(2 if rank else 3)", "range(rank % 2 + 1)",
                "[i for i in range(world) if i <= rank]", "zip(range(rank), range(world))", "range(max(rank, 1))", "range(0, world, rank + 1)"]


def rounds(draft, wrong):
    """Operations in a loop: its number of rounds is the same on all ranks, or not."""
    over = draft.choose(WRONG_ROUNDS if wrong else RIGHT_ROUNDS)
    draft.note("rounds", over)
    if "agreed" in over:
        draft.add("agreed = torch.tensor([rank + 1])", "dist.all_reduce(agreed, op=dist.ReduceOp.MIN)")
    if "uneven" in over:
        draft.add("uneven = torch.ones(1) * (rank + 1)")
    block = operations(draft, group_of(draft, COMPLETE))
    step = draft.fresh("step")
    if draft.chance(0.3) and over.startswith("range("):
        draft.note("form", "while loop")
        count = draft.fresh("left")
        draft.add(f"{count} = len({over})", f"while {count} > 0:", *indent(block + [f"{count} -= 1"]))
    else:
        draft.add(f"for {step} in {over}:", *indent(block))


def loop_with_exit(draft, wrong):
    """A loop that a condition leaves early, or that skips a round."""
    condition = differing(draft) if wrong else uniform(draft)
    step, leave = draft.fresh("step"), draft.choose(["break", "continue", "break"])
    condition = draft.choose([condition, f"{step} == 1 and {condition}", f"{condition} and {step} > 0"])
    block = operations(draft, group_of(draft, COMPLETE))
    before = draft.choose([[], block]) if leave == "break" else []
    draft.note("form", leave)
    draft.add(f"for {step} in range(3):", *indent(before + [f"if {condition}:", f"    {leave}", *(operations(draft, Group()) if before else block)]))


def everybody_leaves(draft, wrong):
    """A job that gives up: all ranks, or some of them."""
    condition = differing(draft) if wrong else uniform(draft)
    leave = draft.choose(["return", "sys.exit(0)", "raise SystemExit", "os._exit(0)"])
    draft.note("form", leave)
    draft.imports.add("import sys")
    draft.imports.add("import os")
    draft.add(f"if {condition}:", f"    {leave}", *operations(draft, Group()))


RIGHT_ROOTS = ["0", "world - 1", "(world - 1) // 2", "1 % world", "min(range(world))", "list(range(world))[-1]", "step % world", "int(agreed)"]
WRONG_ROOTS = ["rank", "rank % 2", "(rank + 1) % world", "0 if rank == 0 else 1", "max(rank, 1)", "min(rank, 1)", "rank // 2", "[0, 1][rank % 2]", "(step + rank) % world"]


def root(draft, wrong):
    value = draft.choose(WRONG_ROOTS if wrong else RIGHT_ROOTS)
    draft.note("root", value)
    if "agreed" in value:
        draft.add("agreed = torch.tensor([rank])", "dist.broadcast(agreed, src=0)")
    call = draft.choose(["dist.broadcast(torch.zeros(1), src={0})", "dist.broadcast(torch.zeros(1), {0})", "dist.reduce(torch.ones(1), dst={0})",
                         "dist.broadcast_object_list([rank], src={0})"])
    if "step" in value:
        draft.add("for step in range(2):", *indent([call.format(value)]))
    elif draft.chance(0.4):
        name = draft.fresh("source")
        draft.add(f"{name} = {value}", call.format(name))
    else:
        draft.add(call.format(value))


def reduction(draft, wrong):
    """What is computed differs from rank to rank, or not."""
    ops = ["dist.ReduceOp.SUM", "dist.ReduceOp.MAX"]
    condition = differing(draft) if wrong else uniform(draft)
    draft.add(f"dist.all_reduce(torch.ones(1), op={ops[0]} if {condition} else {ops[1]})")


def order(draft, wrong):
    """Operations on two groups, in an order that depends on a condition."""
    first, second = group_of(draft, COMPLETE), group_of(draft, COMPLETE)
    one, two = operations(draft, first), operations(draft, second)
    if wrong:
        draft.add(*decided(draft, differing(draft), one + two, two + one))
    else:
        draft.add(*decided(draft, uniform(draft), one + two, two + one))


def messages(draft, wrong):
    """Sends and receives, in pairs, along a chain, or from and to one rank; wrong: an end of some of them is left out."""
    kind = draft.choose(["to one", "from one", "pairs", "chain", "ring"])
    draft.note("messages", kind)
    tensor, first = draft.fresh("part"), 1 if wrong else 0
    end = "world"
    if wrong and draft.chance(0.4):
        first, end = 0, "world - 1"
    draft.add(f"{tensor} = torch.zeros(1)")
    if kind == "to one":
        draft.add("if rank == 0:", f"    for peer in range({first + 1}, {end}):", f"        dist.recv({tensor}, src=peer)", "else:", f"    dist.send({tensor}, dst=0)")
    elif kind == "from one":
        draft.add("if rank == 0:", f"    for peer in range(1, {end}):", f"        dist.send({tensor}, dst=peer)", f"elif rank > {first}:", f"    dist.recv({tensor}, src=0)")
    elif kind == "pairs":
        draft.add("if rank % 2 == 0:", f"    if rank + 1 < {end}:", f"        dist.send({tensor}, dst=rank + 1)", f"elif rank > {2 * first}:",
                  f"    dist.recv({tensor}, src=rank - 1)")
    elif kind == "chain":
        draft.add(f"if rank > {first}:", f"    dist.recv({tensor}, src=rank - 1)", f"if rank < {end} - 1:", f"    dist.send({tensor}, dst=rank + 1)")
    else:
        draft.add(f"request = dist.isend({tensor}, (rank + 1) % world)", f"dist.recv({tensor}, (rank - {first + 1}) % world)", "request.wait()")


def made_once(draft, wrong):
    """A group that is made where a rank asks for it first."""
    name, kept = draft.fresh("get_group"), draft.fresh("_group")
    if draft.chance(0.6):
        draft.define("""
            {kept} = None
            def {name}():
                global {kept}
                if {kept} is None:
                    {kept} = dist.new_group()
                return {kept}
        """, name=name, kept=kept)
    else:
        draft.imports.add("import functools")
        draft.define("""
            @functools.lru_cache(maxsize=None)
            def {name}():
                return dist.new_group()
        """, name=name)
    if not wrong:
        draft.add(f"dist.barrier(group={name}())")
    draft.add(*decided(draft, differing(draft), [f"print({name}())"], work(draft)))
    draft.add(*draft.choose([[], [f"dist.all_reduce(torch.ones(1), group={name}())"]]))


def group_made(draft, wrong):
    """Groups made by all ranks in the same order, or not."""
    group = draft.fresh("made")
    if not wrong:
        draft.add(f"{group} = [dist.new_group([r]) for r in range(world)]")
    elif draft.chance(0.5):
        draft.add(*decided(draft, differing(draft), [f"{group} = dist.new_group([0, 1])"], work(draft)))
    else:
        draft.add(draft.choose([f"{group} = dist.new_group([rank])", f"{group} = [dist.new_group([r]) for r in range(world) if r <= rank]",
                                f"{group} = dist.new_group([rank // 2 * 2])"]))


def handled(draft, wrong):
    """Work that fails on some ranks, in a handler that goes on."""
    condition = differing(draft) if wrong else uniform(draft)
    block = operations(draft, Group())
    body = [f"if {condition}:", '    raise ValueError("bad sample")']
    # Wrong: who fails leaves out the operations.
    if wrong:
        draft.add("try:", *indent(body + block), f"except {draft.choose(['ValueError', 'Exception'])}:", *indent(work(draft)))
    else:
        draft.add("try:", *indent(body), f"except {draft.choose(['ValueError', 'Exception'])}:", *indent(work(draft)), *block)


def ranks_matched(draft, wrong):
    """A match statement over the rank."""
    draft.note("form", "match on the rank")
    block = operations(draft, Group())
    head = draft.choose(["match rank:", "match dist.get_rank():", "match (rank, world):"])
    cases = ["case (0, _):", "case (1, n) if n > 1:"] if "(rank" in head else ["case 0:", draft.choose(["case 1 | 2:", "case n if n > 2:"])]
    arms = [block, work(draft) if wrong else block, block]
    draft.rng.shuffle(arms)
    draft.add(head, *indent([line for case, arm in zip(cases + ["case _:"], arms) for line in (case, *indent(arm))]))


def comprehension(draft, wrong):
    """An operation for each item of a comprehension."""
    over = draft.choose(WRONG_ROUNDS[:4] if wrong else RIGHT_ROUNDS[:4])
    call = draft.lift(all_reduce(draft, Group()) + ["return 1"], "sync")
    draft.note("form", "comprehension")
    draft.add(draft.choose([f"results = [{call} for _ in {over}]", f"results = sum({call} for _ in {over})", f"results = {{_: {call} for _ in {over}}}"]))


def nested(draft, wrong):
    """A condition within another one."""
    outer = uniform(draft)
    inner = differing(draft) if wrong else uniform(draft)
    block = draft.choose([barrier, all_reduce])(draft, Group())
    if not wrong and draft.chance(0.5):
        outer = differing(draft)
        draft.add(*decided(draft, f"({outer}) and not ({outer})", block, work(draft)))
        return
    draft.add(*decided(draft, outer, [f"if {inner}:", *indent(block)] + work(draft), work(draft)))


PATTERNS = [plain] * 2 + [one_arm] * 6 + [arms_of_group] * 4 + [two_arms] * 4 + [one_first] * 2 + [main_first, rounds, rounds, loop_with_exit, loop_with_exit,
            everybody_leaves, root, root, reduction, order, messages, messages, made_once, group_made, handled, ranks_matched, comprehension, nested]
