"""What a rank communicates: each operation that reaches c10d is noted, whoever issued it, Python, C++ or a compiled graph."""

import torch
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode

SPACES = ("c10d", "_c10d_functional", "_c10d_functional_autograd")
LOCAL = ("wait_tensor", "_wrap_tensor_autograd")


class Noted(TorchDispatchMode):
    def __init__(self, names):
        super().__init__()
        self.names = names

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if any(issubclass(one, DTensor) for one in types):
            # It takes itself apart first: what it communicates comes by again.
            return NotImplemented
        name = func._schema.name.partition("::")[2].rstrip("_")
        if func.namespace in SPACES and name not in LOCAL:
            self.names.append(name)
        return func(*args, **(kwargs or {}))


class Counted(list):
    """The names of what was communicated inside a `with`, in order: `with Counted() as ops: ...`."""

    def __enter__(self):
        self.mode = Noted(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *error):
        self.mode.__exit__(*error)


def operations(function, *args, **kwargs):
    """What a call communicates."""
    with Counted() as ops:
        function(*args, **kwargs)
    return list(ops)


def model(*layers):
    torch.manual_seed(0)
    return torch.nn.Sequential(*(layers or [torch.nn.Linear(4, 4)]))


def batch():
    return torch.ones(2, 4)
