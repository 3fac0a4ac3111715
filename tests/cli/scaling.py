"""Programs that ask more than people write (hostile.py) end soon, and none grows worse than n log n."""

import re
import resource
import unittest

from hostile import GENERATORS, findings, two_calls_a_level
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
# Where what doubles with each line is not stopped yet by a bound on sizes. Comparing ranks in one function ends at 400,000 steps.
SMALL_SIZES = range(8, 41, 4)
MOST_STEPS_OF_SMALL = 1_000_000
# Seconds, for a run that does not end at all. What is counted is steps.
PATIENCE = 60


class Scaling(CliTest):
    def steps(self, text):
        """Of the analysis, which are counted: the same in each run, whatever else the machine does."""
        self.write("a.py", text)
        result = self.run_allranks("check", "-q", "--no-cache", "--isolated", "--profile", "a.py", timeout=PATIENCE)
        self.assertIn(result.code, (0, 1), result.err)
        return int(re.search(r"steps of the analysis: (\d+)", result.err).group(1))

    def setUp(self):
        super().setUp()
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))

    def test_small_sizes(self):
        for generator in GENERATORS:
            for size in SMALL_SIZES:
                with self.subTest(generator.__name__, size=size):
                    self.assertLess(self.steps(generator(size)), MOST_STEPS_OF_SMALL)

    def test_growth(self):
        for generator, size in GENERATORS.items():
            with self.subTest(generator.__name__):
                small, large = generator(2 * size), generator(4 * size)
                growth = len(large) / len(small) * MOST_GROWTH * (2 if generator in SQUARE else 1)
                few, many = self.steps(small), self.steps(large)
                self.assertLess(many, max(few, FEW_STEPS) * growth, f"{few} steps, and {many}")


class ManyFindings(CliTest):
    """What is done with findings counts no steps: the time of the processor is measured, where more than n log n shows beside all else."""

    SIZE = 5_000
    TIMES = 4

    def seconds(self, text):
        self.write("a.py", text)
        begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        result = self.run_allranks("check", "-q", "-n", "--isolated", "-j", "1", "a.py", timeout=PATIENCE)
        self.assertEqual(result.code, 1, result.err)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin

    def test_growth(self):
        few, many = (self.seconds(findings(size)) for size in (self.SIZE, self.TIMES * self.SIZE))
        # Squares take sixteen times as long where nothing else counts.
        self.assertLess(many, few * self.TIMES * MOST_GROWTH)


if __name__ == "__main__":
    main()
