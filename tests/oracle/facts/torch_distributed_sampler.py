"""DistributedSampler pads to equal lengths, and orders each epoch alike without `set_epoch`."""

from torch.utils.data import DistributedSampler

PROVES = "AR401 and the length of a sampler: the same on all ranks"


def check(rank, world):
    sampler = DistributedSampler(range(5), num_replicas=world, rank=rank)
    assert len(sampler) == 3 and len(list(sampler)) == 3
    assert list(sampler) == list(sampler)
    first = list(sampler)
    sampler.set_epoch(1)
    assert list(sampler) != first or len(set(first)) == 1
    assert len(list(DistributedSampler(range(5), num_replicas=world, rank=rank, drop_last=True))) == 2
