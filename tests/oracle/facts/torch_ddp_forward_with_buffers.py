"""DDP's forward broadcasts buffers, in evaluation as well; a second one without gradients in a row does not."""

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from counting import batch, model, operations

PROVES = "torch_ddp_fsdp.toml: DistributedDataParallel.forward is a buffer_broadcast"


def check(_rank, _world):
    wrapped = DDP(model(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)))
    assert "broadcast" in operations(wrapped, batch())
    wrapped(batch()).sum().backward()
    wrapped.eval()
    with torch.no_grad():
        assert "broadcast" in operations(wrapped, batch())
        assert operations(wrapped, batch()) == []
