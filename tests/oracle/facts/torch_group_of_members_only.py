"""A group that only its members create comes about on Gloo, but the next group of all ranks hangs: names are counted."""

import torch.distributed as dist

PROVES = "AR108: every rank creates every group"
WORLD, WAITS = 3, True


def check(rank, _world):
    if rank < 2:
        dist.barrier(dist.new_group([0, 1]))
    dist.barrier(dist.new_group())
