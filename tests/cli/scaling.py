"""Programs that ask more than people write (hostile.py) end soon, and none grows worse than n log n."""

import re
import resource
import unittest

from hostile import GENERATORS, two_calls_a_level
from support import CliTest, main

# Of address space. Stacks take up to half a gigabyte of it.
MOST_MEMORY = 2 << 30
# How much faster than the text the steps may grow: n log n grows 1.1 times as fast at these sizes. Where a bound is reached
# they grow less.
MOST_GROWTH = 1.25
# A function is compared together with all that it calls: in a row of n that is n times, up to the bound of a file.
SQUARE = {two_calls_a_level}
# Fewer steps say nothing.
FEW_STEPS = 20_000


class Scaling(CliTest):
    def steps(self, text):
        """Of the analysis, which are counted: the same in each run, whatever else the machine does."""
        self.write("a.py", text)
        result = self.run_allranks("check", "-q", "--no-cache", "--isolated", "--profile", "a.py", timeout=20)
        self.assertIn(result.code, (0, 1), result.err)
        return int(re.search(r"steps of the analysis: (\d+)", result.err).group(1))

    def test_growth(self):
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
        for generator, size in GENERATORS.items():
            with self.subTest(generator.__name__):
                small, large = generator(2 * size), generator(4 * size)
                growth = len(large) / len(small) * MOST_GROWTH * (2 if generator in SQUARE else 1)
                few, many = self.steps(small), self.steps(large)
                self.assertLess(many, max(few, FEW_STEPS) * growth, f"{few} steps, and {many}")


if __name__ == "__main__":
    main()
