"""Where rank 0 evaluates behind the first step, DDP's buffers meet what agrees on the order of the buckets: the job never ends."""

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from counting import batch, model

PROVES = "AR102: a forward without gradients is made up for between steps, but not behind the first"
WAITS = True


def check(rank, _world):
    wrapped = DDP(model(torch.nn.BatchNorm1d(4)))
    for step in range(3):
        wrapped(batch()).sum().backward()
        if step == 0 and rank == 0:
            with torch.no_grad():
                wrapped(batch())
