"""FSDP2 gathers in each forward, without gradients too, and scatters sums in backward."""

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from counting import batch, model, operations

PROVES = "torch_ddp_fsdp.toml: FSDPModule.forward is a module_forward; its backward reduces"


def check(_rank, world):
    net = model(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    mesh = init_device_mesh("cpu", (world,))
    for layer in net:
        fully_shard(layer, mesh=mesh)
    fully_shard(net, mesh=mesh)
    with torch.no_grad():
        assert any("allgather" in op for op in operations(net, batch()))
    loss = net(batch()).sum()
    assert any("reduce_scatter" in op for op in operations(loss.backward))
