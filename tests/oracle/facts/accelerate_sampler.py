"""`prepare` shares a loader out by batches, evenly: lengths are the same on all ranks, and the first samples come again."""

import torch
from accelerate import Accelerator
from accelerate.data_loader import BatchSamplerShard
from torch.utils.data import BatchSampler, DataLoader, SequentialSampler

PROVES = "accelerate.toml: Prepared.__iter__ varies by data, Prepared.__len__ is uniform"


def check(rank, world):
    accelerator = Accelerator(cpu=True)
    loader = accelerator.prepare(DataLoader(torch.arange(5), batch_size=2))
    assert isinstance(loader.batch_sampler, BatchSamplerShard)
    seen = [batch.tolist() for batch in loader]
    assert len(seen) == len(loader) == 2, seen
    assert seen[0] == ([0, 1], [2, 3])[rank]
    # A batch sampler of one's own is shared out as well.
    own = DataLoader(torch.arange(8), batch_sampler=BatchSampler(SequentialSampler(range(8)), 2, False))
    assert [batch.tolist() for batch in accelerator.prepare(own)] == ([[0, 1], [4, 5]], [[2, 3], [6, 7]])[rank]
    assert world == 2
