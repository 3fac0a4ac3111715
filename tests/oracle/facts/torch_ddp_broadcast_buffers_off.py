"""`broadcast_buffers=False` makes the forward local."""

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from counting import batch, model, operations

PROVES = "torch_ddp_fsdp.toml: only_if made_with:broadcast_buffers"


def check(_rank, _world):
    wrapped = DDP(model(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)), broadcast_buffers=False)
    assert operations(wrapped, batch()) == []
