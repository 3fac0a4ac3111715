"""Groups in the ways that people make them, and operations on them."""

from dataclasses import dataclass, field

from carriers import carry


@dataclass
class Group:
    """A group as a program sees it: `name` is None for the default group."""

    name: str = None
    # Conditions that hold on its members, and only there; empty if every rank is in one such group.
    members: list = field(default_factory=list)
    # Global ranks in it, and its size, as expressions.
    roots: list = field(default_factory=lambda: ["0", "0", "1", "world - 1"])
    size: str = "world"
    # Conditions that single out ranks within it.
    inside: list = field(default_factory=list)

    def argument(self):
        return f", group={self.name}" if self.name else ""


def default(draft):
    return Group()


def of_list(draft):
    ranks, group = draft.fresh("ranks"), draft.fresh("group")
    value, conditions, roots, size = draft.choose([
        ("[0, 1]", ["rank in {ranks}", "rank < 2", "rank in (0, 1)"], ["0", "1", "{ranks}[0]"], "2"),
        ("list(range(world))[1:]", ["rank in {ranks}", "rank > 0", "rank != 0"], ["1", "{ranks}[0]", "world - 1"], "world - 1"),
        ("list(range(0, world, 2))", ["rank in {ranks}", "rank % 2 == 0", "not rank % 2"], ["0", "{ranks}[0]", "min({ranks})"], "len({ranks})"),
        ("[r for r in range(world) if r % 2 == 0]", ["rank in {ranks}", "rank % 2 == 0"], ["0", "{ranks}[0]"], "len({ranks})"),
        ("[r for r in range(world) if r != 0]", ["rank in {ranks}", "rank != 0"], ["1", "{ranks}[0]", "{ranks}[-1]"], "len({ranks})"),
        ("list(range(world // 2 + 1))", ["rank in {ranks}", "rank <= world // 2"], ["0", "{ranks}[-1]"], "world // 2 + 1"),
        ("[0] + [world - 1]", ["rank in {ranks}", "rank in (0, world - 1)", "rank == 0 or rank == world - 1"], ["0", "world - 1"], "2"),
        ("sorted({{0, 1}})", ["rank in {ranks}", "rank <= 1"], ["0", "1"], "len({ranks})"),
    ])
    draft.add(f"{ranks} = {value.format()}")
    draft.add(f"{group} = dist.new_group({ranks})" if draft.chance(0.7) else f"{group} = dist.new_group(ranks={ranks}, backend='gloo')")
    fill = [text.format(ranks=ranks) for text in conditions]
    fill.append(f"{group} != dist.GroupMember.NON_GROUP_MEMBER")
    inside = [f"rank == {ranks}[0]", f"dist.get_rank({group}) == 0", f"{ranks}.index(rank) == 0"]
    return Group(group, fill, [text.format(ranks=ranks) for text in roots], size.format(ranks=ranks), inside)


def by_loop(draft):
    """A family made in a loop: every rank keeps the one it is in."""
    mine, ranks, group, kept = draft.fresh("mine"), draft.fresh("members"), draft.fresh("each"), draft.fresh("own_ranks")
    head, value = draft.choose([
        ("for start in range(0, world, 2):", "list(range(start, min(start + 2, world)))"),
        ("for i in range(2):", "list(range(i, world, 2))"),
        ("for i in range(2):", "[r for r in range(world) if r % 2 == i]"),
        ("for i in range((world + 1) // 2):", "range(2 * i, min(2 * i + 2, world))"),
    ])
    draft.add(f"{mine} = None", head, f"    {ranks} = {value}", f"    {group} = dist.new_group({ranks})", f"    if rank in {ranks}:",
              f"        {mine} = {group}", f"        {kept} = {ranks}")
    inside = [f"dist.get_rank({mine}) == 0", f"rank == {kept}[0]", f"dist.get_rank(group={mine}) != 0"]
    return Group(mine, [], [f"{kept}[0]", f"min({kept})"], f"len({kept})", inside)


def by_subgroups(draft):
    mine, rest = draft.fresh("subgroup"), draft.fresh("subgroups")
    draft.add(f"{mine}, {rest} = dist.new_subgroups(2)" if draft.chance(0.5) else f"{mine}, {rest} = dist.new_subgroups(group_size=2)")
    return Group(mine, [], ["rank // 2 * 2", "rank - rank % 2"], "2", [f"dist.get_rank({mine}) == 0", "rank % 2 == 0"])


def by_enumeration(draft):
    mine, rest = draft.fresh("part"), draft.fresh("all_parts")
    draft.add(f"{mine}, {rest} = dist.new_subgroups_by_enumeration([list(range(0, world, 2)), list(range(1, world, 2))])")
    return Group(mine, [], ["rank % 2"], f"dist.get_world_size({mine})", [f"dist.get_rank({mine}) == 0", "rank < 2"])


def by_comprehension(draft):
    groups, mine = draft.fresh("groups"), draft.fresh("own")
    draft.add(f"{groups} = [dist.new_group(list(range(i, world, 2))) for i in range(2)]", f"{mine} = {groups}[rank % 2]")
    return Group(mine, [], ["rank % 2"], f"dist.get_world_size({mine})", [f"dist.get_rank({mine}) == 0", "rank < 2"])


def by_mesh(draft):
    mesh, group = draft.fresh("mesh"), draft.fresh("dim_group")
    draft.imports.add("from torch.distributed.device_mesh import init_device_mesh")
    draft.add(f'{mesh} = init_device_mesh("cuda", (2, world // 2), mesh_dim_names=("dp", "tp"))' if draft.chance(0.5) else
              f'{mesh} = init_device_mesh("cuda", (world // 2, 2), mesh_dim_names=("dp", "tp"))')
    dim, other = draft.choose([("dp", "tp"), ("tp", "dp")])
    draft.add(f'{group} = {draft.choose([f"{mesh}.get_group({dim!r})", f"{mesh}[{dim!r}].get_group()"])}')
    inside = [f"{mesh}.get_local_rank({dim!r}) == 0", f"{mesh}[{dim!r}].get_local_rank() == 0", f"dist.get_rank({group}) == 0"]
    # Members of one group share their place along the other dimension.
    alike = [f"{mesh}.get_local_rank({other!r}) == 0", f"{mesh}[{other!r}].get_local_rank() != 0"]
    return Group(group, [], [f"dist.get_global_rank({group}, 0)"], f"{mesh}.size({0 if dim == 'dp' else 1})", inside + alike)


def whole(draft):
    group = draft.fresh("everyone")
    draft.add(f"{group} = {draft.choose(['dist.new_group()', 'dist.new_group(list(range(world)))', 'dist.new_group(range(world))', 'dist.group.WORLD'])}")
    return Group(group)


KINDS = [default] * 6 + [of_list] * 3 + [by_loop] * 2 + [by_subgroups, by_enumeration, by_comprehension, by_mesh, whole]
COMPLETE = [default] * 4 + [by_loop, by_subgroups, by_enumeration, by_comprehension, by_mesh, whole]


def group_of(draft, kinds=KINDS):
    kind = draft.choose(kinds)
    draft.note("group", kind.__name__.replace("_", " "))
    group = kind(draft)
    if group.name:
        group.name = carry(draft, group.name) if draft.chance(0.3) else group.name
    return group


# Operations, as blocks that need nothing but the names of `main`.

def barrier(draft, group):
    return [f"dist.barrier({'group=' + group.name if group.name else ''})"]


def all_reduce(draft, group):
    tensor = draft.fresh("x")
    reduction = draft.choose(["", "", ", op=dist.ReduceOp.MAX"])
    return [f"{tensor} = torch.ones(1)", f"dist.all_reduce({tensor}{reduction}{group.argument()})"]


def all_reduce_later(draft, group):
    tensor, work = draft.fresh("grad"), draft.fresh("work")
    return [f"{tensor} = torch.ones(2)", f"{work} = dist.all_reduce({tensor}{group.argument()}, async_op=True)", f"{work}.wait()"]


def broadcast(draft, group):
    return [f"dist.broadcast(torch.zeros(1), src={draft.choose(group.roots)}{group.argument()})"]


def reduce(draft, group):
    return [f"dist.reduce(torch.ones(1), dst={draft.choose(group.roots)}{group.argument()})"]


def all_gather(draft, group):
    outs = draft.fresh("outs")
    return [f"{outs} = [torch.zeros(1) for _ in range({group.size})]", f"dist.all_gather({outs}, torch.ones(1){group.argument()})"]


def reduce_scatter(draft, group):
    out = draft.fresh("out")
    return [f"{out} = torch.zeros(1)", f"dist.reduce_scatter({out}, [torch.ones(1) for _ in range({group.size})]{group.argument()})"]


def gather(draft, group):
    root, outs = draft.choose(group.roots), draft.fresh("bins")
    return [f"{outs} = [torch.zeros(1) for _ in range({group.size})] if rank == {root} else None", f"dist.gather(torch.ones(1), {outs}, dst={root}{group.argument()})"]


def scatter(draft, group):
    root, parts = draft.choose(group.roots), draft.fresh("shards")
    return [f"{parts} = [torch.ones(1) for _ in range({group.size})] if rank == {root} else None", f"dist.scatter(torch.zeros(1), {parts}, src={root}{group.argument()})"]


def all_gather_object(draft, group):
    outs = draft.fresh("objects")
    return [f"{outs} = [None] * {group.size}", f"dist.all_gather_object({outs}, rank{group.argument()})"]


def broadcast_object_list(draft, group):
    return [f'dist.broadcast_object_list(["a"], src={draft.choose(group.roots)}{group.argument()})']


OPERATIONS = [barrier] * 3 + [all_reduce] * 3 + [all_reduce_later] + [broadcast] * 2 + [reduce, all_gather, reduce_scatter, gather, scatter,
                                                                                       all_gather_object, broadcast_object_list]


def operation(draft, group, other_than=None):
    kind = draft.choose([each for each in OPERATIONS if each is not other_than])
    draft.note("operation", kind.__name__.replace("_", " "))
    return kind, kind(draft, group)


def operations(draft, group):
    """A block with one or two operations."""
    return [line for _ in range(draft.choose([1, 1, 2])) for line in operation(draft, group)[1]]


WORK = ['print("saving")', "total = rank + 1", 'log = {"rank": rank}', "torch.zeros(3).sum()", "names = [str(i) for i in range(3)]"]


def work(draft):
    """A block that no other rank takes part in."""
    return [draft.choose(WORK)]
