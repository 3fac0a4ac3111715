"""`gather`, `reduce`, `pad_across_processes`, `gather_for_metrics` communicate; the last leaves out what came twice."""

import torch
from accelerate import Accelerator

from counting import operations

PROVES = "accelerate.toml: gather, reduce, pad_across_processes, gather_for_metrics"


def check(rank, world):
    accelerator = Accelerator(cpu=True)
    x = torch.ones(2)
    assert operations(accelerator.gather, x) != []
    assert operations(accelerator.reduce, x) != []
    assert operations(accelerator.pad_across_processes, torch.ones(rank + 1)) != []
    assert accelerator.pad_across_processes(torch.ones(rank + 1)).shape == (2,)
    seen = []
    for batch in accelerator.prepare(torch.utils.data.DataLoader(torch.arange(5), batch_size=2)):
        seen += accelerator.gather_for_metrics(batch).tolist()
    assert seen == [0, 1, 2, 3, 4], seen
    assert world == 2
