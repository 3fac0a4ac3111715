"""A parameter that is frozen when it is wrapped and thawed later is left out of the reduction."""

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from counting import model

PROVES = "rules on wrappers: which gradients DDP leaves out"


def check(rank, _world):
    net = model(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    net[0].requires_grad_(False)
    wrapped = DDP(net)
    net[0].requires_grad_(True)
    (wrapped(torch.ones(2, 4)) * (rank + 1)).sum().backward()
    shares = [torch.empty(4) for _ in range(2)]
    torch.distributed.all_gather(shares, net[0].bias.grad)
    assert not torch.equal(*shares)
