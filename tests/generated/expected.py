"""What a test run expects of generated programs: which disagreements are known and open, and how many mismatches are found.

In the file: `found 0.53`, the least share of mismatches that are found; then one known disagreement a line, as
`12 false alarm: its cause`. A false alarm or a wrong proof that is not named fails the test; a miss only counts for the share.
"""

import re
from dataclasses import dataclass, field

from compare import Kind

_LINE = re.compile(r"(?P<seed>\d+) (?P<kind>[a-z ]+): (?P<cause>.+)")
_COMMENT = "# Known disagreements of the generated programs of the test run; docs/testing.md says how to renew this list.\n"


@dataclass
class Expected:
    found: float = 0.0
    # (seed, kind): cause.
    known: dict = field(default_factory=dict)

    @staticmethod
    def read(path):
        expected = Expected()
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("found "):
                expected.found = float(line.split()[1])
            elif match := _LINE.fullmatch(line):
                expected.known[int(match["seed"]), match["kind"]] = match["cause"]
        return expected

    def write(self, path):
        lines = [f"{seed} {kind}: {cause}\n" for (seed, kind), cause in sorted(self.known.items())]
        path.write_text(f"{_COMMENT}found {self.found}\n" + "".join(lines), encoding="utf-8")

    def update(self, results):
        """The same list for what is open today; what is new has no cause yet."""
        self.known = {key: self.known.get(key, "not looked into") for key in _grave(results)}
        return self

    def problems(self, results):
        share = _share(results)
        if share < self.found:
            yield f"{100 * share:.1f} % of mismatches are found; {100 * self.found:.1f} % were"
        for seed, kind in _grave(results):
            if (seed, kind) not in self.known:
                yield f"{kind}, seed {seed}: run.py ALLRANKS --seed {seed} --count 1 --shrink"

    def remarks(self, results):
        open_ones = [key for key in _grave(results) if key in self.known]
        healed = [key for key in self.known if key not in open_ones]
        yield f"{len(open_ones)} known disagreements are open"
        if healed:
            yield f"{len(healed)} are not any more: --update takes them out of the list"


def _grave(results):
    return [(result.seed, result.kind.value) for result in results if result.kind in (Kind.FALSE, Kind.PROVEN)]


def _share(results):
    kinds = [result.kind for result in results]
    mismatches = sum(kind in (Kind.FOUND, Kind.MISSED, Kind.PROVEN) for kind in kinds)
    return kinds.count(Kind.FOUND) / mismatches if mismatches else 1.0
