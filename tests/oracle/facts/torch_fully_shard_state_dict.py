"""FSDP2's `state_dict` is local: it hands out shards. `full_tensor` of one gathers."""

from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from counting import model, operations

PROVES = "torch_ddp_fsdp.toml: FSDPModule has no state_dict; DTensor.full_tensor is an operation"


def check(_rank, world):
    net = fully_shard(model(), mesh=init_device_mesh("cpu", (world,)))
    assert operations(net.state_dict) == []
    weight = net.state_dict()["0.weight"]
    assert operations(weight.full_tensor) == ["all_gather_into_tensor"]
    assert operations(weight.to_local) == []
