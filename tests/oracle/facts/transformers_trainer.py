"""Of the Trainer, `train` and `evaluate` communicate; under DDP `save_model`, `save_state`, `log_metrics` and `log` do not."""

import torch
from transformers import Trainer, TrainingArguments

from counting import operations

PROVES = "transformers.toml: Trainer.train, evaluate, save_model (FSDP, ZeRO-3 only), save_state, log, log_metrics"


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, x, labels):
        out = self.layer(x)
        return {"loss": (out - labels).square().mean(), "logits": out}


def trainer():
    samples = [{"x": torch.ones(4), "labels": torch.ones(1)} for _ in range(16)]
    args = TrainingArguments(output_dir="out", max_steps=2, per_device_train_batch_size=2, use_cpu=True, report_to=[],
                             save_strategy="no", disable_tqdm=True)
    return Trainer(model=Net(), args=args, train_dataset=samples, eval_dataset=samples)


def check(rank, _world):
    one = trainer()
    assert one.args.world_size == 2 and one.is_world_process_zero() == (rank == 0)
    assert "allreduce" in operations(one.train)
    assert operations(one.evaluate) != []
    assert operations(one.save_model, "saved") == []
    assert operations(one.save_state) == []
    assert operations(one.log, {"a": 1.0}) == []
    assert operations(one.log_metrics, "train", {"a": 1.0}) == []
