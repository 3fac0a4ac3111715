"""With automatic names of checkpoints `save_state` waits for all ranks, under DDP as well."""

from accelerate import Accelerator
from accelerate.utils import ProjectConfiguration

from counting import model, operations

PROVES = "accelerate.toml: save_state, strategies = automatic checkpoint naming"


def check(_rank, _world):
    accelerator = Accelerator(cpu=True, project_config=ProjectConfiguration("run", automatic_checkpoint_naming=True))
    accelerator.prepare(model())
    assert operations(accelerator.save_state) == ["barrier"]
