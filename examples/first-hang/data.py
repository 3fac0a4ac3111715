from torchvision import datasets, transforms


def build_dataset(folder, download):
    transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,) * 3, (0.5,) * 3)])
    train_set = datasets.CIFAR10(folder, train=True, transform=transform, download=download)
    test_set = datasets.CIFAR10(folder, train=False, transform=transform, download=download)
    return train_set, test_set
