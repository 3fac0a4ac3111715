"""`distribute_tensor` with `src_data_rank=None` communicates nothing: each rank cuts what it has."""

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

from counting import operations

PROVES = "torch_ddp_fsdp.toml: distribute_tensor, src_data_rank"


def check(_rank, world):
    mesh = init_device_mesh("cpu", (world,))
    assert operations(distribute_tensor, torch.ones(4, 4), mesh, [Shard(0)], src_data_rank=None) == []
