"""A root that is not in the group is an error."""

import torch
import torch.distributed as dist

PROVES = "AR109: a root outside the group"


def check(rank, _world):
    group = dist.new_group([1])
    if rank == 1:
        try:
            dist.broadcast(torch.ones(1), src=0, group=group)
        except ValueError as error:
            assert "is not part of group" in str(error)
        else:
            raise AssertionError("nothing was raised")
