"""`end_training` leaves the job."""

import torch.distributed as dist
from accelerate import Accelerator

PROVES = "accelerate.toml: end_training is a destroy"


def check(_rank, _world):
    accelerator = Accelerator(cpu=True)
    accelerator.end_training()
    assert not dist.is_initialized()
