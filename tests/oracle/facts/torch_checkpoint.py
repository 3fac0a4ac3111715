"""To save and load distributed checkpoints communicates; with `no_dist` it does not."""

import torch
from torch.distributed import checkpoint

from counting import operations

PROVES = "torch_ddp_fsdp.toml: checkpoint.save, checkpoint.load, local_if = no_dist"


def check(rank, _world):
    state = {"a": torch.ones(4)}
    assert operations(checkpoint.save, state, checkpoint_id="all") != []
    assert operations(checkpoint.load, state, checkpoint_id="all") != []
    assert operations(checkpoint.save, state, checkpoint_id=f"one{rank}", no_dist=True) == []
    assert operations(checkpoint.load, state, checkpoint_id=f"one{rank}", no_dist=True) == []
