"""`forward` is of the batch at hand and local, unless `dist_sync_on_step` is set; `reset` is local."""

import torch
from torchmetrics import MeanMetric

from counting import operations

PROVES = "torchmetrics.toml: Metric.forward, Metric.reset"


def check(_rank, _world):
    metric = MeanMetric()
    assert operations(metric, torch.ones(2)) == []
    assert operations(metric.reset) == []
    assert operations(MeanMetric(dist_sync_on_step=True), torch.ones(2)) != []
