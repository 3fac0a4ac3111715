"""`forward_sync_buffers=False`, which takes the place of `broadcast_buffers` since 2.13, makes the forward local."""

import inspect

from torch.nn import BatchNorm1d, Linear
from torch.nn.parallel import DistributedDataParallel as DDP

from counting import batch, model, operations

PROVES = "torch_ddp_fsdp.toml: only_if made_with:broadcast_buffers,forward_sync_buffers"


def check(_rank, _world):
    if "forward_sync_buffers" in inspect.signature(DDP.__init__).parameters:
        wrapped = DDP(model(Linear(4, 4), BatchNorm1d(4)), forward_sync_buffers=False)
        assert operations(wrapped, batch()) == []
