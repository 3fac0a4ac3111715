#!/usr/bin/env python3
"""Small by budget: lengths of functions and files, in lines.

usage: budget.py REPOSITORY. Prints the measured figures, then what is over; exit code 1 if anything is.
The figures are those that the good code bases of this field live at; budget_exemptions.txt names what may be longer,
each with its reason.
"""

import sys
from pathlib import Path

from cpp_text import cpp_files, functions, read

FUNCTION_MEDIAN, FUNCTION_P90, FUNCTION_MAX = 10, 40, 120
FILE_P90, FILE_MAX = 450, 1000


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0


def read_exemptions(path):
    """{"file" or "file:function"}: one a line, the reason behind a #."""
    exempt = set()
    for line in read(path).splitlines() if path.exists() else []:
        what, _, reason = line.partition("#")
        if what.strip():
            if not reason.strip():
                raise SystemExit(f"{path}: `{what.strip()}` has no reason; write it behind a #")
            exempt.add(what.strip())
    return exempt


def over_budget(root, exempt):
    """The figures, and a line for each excess."""
    function_lengths, file_lengths, wrong, used = [], [], [], set()
    for path in cpp_files(root):
        source = read(root / path)
        length = source.count("\n")
        is_test = path.stem.endswith("_test")
        if not is_test:
            file_lengths.append(length)
        if length > FILE_MAX:
            used.add(path.as_posix())
            wrong += [] if path.as_posix() in exempt else [f"{path}:1: {length} lines; no file has over {FILE_MAX}"]
        for function in functions(source):
            if not is_test:
                function_lengths.append(function.length)
            if function.length > FUNCTION_MAX:
                key = f"{path.as_posix()}:{function.name}"
                used.add(key)
                if key not in exempt:
                    wrong.append(f"{path}:{function.line}: `{function.name}` has {function.length} lines; "
                                 f"no function has over {FUNCTION_MAX}")
    figures = {
        "function median": (quantile(function_lengths, 0.5), FUNCTION_MEDIAN),
        "function p90": (quantile(function_lengths, 0.9), FUNCTION_P90),
        "function max": (max(function_lengths, default=0), FUNCTION_MAX),
        "file p90": (quantile(file_lengths, 0.9), FILE_P90),
        "file max": (max(file_lengths, default=0), FILE_MAX),
    }
    wrong += [f"{name}: {value} lines, the budget is {budget}" for name, (value, budget) in figures.items()
              if value > budget and not name.endswith("max")]
    wrong += [f"budget_exemptions.txt: `{key}` is not over the budget: take it out" for key in sorted(exempt - used)]
    return figures, len(function_lengths), len(file_lengths), wrong


def main():
    root = Path(sys.argv[1])
    exempt = read_exemptions(root / "tests/size/budget_exemptions.txt")
    figures, function_count, file_count, wrong = over_budget(root, exempt)
    print(f"{function_count} functions in {file_count} files, tests left out; lines:")
    for name, (value, budget) in figures.items():
        print(f"  {name:16} {value:5} of {budget}")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong or not file_count else 0


if __name__ == "__main__":
    sys.exit(main())
