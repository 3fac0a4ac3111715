"""Of accelerate.utils, `gather_object`, `broadcast`, `broadcast_object_list`, `synchronize_rng_states` communicate; `set_seed`
does not."""

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast, broadcast_object_list, gather_object, set_seed, synchronize_rng_states

from counting import operations

PROVES = "accelerate.toml: accelerate.utils"


def check(rank, _world):
    Accelerator(cpu=True)
    assert operations(gather_object, [rank]) != []
    assert operations(broadcast, torch.ones(1)) != []
    assert operations(broadcast_object_list, [rank]) != []
    assert operations(synchronize_rng_states, ["torch"]) != []
    assert operations(set_seed, 1) == []
