"""To wrap a module in DDP compares the shapes of its parameters and broadcasts those of rank 0."""

from torch.nn.parallel import DistributedDataParallel as DDP

from counting import model, operations

PROVES = "torch_ddp_fsdp.toml: DistributedDataParallel.__init__ is a module_broadcast"


def check(_rank, _world):
    ops = operations(DDP, model())
    assert "allgather" in ops and "broadcast" in ops, ops
