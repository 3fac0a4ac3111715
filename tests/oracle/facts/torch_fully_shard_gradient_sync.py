"""`set_requires_gradient_sync(False)` keeps backward from reducing; it still gathers what was resharded."""

from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from counting import batch, model, operations

PROVES = "torch_ddp_fsdp.toml: FSDPModule.set_requires_gradient_sync"


def check(_rank, world):
    net = fully_shard(model(), mesh=init_device_mesh("cpu", (world,)))
    net.set_requires_gradient_sync(False)
    assert not any("reduce_scatter" in op for op in operations(net(batch()).sum().backward))
