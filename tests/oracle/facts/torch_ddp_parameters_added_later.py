"""A parameter that is added after wrapping is left out of the reduction."""

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from counting import model

PROVES = "rules on wrappers: which gradients DDP leaves out"


def check(rank, _world):
    wrapped = DDP(model())
    wrapped.module.append(torch.nn.Linear(4, 4, bias=False))
    torch.nn.init.ones_(wrapped.module[1].weight)
    (wrapped(torch.ones(2, 4)) * (rank + 1)).sum().backward()
    mine, first = wrapped.module[1].weight.grad, wrapped.module[0].bias.grad
    shares = [torch.empty_like(mine) for _ in range(2)]
    torch.distributed.all_gather(shares, mine)
    assert not torch.equal(*shares)
    shares = [torch.empty_like(first) for _ in range(2)]
    torch.distributed.all_gather(shares, first)
    assert torch.equal(*shares)
