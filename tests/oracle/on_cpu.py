"""Lets programs that were written for GPUs and NCCL run on the processor with Gloo: nothing else is changed."""

import functools
import multiprocessing
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed import device_mesh, fsdp
from torch.overrides import TorchFunctionMode

DEVICES = 4
# The names under which fixtures run.
PROGRAMS = ("__main__", "fixture")


def host(device):
    if isinstance(device, str) and device.startswith("cuda"):
        return "cpu"
    if isinstance(device, torch.device) and device.type == "cuda":
        return torch.device("cpu")
    return device


class OnHost(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = {name: host(value) for name, value in (kwargs or {}).items()}
        return func(*(host(value) for value in args), **kwargs)


def hosted(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        kwargs.pop("device_ids", None)
        kwargs.pop("output_device", None)
        return function(*map(host, args), **{name: host(value) for name, value in kwargs.items()})

    return call


def sharded_here(init):
    """FSDP1 takes the processor if it is told to, and asks for an accelerator else."""

    @functools.wraps(init)
    def call(self, module, *args, **kwargs):
        init(self, module, *args, **{**kwargs, "device_id": torch.device("cpu")})

    return call


def started(init):
    """`init_process_group` with Gloo, whatever was asked for; where the driver has set the job up, nothing is left to do."""

    @functools.wraps(init)
    def call(backend=None, *args, **kwargs):
        if dist.is_initialized() and kwargs.get("world_size") != 1:
            return
        kwargs.pop("device_id", None)
        init("gloo", *args, **kwargs)

    return call


def identity(self, *_args, **_kwargs):
    return self


def devices(counted):
    """`device_count` for programs: as many as a node has ranks; libraries count what is there."""

    def count():
        return DEVICES if sys._getframe(1).f_globals.get("__name__") in PROGRAMS else counted()  # pylint: disable=protected-access

    return count


def fork_children():
    """Processes that a program starts are forks, whatever it asks for: a fixture is no module that others could import."""
    forks = multiprocessing.get_context("fork")
    for module in (multiprocessing, torch.multiprocessing):
        module.get_context = lambda _method=None: forks
        module.set_start_method = lambda *_args, **_kwargs: None
        module.Process = forks.Process
    start = torch.multiprocessing.start_processes

    @functools.wraps(start)
    def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method=None):  # pylint: disable=unused-argument
        return start(fn, args, nprocs, join, daemon, start_method="fork")

    torch.multiprocessing.spawn = torch.multiprocessing.start_processes = spawn


def install():
    torch.set_num_threads(1)
    OnHost().__enter__()
    init = started(dist.init_process_group)
    for module in (dist, dist.distributed_c10d):
        module.init_process_group = init
    mesh = hosted(device_mesh.init_device_mesh)
    for module in (dist, device_mesh):
        module.init_device_mesh = mesh
    torch.Tensor.cuda = torch.nn.Module.cuda = identity
    torch.nn.Module.to = hosted(torch.nn.Module.to)
    ddp = torch.nn.parallel.DistributedDataParallel
    ddp.__init__ = hosted(ddp.__init__)
    wrapper = fsdp.FullyShardedDataParallel
    wrapper.__init__ = sharded_here(wrapper.__init__)
    for name in ("set_device", "synchronize", "empty_cache", "init", "manual_seed_all"):
        setattr(torch.cuda, name, lambda *_args, **_kwargs: None)
    torch.cuda.device_count = devices(torch.cuda.device_count)
    fork_children()
    sleep = time.sleep
    time.sleep = lambda seconds: sleep(min(seconds, 0.05))
