#!/usr/bin/env python3
"""Compares what `allranks ir` or `allranks trace` prints with the golden file beside the source.

usage: run_golden.py [--update] ALLRANKS GOLDEN...
A source that asks for one function only begins with `# trace: FUNCTION`, in C and C++ `// trace: FUNCTION`.
"""

import difflib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# A golden is read by people whenever it changes; a longer one is not read.
MAX_LINES = 80


def source_of(golden):
    candidates = [golden.with_suffix(ending) for ending in (".py", ".c", ".cpp", ".cu")]
    return next((path for path in candidates if path.is_file()), candidates[0])


def printed(binary, golden):
    """On a copy in a folder of its own, as a user without a repository around would see it."""
    source = source_of(golden)
    command = golden.suffix[1:]
    first_line = source.read_bytes().split(b"\n")[0].decode("utf-8", errors="replace")
    function = re.match(rf"(?:#|//)\s*{command}:\s*(\S+)", first_line)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(source, folder)
        what = source.name + (f":{function[1]}" if function else "")
        # Without the CUDA toolkit that a machine may have: declarations stand in.
        result = subprocess.run([binary, command, what], cwd=folder, capture_output=True, text=True, encoding="utf-8",
                                timeout=300, env={**os.environ, "CUDA_HOME": folder})
    if result.returncode != 0:
        return None, f"allranks {command} {what} ended with {result.returncode}: {result.stderr.rstrip()}"
    if result.stdout.count("\n") > MAX_LINES:
        return None, f"{result.stdout.count(chr(10))} lines; no golden has over {MAX_LINES}: cut the source down"
    return result.stdout, None


def difference(binary, golden):
    """Text that says how the golden is wrong; none: it holds."""
    text, problem = printed(binary, golden)
    if problem:
        return problem
    old = golden.read_text(encoding="utf-8")
    return "".join(difflib.unified_diff(old.splitlines(True), text.splitlines(True), golden.name, "printed now"))


def main():
    arguments = sys.argv[1:]
    update = "--update" in arguments
    binary, *goldens = [a for a in arguments if a != "--update"]
    failed = False
    for golden in map(Path, goldens):
        wrong = difference(os.path.abspath(binary), golden)
        if wrong and update:
            text, problem = printed(os.path.abspath(binary), golden)
            if text is not None:
                golden.write_text(text, encoding="utf-8")
                print(f"rewrote {os.path.relpath(golden)}")
                continue
            wrong = problem
        if wrong:
            failed = True
            print(wrong)
            print("run it again:", shlex.join(["python3", os.path.relpath(__file__), os.path.relpath(binary),
                                               os.path.relpath(golden)]))
            print("rewrite it:   tools/update_goldens", os.path.relpath(golden))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
