"""DeepSpeed's `initialize` and `backward` communicate; ZeRO-0's forward does not; `save_checkpoint` waits for all ranks."""

import torch

from counting import batch, model, operations

PROVES = "deepspeed.toml: initialize, DeepSpeedEngine.backward, forward, save_checkpoint"


def check(_rank, _world):
    import deepspeed  # pylint: disable=import-outside-toplevel

    net, ready = model(), []
    settings = {"train_micro_batch_size_per_gpu": 2, "optimizer": {"type": "SGD", "params": {"lr": 0.1}}}
    first = operations(lambda: ready.append(deepspeed.initialize(model=net, model_parameters=net.parameters(), config=settings)))
    engine = ready[0][0]
    assert "broadcast" in first, first
    assert operations(engine, batch()) == []
    loss = engine(batch()).sum()
    assert operations(engine.backward, loss) + operations(engine.step) != []
    assert operations(engine.save_checkpoint, "saved") != []
    assert isinstance(engine.module, torch.nn.Module)
