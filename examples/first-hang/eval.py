"""Accuracy over the test set, of which every rank holds a share."""

import torch

from utils import sum_over_ranks


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    correct = torch.zeros(1, device=device)
    seen = torch.zeros(1, device=device)
    for images, labels in loader:
        predicted = model(images.to(device)).argmax(dim=1)
        correct += (predicted == labels.to(device)).sum()
        seen += labels.numel()
    correct = sum_over_ranks(correct)
    seen = sum_over_ranks(seen)
    return (correct / seen).item()
