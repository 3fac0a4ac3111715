"""The same answer, byte for byte, however many threads work and whatever is read from the cache."""

import random
import re

from support import CliTest, main


def module(random_, number):
    """A module with findings that imports others: order of reading must not show."""
    lines = ["import torch.distributed as dist"]
    lines += [f"from m{random_.randrange(60):02} import f{random_.randrange(3)}" for _ in range(4)]
    for name in range(3):
        lines += ["", f"def f{name}(flag, model):"]
        for _ in range(random_.randrange(1, 5)):
            lines += random_.choice([
                ["    if dist.get_rank() == 0:", "        dist.barrier()"],
                ["    dist.all_reduce(model)"],
                [f"    f{random_.randrange(3)}(flag, model)"],
                ["    if flag:", "        dist.broadcast(model, 0)"],
                ["    while True:", "        dist.barrier()", "        if dist.get_rank() > 1:", "            break"],
            ])
    return "\n".join(lines + [f"# {number}", ""])


def answer(report):
    """Without what SARIF says of the run itself: its arguments and times."""
    return re.sub(r'"invocations": \[.*?\n      \]', "", report, flags=re.DOTALL)


class Determinism(CliTest):
    def test_jobs(self):
        random_ = random.Random(1)
        for i in range(60):
            self.write(f"m{i:02}.py", module(random_, i))
        for form in ("full", "json", "sarif"):
            outputs = {answer(self.run_allranks("check", "--output-format", form, "--jobs", jobs, "--select", "ALL",
                                                "--min-confidence", "possible", *cache).out)
                       for jobs in (1, 2, 8, 1, 8) for cache in ([], ["--no-cache"])}
            self.assertEqual(len(outputs), 1, form)
            self.assertGreater(len(outputs.pop()), 10_000)
        coverage = {self.run_allranks("check", "--coverage", "-v", "--jobs", jobs).out for jobs in (1, 2, 8)}
        self.assertEqual(len(coverage), 1)


if __name__ == "__main__":
    main()
