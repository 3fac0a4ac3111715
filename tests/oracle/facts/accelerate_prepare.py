"""`prepare` wraps a model in DDP, which communicates; loaders, optimizers and schedulers are prepared locally."""

import torch
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel as DDP

from counting import model, operations

PROVES = "accelerate.toml: Accelerator.prepare is a module_broadcast, prepare_data_loader is no operation"


def check(_rank, _world):
    accelerator = Accelerator(cpu=True)
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with_ddp = []
    assert "broadcast" in operations(lambda: with_ddp.append(accelerator.prepare(net)))
    assert isinstance(with_ddp[0], DDP)
    assert operations(accelerator.prepare, optimizer) == []
    assert operations(accelerator.prepare, torch.optim.lr_scheduler.StepLR(optimizer, 1)) == []
    assert operations(accelerator.prepare, torch.utils.data.DataLoader(range(8))) == []
