"""`fully_shard` itself communicates nothing: each rank cuts what it has."""

from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from counting import model, operations

PROVES = "torch_ddp_fsdp.toml: fully_shard has no operation"


def check(_rank, world):
    mesh = init_device_mesh("cpu", (world,))
    assert operations(fully_shard, model(), mesh=mesh) == []
