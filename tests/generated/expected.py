"""What a test run expects of generated programs: which disagreements are known and open, and how many mismatches are found.

In the file: one known disagreement a line, as `false alarm | the program's name | its cause`. One that is not named fails
the test. With a line `found 0.53`, the least share of mismatches that are found, misses count for that share and are not named.
"""

from dataclasses import dataclass, field

from compare import Kind

_COMMENT = "# Known disagreements of generated programs; docs/testing.md says how to renew this list.\n"


@dataclass
class Expected:
    found: float = None
    # (kind, name): cause.
    known: dict = field(default_factory=dict)

    @staticmethod
    def read(path):
        expected = Expected()
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("found "):
                expected.found = float(line.split()[1])
            elif line and not line.startswith("#"):
                kind, name, cause = line.split(" | ")
                expected.known[kind, name] = cause
        return expected

    def write(self, path):
        share = [] if self.found is None else [f"found {self.found}\n"]
        lines = [f"{kind} | {name} | {cause}\n" for (kind, name), cause in self.known.items()]
        path.write_text("".join([_COMMENT, *share, *lines]), encoding="utf-8")

    def update(self, results):
        """The same list for what is open today; what is new has no cause yet."""
        self.known = {key: self.known.get(key, "not looked into") for key in self._named(results)}
        return self

    def _named(self, results):
        kinds = (Kind.FALSE, Kind.PROVEN) + ((Kind.MISSED,) if self.found is None else ())
        return [(result.kind.value, result.name) for result in results if result.kind in kinds]

    def problems(self, results):
        share = _share(results)
        if share < (self.found or 0):
            yield f"{100 * share:.1f} % of mismatches are found; {100 * self.found:.1f} % were"
        for kind, name in self._named(results):
            if (kind, name) not in self.known:
                yield f"{kind}, not known: {name}"

    def remarks(self, results):
        open_ones = [key for key in self._named(results) if key in self.known]
        yield f"{len(open_ones)} known disagreements are open"
        if len(open_ones) < len(self.known):
            yield f"{len(self.known) - len(open_ones)} are not any more: --update takes them out of the list"


def _share(results):
    kinds = [result.kind for result in results]
    mismatches = sum(kind in (Kind.FOUND, Kind.MISSED, Kind.PROVEN) for kind in kinds)
    return kinds.count(Kind.FOUND) / mismatches if mismatches else 1.0
