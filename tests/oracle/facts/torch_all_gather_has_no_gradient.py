"""No gradient flows through `all_gather`; through `torch.distributed.nn.functional.all_gather` it does."""

import torch
import torch.distributed as dist
from torch.distributed.nn import functional

PROVES = "rules on contrastive losses: all_gather used where autograd must flow"


def check(_rank, world):
    x = torch.ones(2, requires_grad=True)
    parts = [torch.empty(2) for _ in range(world)]
    dist.all_gather(parts, x.detach())
    assert not any(part.requires_grad for part in parts)
    assert all(part.requires_grad for part in functional.all_gather(x))
