"""Fabric: `setup`, `barrier`, `broadcast`, `all_gather`, `all_reduce`, `save` communicate; `print` and clipping do not."""

import torch
from lightning.fabric import Fabric

from counting import batch, model, operations

PROVES = "lightning.toml: Fabric.setup, barrier, broadcast, all_gather, all_reduce, save, print, clip_gradients"


def check(_rank, _world):
    fabric = Fabric(accelerator="cpu", devices=2, strategy="ddp")
    fabric.launch()
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    ready = []
    assert "broadcast" in operations(lambda: ready.extend(fabric.setup(net, optimizer)))
    net, optimizer = ready
    assert "allreduce" in operations(fabric.backward, net(batch()).sum())
    assert operations(fabric.clip_gradients, net, optimizer, max_norm=1.0) == []
    assert operations(fabric.barrier) == ["barrier"]
    assert operations(fabric.broadcast, 1) != []
    assert operations(fabric.all_gather, torch.ones(1)) != []
    assert operations(fabric.all_reduce, torch.ones(1)) != []
    assert operations(fabric.print, "x") == []
    assert "barrier" in operations(fabric.save, "state.pt", {"model": net})
