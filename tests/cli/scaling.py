"""Programs that ask more than people write (hostile.py) end soon, and none grows worse than n log n."""

import re
import resource
import unittest

from hostile import GENERATORS, OF_OTHER_FILES, decorators, finally_in_a_row, findings, text_of_size, two_calls_a_level
from support import GUARDED, CliTest, main

# Of address space. Stacks take up to half a gigabyte of it.
MOST_MEMORY = 2 << 30
# How much faster than the text the steps may grow: n log n grows 1.1 times as fast at these sizes. Where a bound is reached
# they grow less.
MOST_GROWTH = 1.25
# A function is compared together with all that it calls: in a row of n that is n times, up to the bound of a file.
SQUARE = {two_calls_a_level}
# Fewer steps say nothing.
FEW_STEPS = 20_000
# Where what doubles with each line is not stopped yet by a bound on sizes. Comparing ranks in one function ends at 100,000 steps.
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


class WorkOfTheProcessor(CliTest):
    """Steps do not count all that is done: the time of the processor is measured as well, of each text and of one four times as long. What
    every run needs is taken off, and the better of a few tries counts, as the machine may do other work. Squares take sixteen times
    as long, n log n less than five times."""

    SIZE = 12_500
    # What takes little time each grows past what a run needs anyway at larger sizes only.
    LARGER = {decorators: 60_000, finally_in_a_row: 240_000, findings: 120_000}
    TIMES = 4
    MOST_GROWTH = 12
    TRIES = 3
    # A parser to which `arguments_nobody_takes` gives its arguments.
    TRAIN = "import argparse\nparser = argparse.ArgumentParser()\n" + "".join(f"parser.add_argument('--b{i}')\n" for i in range(500)) + "parser.parse_args()\n"

    def seconds(self, name, text):
        self.write(name, text)
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = self.run_allranks("check", "-q", "-n", "-j", "1", timeout=PATIENCE)
        self.assertIn(result.code, (0, 1), result.err)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        return end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime

    def growth(self, name, small, large):
        """How many times as long the large text takes, for each time that it is as large."""
        start = min(self.seconds(name, "") for _ in range(self.TRIES))
        few = max(self.seconds(name, small) - start, start)
        return (self.seconds(name, large) - start) / few / (len(large) / len(small)) * self.TIMES

    def check_growth(self, generator, name):
        small, large = (text_of_size(generator, size) for size in (self.LARGER.get(generator, self.SIZE) * times for times in (1, self.TIMES)))
        most = self.MOST_GROWTH * (self.TIMES if generator in SQUARE else 1)
        for _ in range(self.TRIES):
            growth = self.growth(name, small, large)
            if growth < most:
                return
        self.fail(f"{generator.__name__}: a text {self.TIMES} times as long takes {growth:.1f} times as long")

    def test_python(self):
        for generator in GENERATORS:
            with self.subTest(generator.__name__):
                self.check_growth(generator, "a.py")

    def test_other_files(self):
        self.write("train.py", self.TRAIN)
        self.write("b.py", GUARDED)
        for generator, name in OF_OTHER_FILES.items():
            with self.subTest(generator.__name__):
                self.check_growth(generator, name)
                (self.root / name).unlink()


if __name__ == "__main__":
    main()
