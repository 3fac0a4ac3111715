"""Conditions in the spellings that people use: those that tell ranks apart, and those that only look as if they did.

A condition may rest on a *number* (the rank, from one of several sources), on text of the environment, on data, or on a
setting. Numbers and conditions go through carriers, so that their origin is rarely in sight where they are tested.
"""

from carriers import carry


def _os(draft):
    draft.imports.add("import os")


def asked(draft):
    return "dist.get_rank()"


def asked_before(draft):
    return "rank"


def from_environment(draft):
    _os(draft)
    return draft.choose(['int(os.environ["RANK"])', 'int(os.environ.get("RANK", 0))', 'int(os.getenv("RANK", "0"))', 'int(os.environ.get("RANK", "-1"))'])


def local_from_environment(draft):
    _os(draft)
    return draft.choose(['int(os.environ["LOCAL_RANK"])', 'int(os.environ.get("LOCAL_RANK", 0))', 'int(os.getenv("LOCAL_RANK", "0"))'])


def from_own_function(draft):
    name = draft.fresh("get_rank")
    draft.define("""
        def {name}():
            if not dist.is_available() or not dist.is_initialized():
                return 0
            return dist.get_rank()
    """, name=name)
    return f"{name}()"


SOURCES = [asked, asked_before, asked_before, from_environment, local_from_environment, from_own_function]

# {r}: the rank, {w}: the number of ranks.
ON_RANK = {
    "equals": ["{r} == 0", "0 == {r}", "{r} == 1", "not {r}"],
    "unequal": ["{r} != 0", "{r} > 0", "{r} >= 1", "not {r} == 0", "bool({r})"],
    "last": ["{r} == {w} - 1", "{r} + 1 == {w}", "{r} != {w} - 1", "{r} < {w} - 1", "({r} + 1) % {w} == 0"],
    "in a list": ["{r} in (0, 1)", "{r} in [0]", "{r} not in (0,)", "{r} in {{0, 2}}", "{r} in (-1, 0)", "{r} not in [-1, 0]", "{r} in (0, {w} - 1)"],
    "in a range": ["{r} in range(1)", "{r} in range(1, {w})", "{r} in list(range({w}))[1:]", "{r} in range({w})[::2]", "{r} in [i for i in range({w}) if i % 2]"],
    "half": ["{r} < {w} // 2", "{r} >= {w} // 2", "2 * {r} < {w}", "{r} // 2 == 0"],
    "parity": ["{r} % 2 == 0", "{r} % 2", "{r} & 1", "not {r} % 2", "divmod({r}, 2)[1] == 1"],
    "middle": ["0 < {r} < {w} - 1", "{r} > 0 and {r} < {w} - 1", "{r} == 0 or {r} == {w} - 1", "not (0 < {r} < {w} - 1)"],
    "less": ["{r} < 1", "{r} <= 0", "{r} <= 1", "1 > {r}"],
    "as text": ["str({r}) == '0'", "f'{{{r}}}' == '0'", "str({r}) in ('0', '1')"],
    "of a list": ["{r} == min(range({w}))", "{r} == max(range({w}))", "{r} == [1, 0][0]", "{r} == sorted([1, 0])[0]", "{r} == len([])"],
    "any": ["any({r} == i for i in (0, 1))", "all({r} != i for i in [0])", "sum(1 for i in range({r})) == 0"],
}
ON_TEXT = ['os.environ.get("RANK", "0") == "0"', 'os.environ["RANK"] == "0"', 'os.environ["RANK"] != "0"', 'os.getenv("RANK") in (None, "0")',
           'os.environ.get("LOCAL_RANK", "0") == "0"', 'os.environ["RANK"] in ("0", "1")', 'os.getenv("RANK", "0") not in ["0"]',
           'os.environ["RANK"].strip() == "0"', 'os.environ.get("RANK") == str(0)']


def on_rank(draft):
    source, kind = draft.choose(SOURCES), draft.choose(sorted(ON_RANK))
    draft.note("rank", source.__name__.replace("_", " "))
    draft.note("condition", kind)
    number = carry(draft, source(draft))
    world = draft.choose(["world", "dist.get_world_size()"])
    return draft.choose(ON_RANK[kind]).format(r=number, w=world)


def on_text(draft):
    _os(draft)
    draft.note("condition", "text of the environment")
    return draft.choose(ON_TEXT)


def is_main(draft):
    draft.note("condition", "helper that asks")
    name = draft.fresh(draft.choose(["is_main_process", "is_main", "is_master", "is_rank_zero"]))
    body = draft.choose(["return dist.get_rank() == 0", "return not dist.get_rank()", "if dist.get_rank() == 0:\n        return True\n    return False",
                         "if dist.get_rank() != 0:\n        return False\n    return True",
                         "return not dist.is_initialized() or dist.get_rank() == 0"])
    draft.top.append(f"def {name}():\n    {body}")
    return draft.choose([f"{name}()", f"not {name}()"])


def on_data(draft):
    draft.note("condition", "data of the rank")
    name = draft.fresh("loss")
    draft.add(f"{name} = torch.rand(1)")
    return draft.choose([f"{name}.item() > 0.5", f"{name} > 0.5", f"float({name}) < 0.5", f"{name}.mean().item() > 0.5"])


DIFFERING = [on_rank] * 7 + [on_text, is_main, on_data]


def differing(draft):
    """A condition that holds on some ranks only, in some world."""
    return carry(draft, draft.choose(DIFFERING)(draft))


# What holds on all ranks or on none.

def on_size(draft):
    draft.note("uniform", "number of ranks")
    return draft.choose(["world > 1", "world % 2 == 0", "dist.get_world_size() > 2", "world == 1", "world // 2 > 1", "rank < world", "0 <= rank", "rank in range(world)"])


def on_setting(draft):
    draft.imports.add("import argparse")
    draft.note("uniform", "setting")
    parser, args = draft.fresh("parser"), draft.fresh("args")
    draft.add(f"{parser} = argparse.ArgumentParser()", f'{parser}.add_argument("--debug", action="store_true")',
              f'{parser}.add_argument("--steps", type=int, default=2)', f"{args} = {parser}.parse_args()")
    return draft.choose([f"{args}.debug", f"not {args}.debug", f"{args}.debug and world > 1", f"{args}.steps > 1"])


# What ranks agree on below rests on their data, so that it comes out one way in one job and the other way in another.

def own_flag(draft):
    return draft.choose(["float(torch.rand(1) > 0.5)", "float(torch.rand(1).item() > 0.6)", "float(torch.rand(1) > 0.5 and rank < 2)"])


def on_reduced_flag(draft):
    draft.note("uniform", "reduced flag")
    flag = draft.fresh("flag")
    reduction = draft.choose(["", ", op=dist.ReduceOp.MAX", ", op=dist.ReduceOp.SUM", ", op=dist.ReduceOp.MIN"])
    draft.add(f"{flag} = torch.tensor([{own_flag(draft)}])", f"dist.all_reduce({flag}{reduction})")
    return draft.choose([f"{flag}.item() > 0", f"bool({flag}.item())", f"int({flag}) >= 1", f"{flag}[0] > 0"])


def on_reduced_loss(draft):
    draft.note("uniform", "reduced loss")
    loss = draft.fresh("loss")
    draft.add(f"{loss} = torch.rand(1)", f"dist.all_reduce({loss})")
    return draft.choose([f"{loss}.item() > world / 2", f"({loss} / world).item() > 0.5", f"{loss} < world / 2"])


def on_broadcast(draft):
    draft.note("uniform", "broadcast value")
    name = draft.fresh("choice")
    draft.add(f"{name} = torch.tensor([{own_flag(draft)}])", f"dist.broadcast({name}, src={draft.choose([0, 1])})")
    return draft.choose([f"{name}.item() > 0", f"int({name}.item()) == 1", f"{name} == 0"])


def on_broadcast_object(draft):
    draft.note("uniform", "broadcast object")
    name = draft.fresh("shared")
    draft.add(f"{name} = [{own_flag(draft)} if rank == 0 else None]", f"dist.broadcast_object_list({name}, src=0)")
    return draft.choose([f"{name}[0] == 0", f"{name}[0]"])


def on_gathered_objects(draft):
    draft.note("uniform", "gathered objects")
    name = draft.fresh("all_scores")
    draft.add(f"{name} = [None] * world", f"dist.all_gather_object({name}, torch.rand(1).item())")
    return draft.choose([f"max({name}) > 0.7", f"sum({name}) > world / 2", f"{name}[0] < 0.5", f"any(score > 0.8 for score in {name})"])


def on_gathered_tensors(draft):
    draft.note("uniform", "gathered tensors")
    name = draft.fresh("parts")
    draft.add(f"{name} = [torch.zeros(1) for _ in range(world)]", f"dist.all_gather({name}, torch.rand(1))")
    return draft.choose([f"sum(part.item() for part in {name}) > world / 2", f"{name}[0].item() > 0.5", f"max(part.item() for part in {name}) > 0.7"])


UNIFORM = [on_size, on_setting, on_reduced_flag, on_reduced_loss, on_broadcast, on_broadcast_object, on_gathered_objects, on_gathered_tensors]


def uniform(draft):
    """A condition that holds on all ranks or on none, in each world."""
    return carry(draft, draft.choose(UNIFORM)(draft))
