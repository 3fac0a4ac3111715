#!/usr/bin/env python3
"""Compares allranks with what generated programs do: writes them, runs them on simulated ranks, has them checked.

usage: run.py ALLRANKS [--seed N] [--count N | --factors] [--language python|c] [--shrink] [--keep DIR] [--table] [--test FILE]

--seed, --count  the programs of the seeds N, N+1, ...
--factors        instead of these, the programs that have one thing of each kind
--language c     those of them that C can say, as C with MPI
--table          counts by feature: what guards, carriers, forms, groups and patterns the programs have
--shrink         makes programs small on which the two disagree, and prints each of them once
--keep DIR       writes such programs into a folder, with what they do and what was said
--test FILE      exits with 1 unless all is as FILE says: open disagreements by seed, and the least share of mismatches found
--update         with --test: writes the disagreements of today into FILE; each needs its cause by hand
"""

import argparse
import multiprocessing
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from compare import LANGUAGES, Kind, emitted, judged
from expected import Expected
from factors import programs
from generate import write
from shrink import canonical, is_whole, shrunk

# Programs that are checked by one run of allranks.
BATCH = 250


@dataclass
class Result:
    name: str
    kind: Kind
    features: frozenset
    text: str
    notes: list


def _of_batch(task):
    binary, language, batch = task
    written = {program.text: program for program in (map(write, batch) if isinstance(batch, range) else batch)}
    results = []
    for text, truth, report, kind in judged(binary, written, LANGUAGES[language]):
        wrong = kind is not None and not kind.is_right()
        notes = [f"{truth.fate.value}: {truth.world} {truth.detail}".rstrip(), *report.findings] if wrong else []
        results.append(Result(written[text].name, kind, written[text].features, text if wrong else "", notes))
    return results


def _shrunk(task):
    binary, language, result = task

    def holding(texts):
        return [text for text, _, _, kind in judged(binary, filter(is_whole, texts), LANGUAGES[language]) if kind is result.kind]

    # Beside others a program may be judged otherwise than alone: then it is left as it is.
    return result, shrunk(result.text, holding) if holding([result.text]) else result.text


def table(results):
    """Lines: what became of the programs that have a feature."""
    counts = defaultdict(Counter)
    for result in results:
        for feature in result.features:
            counts[feature][result.kind] += 1
    yield f"{'feature':<40}" + "".join(f"{kind.value:>14}" for kind in Kind)
    for feature, kinds in sorted(counts.items()):
        yield f"{feature:<40}" + "".join(f"{kinds[kind]:>14}" for kind in Kind)


def summary(results):
    kinds = Counter(result.kind for result in results)
    mismatches = kinds[Kind.FOUND] + kinds[Kind.MISSED] + kinds[Kind.PROVEN]
    agreements = kinds[Kind.SILENT] + kinds[Kind.FALSE]
    return (f"{len(results)} programs: {agreements} agree, {kinds[Kind.FALSE]} of them flagged; {mismatches} mismatch, "
            f"{kinds[Kind.FOUND]} of them found ({100 * kinds[Kind.FOUND] / max(mismatches, 1):.1f} %), {kinds[Kind.PROVEN]} called proven aligned")


def keep(folder, result, text, language):
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"\W+", "_", f"{result.kind.value} {result.name}")
    (folder / f"{name}.txt").write_text("".join(f"{note}\n" for note in result.notes), encoding="utf-8")
    (folder / f"{name}{language.ending}").write_text(emitted(text, language), encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2)
    for flag in ("--factors", "--shrink", "--table", "--update"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--language", choices=sorted(LANGUAGES), default="python")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--test", type=Path)
    return parser.parse_args()


def run(options, pool):
    """The results of all programs of which something is known, and the small programs of those that disagree."""
    binary = str(Path(options.binary).resolve())
    sources = list(programs()) if options.factors else range(options.seed, options.seed + options.count)
    batches = [(binary, options.language, sources[first:first + BATCH]) for first in range(0, len(sources), BATCH)]
    results = [result for batch in pool.imap(_of_batch, batches) for result in batch if result.kind is not None]
    wrong = [result for result in results if not result.kind.is_right()]
    small = pool.imap(_shrunk, [(binary, options.language, result) for result in wrong]) if options.shrink else ((result, result.text) for result in wrong)
    seen = Counter()
    for result, text in small if options.shrink or options.keep else ():
        if options.keep:
            keep(options.keep, result, text, LANGUAGES[options.language])
        form = (result.kind, canonical(text))
        if options.shrink and not seen[form]:
            print(f"\n# {result.kind.value}, {result.name}", *result.notes, sep="\n# ")
            print(emitted(text, LANGUAGES[options.language]), flush=True)
        seen[form] += 1
    return results


def main():
    options = arguments()
    with multiprocessing.Pool(options.jobs) as pool:
        results = run(options, pool)
    if options.table:
        print(*table(results), sep="\n")
    print(summary(results))
    if options.test is None:
        return 0
    expected = Expected.read(options.test)
    if options.update:
        expected.update(results).write(options.test)
        return 0
    problems = list(expected.problems(results))
    print(*expected.remarks(results), *problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
