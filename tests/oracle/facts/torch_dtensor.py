"""`distribute_tensor` takes the values of rank 0; `from_local` communicates with `run_check` only; `redistribute` does where
placements ask for it."""

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

from counting import operations

PROVES = "torch_ddp_fsdp.toml: distribute_tensor, DTensor.from_local, DTensor.redistribute"


def check(_rank, world):
    mesh = init_device_mesh("cpu", (world,))
    assert operations(distribute_tensor, torch.ones(4, 4), mesh, [Shard(0)]) == ["scatter"]
    assert operations(distribute_tensor, torch.ones(4, 4), mesh, [Replicate()]) == ["broadcast"]
    assert operations(DTensor.from_local, torch.ones(4, 4), mesh, [Shard(0)]) == []
    assert operations(DTensor.from_local, torch.ones(4, 4), mesh, [Replicate()], run_check=True) != []
    sharded = distribute_tensor(torch.ones(4, 4), mesh, [Shard(0)])
    assert operations(sharded.redistribute, mesh, [Replicate()]) == ["all_gather_into_tensor"]
    assert operations(sharded.redistribute, mesh, [Shard(0)]) == []
    assert operations(sharded.redistribute, mesh, [Shard(1)]) != []
