"""Backward of what DDP returned reduces gradients; under `no_sync` it does not."""

from torch.nn.parallel import DistributedDataParallel as DDP

from counting import batch, model, operations

PROVES = "torch_ddp_fsdp.toml: @gradient_synced.backward is a gradient_reduction"


def check(_rank, _world):
    wrapped = DDP(model())
    assert operations(wrapped(batch()).sum().backward)[0] == "allreduce"
    with wrapped.no_sync():
        loss = wrapped(batch()).sum()
        assert operations(loss.backward) == []
