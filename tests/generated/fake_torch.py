"""What a generated program imports as `torch`: numbers in lists, and a torch.distributed whose ranks are those of a job.

Only what generated programs use is here, and it behaves as PyTorch documents it: roots and peers are global ranks, groups
are made by all ranks alike, who is no member of a group gets GroupMember.NON_GROUP_MEMBER, and what PyTorch refuses raises.
"""

import math
import random
from types import SimpleNamespace

from match import Call
from record import Impossible, Pending, Undefined


class Tensor:
    """Some numbers, known or still to come."""

    def __init__(self, values):
        self._values = values if isinstance(values, Pending) else list(values)
        self._count = None if isinstance(values, Pending) else len(self._values)

    @property
    def values(self):
        if isinstance(self._values, Pending):
            self._values = list(self._values.values())
        return self._values

    def as_given(self):
        """The numbers as they are now, or where they will be."""
        return self._values if isinstance(self._values, Pending) else list(self._values)

    def receive(self, call, part=None):
        """From now on these are the numbers of the call's result."""
        self._values = Pending(call, part)

    def item(self):
        if len(self.values) != 1:
            raise RuntimeError("a Tensor with several elements has no item")
        return self.values[0]

    def tolist(self):
        return list(self.values)

    def clone(self):
        copy = Tensor(self.as_given())
        copy._count = self._count
        return copy

    def same(self, *_, **__):
        return self

    cuda = cpu = to = float = int = detach = contiguous = same

    def numel(self):
        return self._count

    __len__ = numel

    def sum(self):
        return Tensor([sum(self.values)])

    def mean(self):
        return Tensor([sum(self.values) / len(self.values)])

    def fill_(self, value):
        self._values = [value] * self._count
        return self

    def add_(self, other):
        self._values = self._with(other, lambda a, b: a + b).values
        return self

    def copy_(self, other):
        self._values = other.as_given()
        return self

    def _with(self, other, function):
        others = other.values if isinstance(other, Tensor) else [other] * len(self.values)
        return Tensor(map(function, self.values, others))

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._with(other, lambda a, b: a / b)

    __radd__, __rmul__ = __add__, __mul__

    def __gt__(self, other):
        return self._with(other, lambda a, b: a > b)

    def __ge__(self, other):
        return self._with(other, lambda a, b: a >= b)

    def __lt__(self, other):
        return self._with(other, lambda a, b: a < b)

    def __eq__(self, other):
        return self._with(other, lambda a, b: a == b)

    def __ne__(self, other):
        return self._with(other, lambda a, b: a != b)

    __hash__ = None

    def __bool__(self):
        return bool(self.item())

    def __int__(self):
        return int(self.item())

    def __float__(self):
        return float(self.item())

    def __getitem__(self, index):
        return Tensor([self.values[index]])

    def __setitem__(self, index, value):
        self.values[index] = value.item() if isinstance(value, Tensor) else value


# What members give and get, by rank. Each of these is the `combine` of a Call.

REDUCTIONS = {"SUM": sum, "MAX": max, "MIN": min, "PRODUCT": math.prod}


def numbers(values):
    return values.values() if isinstance(values, Pending) else values


def reduced(given, call):
    return [REDUCTIONS[call.reduction](column) for column in zip(*map(numbers, given.values()))]


def all_reduced(given, call):
    return dict.fromkeys(given, reduced(given, call))


def all_of_root(given, call):
    return dict.fromkeys(given, numbers(given[call.root]))


def all_gathered(given, _):
    return dict.fromkeys(given, [numbers(values) for values in given.values()])


def spread(given, call):
    return dict(zip(given, map(numbers, given[call.root])))


def reduced_parts(given, call):
    """The n-th member gets the reduction of the n-th parts."""
    return {rank: reduced({other: parts[place] for other, parts in given.items()}, call) for place, rank in enumerate(given)}


def exchanged(given, _):
    return {rank: [numbers(parts[place]) for parts in given.values()] for place, rank in enumerate(given)}


class Work:
    def __init__(self, rank, call, take):
        self._rank, self._call, self._take = rank, call, take

    def wait(self, *_):
        if not self._call.waited:
            self._rank.wait(self._call)
        self._take(self._call)
        return True


class Mesh:
    """A grid of ranks, the last dimension varying fastest, with the group of this rank along each dimension."""

    def __init__(self, distributed, shape, names, groups):
        self._distributed, self.shape, self.mesh_dim_names, self._groups = distributed, shape, names, groups

    def _place(self, dim):
        return self.mesh_dim_names.index(dim) if isinstance(dim, str) else dim or 0

    def get_group(self, mesh_dim=None):
        return self._groups[self._place(mesh_dim)]

    def get_local_rank(self, mesh_dim=None):
        return self._distributed.get_rank(self.get_group(mesh_dim))

    def size(self, mesh_dim=None):
        return math.prod(self.shape) if mesh_dim is None else self.shape[self._place(mesh_dim)]

    def get_coordinate(self):
        return [self.get_local_rank(dim) for dim in range(len(self.shape))]

    def __getitem__(self, name):
        place = self._place(name)
        return Mesh(self._distributed, (self.shape[place],), (name,), (self._groups[place],))


def _parts(tensors):
    return [tensor.as_given() for tensor in tensors or ()]


def _receive(tensor):
    return lambda call: tensor.receive(call)


def _receive_each(tensors, count):
    if len(tensors) != count:
        raise ValueError(f"{len(tensors)} tensors for a group of {count}")

    def take(call):
        for place, tensor in enumerate(tensors):
            tensor.receive(call, place)
    return take


def _keep(_):
    pass


class Distributed:
    """torch.distributed as one rank sees it."""

    NOT_A_MEMBER = -100
    ReduceOp = SimpleNamespace(**{name: name for name in REDUCTIONS})
    GroupMember = SimpleNamespace(WORLD=None, NON_GROUP_MEMBER=NOT_A_MEMBER)
    group = GroupMember
    ProcessGroup = object

    def __init__(self, job, rank):
        self._job, self._rank = job, rank
        self._initialized = False
        self.device_mesh = SimpleNamespace(init_device_mesh=self.init_device_mesh)

    # Who am I.

    def is_available(self):
        return True

    def is_initialized(self):
        return self._initialized

    def get_rank(self, group=None):
        ranks = self._members(group)
        return ranks.index(self._rank.number) if self._rank.number in ranks else -1

    def get_world_size(self, group=None):
        return len(self._members(group)) or -1

    def get_global_rank(self, group, group_rank):
        return self._members(group)[group_rank]

    def get_process_group_ranks(self, group):
        return list(self._members(group))

    def _members(self, group):
        return () if group == self.NOT_A_MEMBER else (group or self._job.world).ranks

    # Groups.

    def init_process_group(self, *_, **__):
        self._together("init_process_group")
        self._initialized = True

    def destroy_process_group(self, group=None):
        self._initialized = self._initialized and group is not None

    def _together(self, what, members=None):
        self._rank.issue(Call(what, self._job.world, size=members))

    def new_group(self, ranks=None, timeout=None, backend=None):
        members = tuple(sorted(range(self._job.size) if ranks is None else ranks))
        if len(set(members)) < len(members) or not members or members[0] < 0 or members[-1] >= self._job.size:
            raise Impossible(f"no group of {members} in a job of {self._job.size}")
        self._together("new_group", members)
        # PyTorch names groups by counting, also on ranks that are not members.
        group = self._job.group(self._rank, "new_group", members)
        return group if self._rank.number in members else self.NOT_A_MEMBER

    def new_subgroups(self, group_size):
        if self._job.size % group_size:
            raise Impossible("the world size must be divisible by the group size")
        return self.new_subgroups_by_enumeration([list(range(first, first + group_size)) for first in range(0, self._job.size, group_size)])

    def new_subgroups_by_enumeration(self, ranks_per_subgroup_list):
        groups = [self.new_group(ranks) for ranks in ranks_per_subgroup_list]
        return next((group for group in groups if group != self.NOT_A_MEMBER), None), groups

    def init_device_mesh(self, device_type, mesh_shape, mesh_dim_names=None):
        shape, stride, groups = tuple(mesh_shape), self._job.size, []
        if math.prod(shape) != self._job.size:
            raise Impossible(f"a mesh of {shape} in a job of {self._job.size}")
        self._together("init_device_mesh", shape)
        for extent in shape:
            stride //= extent
            first = self._rank.number - self._rank.number // stride % extent * stride
            groups.append(self._job.group(self._rank, "init_device_mesh", tuple(range(first, first + extent * stride, stride))))
        return Mesh(self, shape, tuple(mesh_dim_names or range(len(shape))), groups)

    # Collectives.

    def _collective(self, group, async_op, call, take=_keep):
        """`take` puts the result of the call where the program wants it."""
        call.group, call.blocks = group or self._job.world, not async_op
        if call.reduction not in (None, *REDUCTIONS):
            raise ValueError(f"{call.reduction} is no reduction")
        if self._rank.number not in self._members(group):
            raise Undefined(f"{call.kind} on a group that the rank is no member of")
        if call.root is not None and call.root not in call.group.ranks:
            raise Undefined(f"rank {call.root} is not part of group {call.group.ranks}")
        call = self._rank.issue(call)
        if async_op:
            return Work(self._rank, call, take)
        take(call)
        return None

    def _is(self, rank):
        return rank == self._rank.number

    def _root(self, group, rank, group_rank):
        return self._members(group)[group_rank] if group_rank is not None else rank or 0

    def _only_on(self, root, argument):
        if (argument is not None) != self._is(root):
            raise ValueError(f"a list on rank {root}, and there only")

    def barrier(self, group=None, async_op=False, device_ids=None):
        return self._collective(group, async_op, Call("barrier"))

    def all_reduce(self, tensor, op="SUM", group=None, async_op=False):
        call = Call("all_reduce", reduction=op, size=len(tensor), gives=tensor.as_given(), combine=all_reduced)
        return self._collective(group, async_op, call, _receive(tensor))

    def reduce(self, tensor, dst=None, op="SUM", group=None, async_op=False, group_dst=None):
        root = self._root(group, dst, group_dst)
        call = Call("reduce", root=root, reduction=op, size=len(tensor), gives=tensor.as_given(), combine=all_reduced)
        return self._collective(group, async_op, call, _receive(tensor) if self._is(root) else _keep)

    def broadcast(self, tensor, src=None, group=None, async_op=False, group_src=None):
        root = self._root(group, src, group_src)
        call = Call("broadcast", root=root, size=len(tensor), gives=tensor.as_given(), combine=all_of_root)
        return self._collective(group, async_op, call, _receive(tensor))

    def all_gather(self, tensor_list, tensor, group=None, async_op=False):
        call = Call("all_gather", size=len(tensor), gives=tensor.as_given(), combine=all_gathered)
        return self._collective(group, async_op, call, _receive_each(tensor_list, self.get_world_size(group)))

    def gather(self, tensor, gather_list=None, dst=0, group=None, async_op=False):
        self._only_on(dst, gather_list)
        call = Call("gather", root=dst, size=len(tensor), gives=tensor.as_given(), combine=all_gathered)
        return self._collective(group, async_op, call, _receive_each(gather_list, self.get_world_size(group)) if gather_list else _keep)

    def scatter(self, tensor, scatter_list=None, src=0, group=None, async_op=False):
        self._only_on(src, scatter_list)
        call = Call("scatter", root=src, size=len(tensor), gives=_parts(scatter_list), combine=spread)
        return self._collective(group, async_op, call, _receive(tensor))

    def reduce_scatter(self, output, input_list, op="SUM", group=None, async_op=False):
        call = Call("reduce_scatter", reduction=op, size=len(output), gives=_parts(input_list), combine=reduced_parts)
        return self._collective(group, async_op, call, _receive(output))

    def all_to_all(self, output_tensor_list, input_tensor_list, group=None, async_op=False):
        call = Call("all_to_all", gives=_parts(input_tensor_list), combine=exchanged)
        return self._collective(group, async_op, call, _receive_each(output_tensor_list, self.get_world_size(group)))

    # Objects: their result is read at once, as a list has no way to be late.

    def _objects(self, group, call, objects):
        kept = []
        self._collective(group, False, call, kept.append)
        if objects is not None:
            objects[:] = Pending(kept[0]).values()

    def all_gather_object(self, object_list, obj, group=None):
        self._objects(group, Call("all_gather_object", gives=obj, combine=all_gathered), object_list)

    def broadcast_object_list(self, object_list, src=0, group=None):
        call = Call("broadcast_object_list", root=src, size=len(object_list), gives=list(object_list), combine=all_of_root)
        self._objects(group, call, object_list)

    def gather_object(self, obj, object_gather_list=None, dst=0, group=None):
        self._only_on(dst, object_gather_list)
        self._objects(group, Call("gather_object", root=dst, gives=obj, combine=all_gathered), object_gather_list)

    # Messages.

    def _message(self, kind, tensor, peer, blocks):
        if not 0 <= peer < self._job.size or self._is(peer):
            raise Undefined(f"rank {self._rank.number} has no peer {peer}")
        return self._rank.issue(Call(kind, gives=tensor.as_given(), peer=peer, blocks=blocks))

    def send(self, tensor, dst, group=None, tag=0):
        self._job.sends_block = True
        self._message("send", tensor, dst, True)

    def recv(self, tensor, src, group=None, tag=0):
        tensor.receive(self._message("recv", tensor, src, True))

    def isend(self, tensor, dst, group=None, tag=0):
        return Work(self._rank, self._message("send", tensor, dst, False), _keep)

    def irecv(self, tensor, src, group=None, tag=0):
        return Work(self._rank, self._message("recv", tensor, src, False), _receive(tensor))


# Draws in which each rank has numbers of its own; after them one in which all numbers are high, and one in which all are low.
OWN_DRAWS = 2
ALIKE = (0.9, 0.1)


def _numbers(data, job, rank):
    """A source of random numbers for a rank."""
    if data < OWN_DRAWS:
        return random.Random(data * job.size + rank.number)
    return SimpleNamespace(random=lambda: ALIKE[data - OWN_DRAWS])


class Torch:
    """torch as one rank sees it: random numbers differ from rank to rank until they are seeded."""

    Tensor = Tensor
    float32 = "float32"

    def __init__(self, job, rank, data):
        self.distributed = Distributed(job, rank)
        self._random = _numbers(data, job, rank)
        self.cuda = SimpleNamespace(set_device=lambda *_: None, device_count=lambda: job.per_node, is_available=lambda: True,
                                    current_device=lambda: rank.number % job.per_node)

    def manual_seed(self, seed):
        self._random = random.Random(seed)

    def tensor(self, data, **_):
        return Tensor(data if isinstance(data, (list, tuple)) else [data])

    def full(self, size, value, **_):
        return Tensor([value] * math.prod(size))

    def zeros(self, *size, **_):
        return self.full(size, 0)

    def ones(self, *size, **_):
        return self.full(size, 1)

    def rand(self, *size, **_):
        return Tensor([self._random.random() for _ in range(math.prod(size))])

    def zeros_like(self, tensor):
        return self.zeros(len(tensor))

    ones_like = empty_like = zeros_like

    def device(self, *_):
        return None
