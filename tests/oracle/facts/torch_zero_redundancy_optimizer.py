"""ZeroRedundancyOptimizer broadcasts what each rank updated in `step`, and gathers states in `consolidate_state_dict`."""

import torch
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

from counting import batch, model, operations

PROVES = "torch_ddp_fsdp.toml: ZeroRedundancyOptimizer.step, consolidate_state_dict"


def check(_rank, _world):
    net = DDP(model(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)))
    optimizer = ZeroRedundancyOptimizer(net.parameters(), torch.optim.Adam)
    net(batch()).sum().backward()
    assert "broadcast" in operations(optimizer.step)
    assert operations(optimizer.consolidate_state_dict) != []
