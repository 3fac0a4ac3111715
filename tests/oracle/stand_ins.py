"""Stand-ins for what a fragment leaves open: parameters, by their names, and names that it uses and does not define."""

import operator
import types

import torch

FEATURES = 4


class Model(torch.nn.Module):
    """As many numbers out as in, with a gradient."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(FEATURES))
        self.weight.grad = torch.ones(FEATURES)

    def forward(self, *args, **_kwargs):
        given = next((arg for arg in args if isinstance(arg, torch.Tensor)), None)
        if given is None and args and isinstance(args[0], dict):
            given = next(iter(args[0].values()))
        if given is None or given.shape[-1:] != self.weight.shape:
            return torch.ones(2, FEATURES) * self.weight
        return given.float() * self.weight

    def score(self, *_args):
        return torch.tensor(0.5)

    def generate(self, *_args, **_kwargs):
        return torch.ones(2, 3)


def as_number(name):
    return lambda self, *others: getattr(operator, name)(2, *others)


def from_the_right(name):
    return lambda self, other: getattr(operator, name)(other, 2)


class Anything:
    """Has every attribute, and can be called; as a number it is 2. What it consists of ends at some depth, as trees do."""

    def __init__(self, depth=4):
        self.depth = depth

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(self.depth - 1)

    def __call__(self, *_args, **_kwargs):
        return torch.tensor(0.5)

    def __iter__(self):
        return iter([Anything(self.depth - 1) for _ in range(len(self))])

    def __len__(self):
        return 3 if self.depth > 0 else 0

    def __getitem__(self, _key):
        return torch.ones(2, FEATURES)


for each in "lt le gt ge index add sub mul truediv floordiv mod pow neg".split():
    setattr(Anything, f"__{each}__", as_number(each))
for each in "add sub mul truediv floordiv mod".split():
    setattr(Anything, f"__r{each}__", from_the_right(each))
Anything.__int__ = as_number("index")
Anything.__float__ = lambda self: 2.0


class Pairs(torch.utils.data.Dataset):
    """Samples with labels."""

    def __init__(self, length=8):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if index >= self.length:
            raise IndexError(index)
        return torch.ones(FEATURES), torch.ones(FEATURES)


class Samples(Pairs):
    def __getitem__(self, index):
        return super().__getitem__(index)[0]


class Tables(Pairs):
    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return {"x": x, "y": y, "labels": y, "prompt": x, "rollout": x, "input_ids": x, "attention_mask": x}


def tensor():
    return torch.ones(2, FEATURES)


def batch(kind):
    """Two samples of a data set of this kind."""
    return torch.utils.data.default_collate([kind()[0], kind()[1]])


def settings(rest=0, **values):
    """Options of a command line; what is not named is 0, or `rest`."""

    class Options(types.SimpleNamespace):
        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return rest

    return Options(**{"lr": 0.1, "epochs": 2, "steps": 2, "max_steps": 2, "workers": 0, **values})


# What a caller may hand over as well: lists that the number of ranks does not divide, and the other value of each option.
UNEVEN, OTHER_OPTIONS = "uneven", "other options"
TENSORS = """x tensor loss value values total hits weights weight buffer grad norm timings score reference prompt result own
losses logits other metric images labels bucket scores features embedding data state_tensor command_tensor""".split()
TENSOR_LISTS = "tensors grads batches chunks items inputs parts rows columns requests prompts".split()
LOADERS = "loader data_loader dataloader train_loader val_loader train_set_loader".split()
DATASETS = "dataset train_set val_set trainset data_set eval_dataset train_dataset".split()
MODELS = "model net module network encoder ddp_model policy".split()
NUMBERS = {"epochs": 2, "epoch": 0, "step": 0, "steps": 2, "max_steps": 2, "rounds": 2, "size": 2, "width": FEATURES, "world_size": None,
           "lr": 0.1, "limit": 1, "hours": 1, "attempts": 3, "per_node": 2, "batch_size": 2, "interval": 1, "every": 1, "depth": 1,
           "patience": 1, "most": 2}
PATHS = "path folder output_dir save_dir target directory filename file".split()


def argument(name, rank, world, kind, variant=""):
    """What is passed for a parameter of this name."""
    items = 2 * world + (variant == UNEVEN)
    if name in TENSORS:
        return tensor()
    if name in TENSOR_LISTS:
        return [tensor() for _ in range(items)]
    if name in LOADERS:
        return [batch(kind) for _ in range(3)]
    if name in DATASETS:
        return kind()
    if name in MODELS:
        return Model()
    if name in ("batch", "sample"):
        return batch(kind)
    if name in ("optimizer", "opt"):
        return torch.optim.SGD(Model().parameters(), lr=0.1)
    if name in ("state", "state_dict"):
        return {"b": tensor(), "a": tensor()}
    if name in ("args", "cfg", "config", "opt_args", "hparams"):
        return settings(int(variant == OTHER_OPTIONS))
    if name in ("rank", "local_rank", "index"):
        return rank
    if name == "world_size":
        return world
    if name in NUMBERS:
        return NUMBERS[name]
    if name in PATHS or name.endswith(("_path", "_dir", "_folder")):
        return name
    if name == "group" or name.endswith("_group"):
        return None
    if name == "device":
        return torch.device("cpu")
    if name == "paths":
        return [f"{number}.pt" for number in range(items)]
    return False if variant == OTHER_OPTIONS else Anything()
