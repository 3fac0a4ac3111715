import torch.distributed as dist


def mean_over_ranks(value):
    value = value.detach().clone()
    dist.all_reduce(value)
    return value / dist.get_world_size()


def log(value):
    if dist.get_rank() == 0:
        dist.reduce(value, dst=0)
