"""A prepared scheduler takes a step of all ranks at each call: as many as there are ranks."""

import torch
from accelerate import Accelerator

from counting import batch, model

PROVES = "rules on schedules: a prepared scheduler steps once for each rank"


def check(_rank, world):
    accelerator = Accelerator(cpu=True)
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    net, optimizer, scheduler = accelerator.prepare(net, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 100))
    accelerator.backward(net(batch()).sum())
    optimizer.step()
    before = scheduler.scheduler.last_epoch
    scheduler.step()
    assert scheduler.scheduler.last_epoch - before == world
