"""Programs that ask more than people write (hostile.py) end soon, within a bound of memory."""

import resource
import unittest

from hostile import GENERATORS
from support import CliTest, main

# Of address space. Stacks take up to half a gigabyte of it.
MOST_MEMORY = 2 << 30


class Scaling(CliTest):
    def check(self, text):
        self.write("a.py", text)
        return self.run_allranks("check", "-q", "--no-cache", "--isolated", "--output-format", "concise", "--extend-select", "AR003",
                                 "a.py", timeout=20)

    def test_all_end(self):
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
        for generator, size in GENERATORS.items():
            with self.subTest(generator.__name__):
                result = self.check(generator(4 * size))
                self.assertIn(result.code, (0, 1), result.err)


if __name__ == "__main__":
    main()
