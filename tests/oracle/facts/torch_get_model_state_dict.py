"""`get_model_state_dict` communicates for full state dicts of FSDP2 only: of shards, and of DDP, it is local."""

from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel as DDP

from counting import model, operations

PROVES = "torch_ddp_fsdp.toml: get_model_state_dict, strategies = FSDP"


def check(_rank, world):
    full = StateDictOptions(full_state_dict=True)
    net = fully_shard(model(), mesh=init_device_mesh("cpu", (world,)))
    assert operations(get_model_state_dict, net) == []
    assert operations(get_model_state_dict, net, options=full) != []
    assert operations(get_model_state_dict, DDP(model()), options=full) == []
