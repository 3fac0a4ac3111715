"""`clip_grad_norm_` over the gradients of FSDP2 communicates: its norm is one of all shards."""

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from counting import batch, model, operations

PROVES = "torch_core.toml: clip_grad_norm_ under FSDP2"


def check(_rank, world):
    net = fully_shard(model(), mesh=init_device_mesh("cpu", (world,)))
    net(batch()).sum().backward()
    assert operations(torch.nn.utils.clip_grad_norm_, net.parameters(), 1.0) != []
