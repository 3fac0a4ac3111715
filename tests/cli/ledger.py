"""What the ledger calls proven, and what it does not: of each program the verdict of its barrier."""

import re

from support import CliTest, main

BEGIN = "import torch.distributed as dist\ndist.init_process_group('gloo')\nrank = dist.get_rank()\n"


class Ledger(CliTest):
    def verdict(self, text):
        """Of the barrier of a program that is given without its beginning."""
        self.write("a.py", BEGIN + text)
        out = self.run_allranks("check", "-n", "--isolated", "--coverage", "-v").out
        return re.search(r"a\.py:\d+:\d+: ([\w ]+) `torch\.distributed\.barrier`", out).group(1)

    def test_how_deep_a_rank_gets(self):
        walk = "def walk(n):\n    dist.barrier()\n    if n > 0:\n        walk(n - 1)\n"
        self.assertEqual(self.verdict(walk + "walk(3)\n"), "proven aligned")
        self.assertEqual(self.verdict(walk + "walk(rank)\n"), "unknown")

    def test_sizes_that_the_program_asks_for(self):
        self.assertEqual(self.verdict("if dist.get_world_size() > 3 and rank < 2:\n    dist.barrier()\n"), "flagged")
        self.assertEqual(self.verdict("assert dist.get_world_size() <= 4\nif rank < 3:\n    dist.barrier()\n"), "flagged")
        self.assertEqual(self.verdict("assert dist.get_world_size() <= 4\nif rank < 4:\n    dist.barrier()\n"), "proven aligned")

    def test_bits_of_a_rank(self):
        self.assertEqual(self.verdict("if rank & (rank - 1) == 0:\n    dist.barrier()\n"), "flagged")
        self.assertEqual(self.verdict("if rank & 7 == 8:\n    dist.barrier()\n"), "proven aligned")


if __name__ == "__main__":
    main()
