"""A rank that creates a group of several alone waits there."""

import torch.distributed as dist

PROVES = "AR108: every rank creates every group"
WAITS = True


def check(rank, _world):
    if rank == 0:
        dist.new_group([0, 1])
