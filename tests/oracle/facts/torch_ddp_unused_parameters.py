"""A parameter that no rank uses gets no gradient with `find_unused_parameters`; without, the next forward raises."""

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

PROVES = "rules on wrappers: which gradients DDP leaves out"


class Half(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.unused = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.used(x)


def check(_rank, _world):
    wrapped = DDP(Half(), find_unused_parameters=True)
    wrapped(torch.ones(2, 4)).sum().backward()
    assert wrapped.module.unused.weight.grad is None
    strict = DDP(Half())
    strict(torch.ones(2, 4)).sum().backward()
    try:
        strict(torch.ones(2, 4))
    except RuntimeError as error:
        assert "finished reduction" in str(error)
    else:
        raise AssertionError("nothing was raised")
