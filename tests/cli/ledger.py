"""What the ledger calls proven, and what it does not: of each program the verdict of its barrier."""

import re

from support import CliTest, main

BEGIN = "import torch.distributed as dist\ndist.init_process_group('gloo')\nrank = dist.get_rank()\n"


class Ledger(CliTest):
    def verdict(self, text, operation="barrier"):
        """Of the operation of a program that is given without its beginning."""
        self.write("a.py", BEGIN + text)
        out = self.run_allranks("check", "-n", "--isolated", "--coverage", "-v").out
        return re.search(r"a\.py:\d+:\d+: ([\w ]+) `torch\.distributed\.%s`" % operation, out).group(1)

    def test_how_deep_a_rank_gets(self):
        walk = "def walk(n):\n    dist.barrier()\n    if n > 0:\n        walk(n - 1)\n"
        self.assertEqual(self.verdict(walk + "walk(3)\n"), "proven aligned")
        self.assertEqual(self.verdict(walk + "walk(rank)\n"), "flagged")
        self.assertEqual(self.verdict(walk + "walk(dist.get_world_size())\n"), "proven aligned")
        self.assertEqual(self.verdict(walk + "walk(20)\n"), "proven aligned")
        self.assertEqual(self.verdict(walk + "walk(50)\n"), "unknown")

    def test_order_of_a_set(self):
        loop = "def sync(totals, names):\n    for name in %s:\n        dist.all_reduce(totals[name])\n"
        self.assertEqual(self.verdict(loop % "{'a', 'b'}", "all_reduce"), "flagged")
        self.assertEqual(self.verdict(loop % "set(names)", "all_reduce"), "aligned as far as read")
        barriers = "for name in {'a', 'b'}:\n    dist.barrier()\n"
        self.assertEqual(self.verdict(barriers), "proven aligned")

    def test_sizes_that_the_program_asks_for(self):
        self.assertEqual(self.verdict("if dist.get_world_size() > 3 and rank < 2:\n    dist.barrier()\n"), "flagged")
        self.assertEqual(self.verdict("assert dist.get_world_size() <= 4\nif rank < 3:\n    dist.barrier()\n"), "flagged")
        self.assertEqual(self.verdict("assert dist.get_world_size() <= 4\nif rank < 4:\n    dist.barrier()\n"), "proven aligned")

        self.assertEqual(self.verdict("if dist.get_world_size() // 2 > 1 and rank == 0:\n    dist.barrier()\n"), "flagged")
        self.assertEqual(self.verdict("if dist.get_world_size() // 2 > 1:\n    dist.barrier()\n"), "proven aligned")

    def test_meshes_that_name_a_dimension_alike(self):
        program = ("from torch.distributed.device_mesh import init_device_mesh\nhalf = dist.get_world_size() // 2\n"
                   "one = init_device_mesh('cuda', (2, half), mesh_dim_names=('dp', 'tp'))\n"
                   "other = init_device_mesh('cuda', %s, mesh_dim_names=('dp', 'tp'))\n"
                   "dist.barrier(group=one['dp'].get_group())\ndist.barrier(group=other['dp'].get_group())\n")
        self.assertEqual(self.verdict(program % "(2, half)"), "proven aligned")
        self.assertEqual(self.verdict(program % "(half, 2)"), "aligned as far as read")

    def test_bits_of_a_rank(self):
        self.assertEqual(self.verdict("if rank & (rank - 1) == 0:\n    dist.barrier()\n"), "flagged")
        self.assertEqual(self.verdict("if rank & 7 == 8:\n    dist.barrier()\n"), "proven aligned")

    def test_what_a_handler_may_catch(self):
        self.assertEqual(self.verdict("try:\n    dist.barrier()\nfinally:\n    print(rank)\n"), "proven aligned")
        self.assertEqual(self.verdict("try:\n    dist.barrier()\nexcept ValueError as error:\n    raise OSError from error\n"), "proven aligned")
        self.assertEqual(self.verdict("try:\n    print(len(rows))\n    dist.barrier()\nexcept NameError:\n    pass\n"), "aligned as far as read")
        self.assertEqual(self.verdict("def stop():\n    try:\n        next(rows)\n    except StopIteration:\n        return True\n"
                                      "while not stop():\n    dist.barrier()\n"), "aligned as far as read")

    def test_groups_that_a_job_of_the_named_ranks_cannot_make(self):
        program = ("import torch\npair, pairs = dist.new_subgroups(group_size=2)\nfor step in range(3):\n    if rank == %s:\n        break\n"
                   "    dist.all_reduce(torch.ones(1), group=pair)\n"
                   "match rank:\n    case 0:\n        print(0)\n    case 1 | 2:\n        print(1)\n    case _:\n        print(2)\ndist.barrier()\n")
        self.assertEqual(self.verdict(program % "dist.get_world_size() - 1", "all_reduce"), "flagged")
        self.assertEqual(self.verdict(program % "dist.get_world_size()", "all_reduce"), "proven aligned")

    def test_dimensions_without_a_name(self):
        program = ("import torch\nfrom torch.distributed.device_mesh import init_device_mesh\nfrom torch.distributed.fsdp import fully_shard\n"
                   "mesh = init_device_mesh('cuda', (2, 2), mesh_dim_names=('rep', 'shard'))\nmodel = torch.nn.Linear(2, 2)\n"
                   "fully_shard(model, mesh=mesh)\nif %s:\n    model(torch.rand(2, 2))\n    dist.barrier()\n")
        self.assertEqual(self.verdict(program % "dist.get_world_size() == 4"), "proven aligned")
        forward = (BEGIN + program % "mesh['shard'].get_local_rank() == 0").replace("    dist.barrier()\n", "")
        self.write("b.py", forward)
        self.assertIn("1 aligned as far as read", self.run_allranks("check", "-n", "--isolated", "b.py").out)

    def test_types_of_elements(self):
        program = "import torch\nx = torch.ones(4)\ny = x.%s() if rank == 0 else x.float()\ndist.all_reduce(y)\n"
        self.assertEqual(self.verdict(program % "double", "all_reduce"), "aligned as far as read")
        self.assertEqual(self.verdict(program % "float", "all_reduce"), "proven aligned")

    def test_circles_over_groups(self):
        program = ("from torch.distributed.device_mesh import init_device_mesh\n"
                   "mesh = init_device_mesh('cuda', (dist.get_world_size() // 2, 2), mesh_dim_names=('dp', 'tp'))\n"
                   "row, column = mesh.get_group('tp'), mesh.get_group('dp')\n"
                   "if %s:\n    dist.barrier(row)\n    dist.barrier(column)\nelse:\n    dist.barrier(column)\n    dist.barrier(row)\n")
        self.assertEqual(self.verdict(program % "rank // 2 % 2 == 0"), "proven aligned")
        # Rank 0 waits for 1, that for 3, that for 2, and that for 0.
        self.assertEqual(self.verdict(program % "rank in (0, 3)"), "unknown")


if __name__ == "__main__":
    main()
