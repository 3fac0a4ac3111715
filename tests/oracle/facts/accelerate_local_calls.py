"""Under DDP these are local: `save_state`, `save_model`, `get_state_dict`, `clip_grad_norm_`, `unwrap_model`, `print`."""

import torch
from accelerate import Accelerator

from counting import batch, model, operations

PROVES = "accelerate.toml: save_state, save_model, get_state_dict and clip_grad_norm_ communicate under FSDP and DeepSpeed only"


def check(_rank, _world):
    accelerator = Accelerator(cpu=True)
    net = model()
    net, optimizer = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1))
    accelerator.backward(net(batch()).sum())
    optimizer.step()
    assert operations(accelerator.save_state, "state") == []
    accelerator.wait_for_everyone()
    assert operations(accelerator.load_state, "state") == []
    assert operations(accelerator.save_model, net, "model") == []
    assert operations(accelerator.get_state_dict, net) == []
    assert operations(accelerator.clip_grad_norm_, net.parameters(), 1.0) == []
    assert operations(accelerator.unwrap_model, net) == []
    assert operations(accelerator.print, "x") == []
