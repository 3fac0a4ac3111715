import torch
import torch.distributed as dist


def parse(rank):
    if rank == 1:
        raise ValueError("record 7 is malformed")
    return torch.ones(4)


def main():
    dist.init_process_group("gloo")
    tensor = parse(dist.get_rank())
    dist.all_reduce(tensor)
    dist.destroy_process_group()


main()
