"""`compute` gathers the states of all ranks, unless `sync_on_compute=False`; a second one is answered from memory."""

import torch
from torchmetrics.classification import MulticlassAccuracy

from counting import operations

PROVES = "torchmetrics.toml: Metric.compute, only_if = made_with:sync_on_compute"


def check(_rank, _world):
    metric, own = MulticlassAccuracy(num_classes=3), MulticlassAccuracy(num_classes=3, sync_on_compute=False)
    for one in (metric, own):
        assert operations(one.update, torch.tensor([0, 1]), torch.tensor([0, 2])) == []
    assert "allgather" in operations(metric.compute)
    assert operations(metric.compute) == []
    assert operations(own.compute) == []
