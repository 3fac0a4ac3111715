"""`parallelize_module` communicates: the shards of a layer come from rank 0. Its forward and backward do, too."""

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from counting import batch, model, operations

PROVES = "torch_ddp_fsdp.toml: parallelize_module is a distribute_module"


def check(_rank, world):
    net = model(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    plan = {"0": ColwiseParallel(), "1": RowwiseParallel()}
    assert operations(parallelize_module, net, init_device_mesh("cpu", (world,)), plan) != []
    assert "all_reduce" in operations(net, batch())
