"""A collection computes all its metrics; `sync` gathers by itself."""

import torch
from torchmetrics import MeanMetric, MetricCollection, SumMetric

from counting import operations

PROVES = "torchmetrics.toml: MetricCollection, Metric.sync"


def check(_rank, _world):
    both = MetricCollection({"mean": MeanMetric(), "sum": SumMetric()})
    both.update(torch.ones(2))
    assert operations(both.compute) != []
    one = SumMetric()
    one.update(torch.ones(2))
    assert operations(one.sync) != []
