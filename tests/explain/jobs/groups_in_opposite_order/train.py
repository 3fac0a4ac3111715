import torch
import torch.distributed as dist


def exchange(first, second, tensor):
    if dist.get_rank() == 0:
        dist.all_reduce(tensor, group=first)
        dist.all_reduce(tensor, group=second)
    else:
        dist.all_reduce(tensor, group=second)
        dist.all_reduce(tensor, group=first)


def main():
    dist.init_process_group("gloo")
    first = dist.new_group([0, 1])
    second = dist.new_group([0, 1])
    exchange(first, second, torch.ones(4))
    dist.destroy_process_group()


main()
