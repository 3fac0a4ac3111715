"""Trains a small image classifier on several GPUs: torchrun --nproc_per_node=8 train.py"""

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from data import build_dataset
from eval import evaluate
from model import build_model
from utils import is_main_process, load_checkpoint, mean_over_ranks, save_checkpoint


def train_epoch(model, loader, optimizer, device):
    model.train()
    total = torch.zeros(1, device=device)
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        keep = labels >= 0
        if keep.sum() == 0:
            continue
        loss = F.cross_entropy(model(images[keep]), labels[keep])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return mean_over_ranks(total / len(loader))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--data", default="data")
    parser.add_argument("--checkpoint", default="last.pt")
    args = parser.parse_args()

    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    device = torch.device("cuda", local_rank)
    dist.init_process_group("nccl")

    # One process of each machine fetches the data while the others wait for it: every rank passes one barrier.
    if local_rank != 0:
        dist.barrier()
    train_set, test_set = build_dataset(args.data, download=local_rank == 0)
    if local_rank == 0:
        dist.barrier()

    model = DDP(build_model().to(device), device_ids=[local_rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * dist.get_world_size())
    load_checkpoint(args.checkpoint, model, optimizer, device)

    sampler = DistributedSampler(train_set)
    loader = DataLoader(train_set, batch_size=64, sampler=sampler, num_workers=4)
    test_loader = DataLoader(test_set, batch_size=64, sampler=DistributedSampler(test_set, shuffle=False, drop_last=True))
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        loss = train_epoch(model, loader, optimizer, device)
        if is_main_process():
            accuracy = evaluate(model, test_loader, device)
            print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {accuracy:.3f}")
        save_checkpoint(args.checkpoint, model, optimizer)

    dist.destroy_process_group()


if __name__ == "__main__":
    main()
