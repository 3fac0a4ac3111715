"""Inside `join`, ranks that ran out of data answer for those that have more."""

from torch.nn.parallel import DistributedDataParallel as DDP

from counting import batch, model

PROVES = "torch_ddp_fsdp.toml: DistributedDataParallel.join; AR105 says nothing inside it"


def check(rank, _world):
    wrapped = DDP(model())
    with wrapped.join():
        for _ in range(2 + 3 * rank):
            wrapped(batch()).sum().backward()
