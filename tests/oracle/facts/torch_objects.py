"""Collectives of objects send sizes first, so that objects may differ in size; `gather_object` gives the list to one rank."""

import torch.distributed as dist

PROVES = "torch_distributed.toml: *_object need no fixed shape; on_root_only"


def check(rank, world):
    everything = [None] * world
    dist.all_gather_object(everything, "x" * (1000 * rank + 1))
    assert [len(one) for one in everything] == [1, 1001]
    some = [None] * world if rank == 0 else None
    dist.gather_object(rank, some, dst=0)
    assert rank != 0 or some == [0, 1]
