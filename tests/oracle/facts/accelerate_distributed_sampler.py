"""`prepare` shares a loader out even where it has a DistributedSampler already: each rank then sees a share of its share."""

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, DistributedSampler

PROVES = "rules on samplers: a DistributedSampler and `prepare` share out twice"


def check(rank, world):
    sampler = DistributedSampler(range(16), num_replicas=world, rank=rank, shuffle=False)
    loader = Accelerator(cpu=True).prepare(DataLoader(torch.arange(16), batch_size=2, sampler=sampler))
    seen = [one for batch in loader for one in batch.tolist()]
    assert len(seen) == 4, seen
