"""A rank that skips a backward leaves the others waiting in theirs."""

from torch.nn.parallel import DistributedDataParallel as DDP

from counting import batch, model

PROVES = "AR104, AR105: backward under a condition of one rank"
WAITS = True


def check(rank, _world):
    wrapped = DDP(model())
    loss = wrapped(batch()).sum()
    if rank == 0:
        loss.backward()
