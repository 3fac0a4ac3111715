"""Lightning's Trainer: `fit` communicates, and so does `save_checkpoint`, under DDP as well."""

import torch
from lightning.pytorch import LightningModule, Trainer

from counting import operations

PROVES = "lightning.toml: Trainer.fit, Trainer.save_checkpoint"


class Net(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, _index):
        return self.layer(batch).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def check(_rank, _world):
    trainer = Trainer(accelerator="cpu", devices=2, strategy="ddp", max_steps=2, logger=False, enable_checkpointing=False,
                      enable_progress_bar=False, enable_model_summary=False)
    loader = torch.utils.data.DataLoader([torch.ones(4) for _ in range(16)], batch_size=2)
    assert "allreduce" in operations(trainer.fit, Net(), loader)
    assert "barrier" in operations(trainer.save_checkpoint, "last.ckpt")
