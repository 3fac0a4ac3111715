"""`reduce` leaves the sum on the root; what others have then is no sum to rely on."""

import torch
import torch.distributed as dist

PROVES = "torch_distributed.toml: reduce is on_root_only"


def check(rank, world):
    x = torch.ones(1)
    dist.reduce(x, dst=0)
    assert rank != 0 or x.item() == world
