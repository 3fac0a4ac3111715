"""A prepared loader that does not shuffle communicates nothing: there is no generator to keep in step."""

import torch
from accelerate import Accelerator

from counting import operations

PROVES = "accelerate.toml: Prepared.__iter__"


def check(_rank, _world):
    loader = Accelerator(cpu=True).prepare(torch.utils.data.DataLoader(torch.arange(8.0), batch_size=2))
    assert operations(list, loader) == []
