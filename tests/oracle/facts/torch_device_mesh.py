"""A mesh of one dimension as long as the job makes no group anew; one with more dimensions makes some."""

import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

PROVES = "torch_ddp_fsdp.toml: init_device_mesh is a group_create"
WORLD = 4


def check(rank, _world):
    before = dist.get_pg_count()
    init_device_mesh("cpu", (4,))
    one = dist.get_pg_count() - before
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    assert dist.get_pg_count() - before - one >= 2
    assert mesh["tp"].get_local_rank() == rank % 2 and mesh["dp"].get_local_rank() == rank // 2
    assert dist.get_process_group_ranks(mesh.get_group("tp")) == [rank // 2 * 2, rank // 2 * 2 + 1]
