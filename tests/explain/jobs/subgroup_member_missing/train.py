import torch
import torch.distributed as dist


def sync(group, tensor):
    if dist.get_rank() % 2 == 0:
        dist.all_reduce(tensor, group=group)


def main():
    dist.init_process_group("gloo")
    group = dist.new_group([1, 2])
    tensor = torch.ones(4)
    if dist.get_rank() > 0:
        sync(group, tensor)
    dist.barrier()
    dist.destroy_process_group()


main()
