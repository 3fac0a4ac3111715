"""A forward and backward of `wrapped.module` leave gradients unreduced: each rank has its own."""

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from counting import model, operations

PROVES = "rules on wrappers: gradients of the inner module are not synchronised"


def check(rank, _world):
    wrapped = DDP(model())
    loss = wrapped.module(torch.ones(2, 4) * (rank + 1)).sum()
    assert operations(loss.backward) == []
    assert wrapped.module[0].weight.grad.unique().item() == 2 * (rank + 1)
