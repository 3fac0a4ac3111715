"""DDP's `state_dict` and `load_state_dict` are local."""

from torch.nn.parallel import DistributedDataParallel as DDP

from counting import model, operations

PROVES = "torch_ddp_fsdp.toml: DistributedDataParallel.state_dict is no operation"


def check(_rank, _world):
    wrapped = DDP(model())
    assert operations(wrapped.state_dict) == []
    assert operations(wrapped.load_state_dict, wrapped.state_dict()) == []
