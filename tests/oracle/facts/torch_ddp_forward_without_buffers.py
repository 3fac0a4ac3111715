"""DDP's forward of a module without buffers is local, but for one: with gradients, the first behind the first backward."""

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from counting import batch, model, operations

PROVES = "torch_ddp_fsdp.toml: DistributedDataParallel.forward communicates with buffers only"


def check(_rank, _world):
    wrapped = DDP(model())
    assert operations(wrapped, batch()) == []
    wrapped(batch()).sum().backward()
    with torch.no_grad():
        assert operations(wrapped, batch()) == []
    assert operations(wrapped, batch()) == ["broadcast"] * 2, "the order of the buckets is agreed on"
    wrapped(batch()).sum().backward()
    assert operations(wrapped, batch()) == []
