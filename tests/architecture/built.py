#!/usr/bin/env python3
"""Every source file is built: a test that no CMakeLists.txt names passes by never running.

usage: built.py REPOSITORY. Prints each source file that nothing builds and exits with 1 if there is one.
"""

import re
import sys
from pathlib import Path

ROOTS = ("analyzer", "frontends", "rules", "witness", "explain", "driver", "runtime-verify", "tests", "bench")
# Sources that are read by tests, not built.
DATA = ("tests/golden", "tests/fixtures", "tests/vscode")


def words(cmake_file):
    """The words of a CMakeLists.txt, and the two files that each allranks_fuzz(NAME ...) stands for."""
    text = re.sub(r"#[^\n]*", "", cmake_file.read_text(encoding="utf-8"))
    fuzzers = re.findall(r"allranks_fuzz\((\w+)", text)
    return {*re.findall(r"[\w./-]+", text), *(f"{name}{end}.cpp" for name in fuzzers for end in ("", "_test"))}


def is_built(root, path):
    """Whether the file is named by a CMakeLists.txt of its folder or of one above, relative to that folder."""
    for folder in path.parents:
        cmake_file = root / folder / "CMakeLists.txt"
        if cmake_file.exists() and path.relative_to(folder).as_posix() in words(cmake_file):
            return True
    return False


def offending(root):
    for top in ROOTS:
        for absolute in sorted((root / top).rglob("*.cpp")):
            path = absolute.relative_to(root)
            if "node_modules" in path.parts or path.as_posix().startswith(DATA):
                continue
            if not is_built(root, path):
                yield f"{path.as_posix()}: no CMakeLists.txt names it"


def main():
    wrong = list(offending(Path(sys.argv[1])))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
