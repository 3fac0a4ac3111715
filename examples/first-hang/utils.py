"""What the ranks of a job do together."""

import os

import torch
import torch.distributed as dist


def is_main_process():
    return dist.get_rank() == 0


def sum_over_ranks(tensor):
    dist.all_reduce(tensor)
    return tensor


def mean_over_ranks(tensor):
    return sum_over_ranks(tensor.clone()) / dist.get_world_size()


def save_checkpoint(path, model, optimizer):
    if not is_main_process():
        return
    state = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, path + ".tmp")
    os.replace(path + ".tmp", path)
    # Nobody is to read the file before it is whole.
    dist.barrier()


def load_checkpoint(path, model, optimizer, device):
    # Rank 0 looks, all follow: the decision is the same everywhere, however the disks differ.
    found = torch.tensor([int(is_main_process() and os.path.exists(path))], device=device)
    dist.broadcast(found, src=0)
    if not found.item():
        return
    state = torch.load(path, map_location=device)
    model.module.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    dist.barrier()
