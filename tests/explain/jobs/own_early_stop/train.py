import torch
import torch.distributed as dist


def train(loss):
    step = 0
    while True:
        step += 1
        dist.all_reduce(loss)
        if step * (1 + dist.get_rank()) >= 4:
            break


def main():
    dist.init_process_group("gloo")
    train(torch.ones(1))
    dist.barrier()
    dist.destroy_process_group()


main()
