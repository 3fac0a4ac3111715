"""`wait_for_everyone` is a barrier, and `main_process_first` is one for each rank."""

from accelerate import Accelerator

from counting import Counted, operations

PROVES = "accelerate.toml: wait_for_everyone, main_process_first"


def check(_rank, _world):
    accelerator = Accelerator(cpu=True)
    assert operations(accelerator.wait_for_everyone) == ["barrier"]
    with Counted() as ops, accelerator.main_process_first():
        pass
    assert ops == ["barrier"], ops
