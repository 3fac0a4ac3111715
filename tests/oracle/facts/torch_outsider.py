"""Who is no member of a group gets a warning from an operation on it, and goes on with what it had."""

import warnings

import torch
import torch.distributed as dist

PROVES = "AR109: an outsider of a group"


def check(rank, _world):
    group = dist.new_group([0])
    x = torch.full((1,), float(rank))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        handle = dist.all_reduce(x, group=group, async_op=True)
    if rank == 1:
        assert handle is None and any("does not belong to the given group" in str(one.message) for one in said)
        assert dist.get_rank(group) == -1
