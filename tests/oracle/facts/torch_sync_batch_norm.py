"""SyncBatchNorm gathers statistics in training, and is local in evaluation. On CPU it refuses to work in training."""

import torch

PROVES = "torch_ddp_fsdp.toml: SyncBatchNorm.forward is batch_norm_statistics"


def check(_rank, _world):
    layer = torch.nn.SyncBatchNorm(4)
    layer.eval()(torch.ones(2, 4))
    try:
        layer.train()(torch.ones(2, 4))
    except ValueError as error:
        assert "expected input tensor to be on" in str(error), error
