import os

import torch
import torch.distributed as dist


def prepare(path):
    if int(os.environ["LOCAL_RANK"]) == 0:
        os.makedirs(path, exist_ok=True)
        dist.barrier()


def main():
    dist.init_process_group("gloo")
    prepare("/tmp/prepared")
    tensor = torch.ones(4)
    dist.all_reduce(tensor)
    dist.destroy_process_group()


main()
