import torch
import torch.distributed as dist


def train(samples):
    total = torch.zeros(1)
    for sample in samples:
        total += sample
        dist.all_reduce(total)
    return total


def main():
    dist.init_process_group("gloo")
    samples = list(range(5))[dist.get_rank()::dist.get_world_size()]
    train(samples)
    dist.barrier()
    dist.destroy_process_group()


main()
