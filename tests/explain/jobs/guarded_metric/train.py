import torch
import torch.distributed as dist


def mean(tensor):
    dist.all_reduce(tensor)
    return tensor / dist.get_world_size()


def log(loss):
    if dist.get_rank() == 0:
        print(mean(loss))


def main():
    dist.init_process_group("gloo")
    loss = torch.ones(4)
    for _ in range(3):
        dist.all_reduce(loss)
    log(loss)
    dist.barrier()
    dist.destroy_process_group()


main()
