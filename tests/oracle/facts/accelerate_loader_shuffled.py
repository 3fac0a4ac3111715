"""A prepared loader that shuffles broadcasts the state of its generator as each epoch begins."""

import torch
from accelerate import Accelerator

from counting import operations

PROVES = "accelerate.toml: Prepared.__iter__ is a rng_state_broadcast"


def check(_rank, _world):
    loader = Accelerator(cpu=True).prepare(torch.utils.data.DataLoader(torch.arange(8.0), batch_size=2, shuffle=True))
    assert operations(list, loader) == ["broadcast"]
