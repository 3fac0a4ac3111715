"""`clip_grad_norm_` over the gradients of DDP is local: all ranks have the same."""

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from counting import batch, model, operations

PROVES = "torch_core.toml: clip_grad_norm_ is no operation"


def check(_rank, _world):
    net = DDP(model())
    net(batch()).sum().backward()
    assert operations(torch.nn.utils.clip_grad_norm_, net.parameters(), 1.0) == []
