import torch
import torch.distributed as dist


def share(tensor):
    if dist.get_rank() == 0:
        dist.broadcast(tensor, 0)
    else:
        dist.all_reduce(tensor)


def main():
    dist.init_process_group("gloo")
    tensor = torch.ones(4)
    dist.all_reduce(tensor)
    share(tensor)
    dist.destroy_process_group()


main()
