"""Inside `accumulate`, `backward` reduces gradients in the last step of a window only; so does `no_sync`."""

import torch
from accelerate import Accelerator

from counting import batch, model, operations

PROVES = "accelerate.toml: accumulate, no_sync, backward is a gradient_reduction"


def check(_rank, _world):
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    net = model()
    net, optimizer = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1))
    counts = []
    for _ in range(4):
        with accelerator.accumulate(net):
            loss = net(batch()).sum()
            counts.append("allreduce" in operations(accelerator.backward, loss))
            optimizer.step()
            optimizer.zero_grad()
    assert counts == [False, True, False, True], counts
    with accelerator.no_sync(net):
        assert operations(accelerator.backward, net(batch()).sum()) == []
