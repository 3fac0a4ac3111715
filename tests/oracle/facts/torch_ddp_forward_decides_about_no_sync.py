"""Whether backward reduces is decided by the forward: `no_sync` around the backward alone changes nothing."""

from torch.nn.parallel import DistributedDataParallel as DDP

from counting import batch, model, operations

PROVES = "rules on gradient accumulation: the forward has to be inside `no_sync`"


def check(_rank, _world):
    wrapped = DDP(model())
    loss = wrapped(batch()).sum()
    with wrapped.no_sync():
        assert "allreduce" in operations(loss.backward)
