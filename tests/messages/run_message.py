#!/usr/bin/env python3
"""Compares what a user sees of one finding of a rule, whole, with what was seen when somebody last read it.

usage: run_message.py [--update] ALLRANKS REPOSITORY [CODE...]. `<CODE>.txt` beside this names a fixture in its first line
and holds the text that `allranks check` prints for it, and what its fixes would change. `tools/update_messages` rewrites
all of them, and makes those that are missing; read the difference as somebody who has never seen the tool. A headline that
would not fit on the line of a terminal is wrong.
"""

import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "fixtures"))
from expectations import files_of, read_fixture  # noqa: E402

HEADLINE = re.compile(r"^(?:error|warning|info|note)\[AR\d+\]: (.*)$", re.MULTILINE)
LONGEST = 99

EXPECT = re.compile(rb"[ \t]*(?:#|//)\s*(?:expect(?:-next-line)?|args):.*$", re.MULTILINE)


def first_fixture(root, code):
    """The one that shows the rule with the fewest findings, a Python file if there is one."""
    shown = []
    for fixture in (root / "fixtures" / code).iterdir():
        known = fixture.is_dir() or fixture.suffix in (".py", ".cpp", ".cu", ".c", ".ipynb")
        if not known or fixture.name.startswith(("ok_", ".")):
            continue
        count = sum(e.code == code for e in read_fixture(fixture)[0])
        if count > 0:
            shown.append((fixture.suffix != ".py", count, fixture.name, fixture))
    return min(shown)[-1] if shown else None


def check(binary, folder, code, *args):
    run = subprocess.run([binary, "check", "--isolated", "--select", code, "--color", "never", *args, "."], cwd=folder,
                         capture_output=True, text=True, encoding="utf-8", timeout=120, env={**os.environ, "CUDA_HOME": folder})
    if run.returncode not in (0, 1):
        raise RuntimeError(f"allranks ended with {run.returncode}: {run.stderr.strip()}")
    return run.stdout


def printed(binary, root, code, fixture):
    args = read_fixture(fixture)[1]
    args = [a for i, a in enumerate(args) if a != "--select" and (i == 0 or args[i - 1] != "--select")]
    with tempfile.TemporaryDirectory() as folder:
        for path, shown in files_of(fixture):
            copy = Path(folder, shown)
            copy.parent.mkdir(parents=True, exist_ok=True)
            # Some fixtures are not UTF-8 on purpose.
            copy.write_bytes(EXPECT.sub(b"", path.read_bytes()))
        text = check(binary, folder, code, *args)
        fixes = check(binary, folder, code, "--diff", "--unsafe-fixes", *args)
    out = f"{fixture.relative_to(root).as_posix()}\n\n{text}"
    return out + (f"\n{fixes}" if fixes.startswith("--- ") else "")


def main():
    arguments = sys.argv[1:]
    update = "--update" in arguments
    binary, root, *codes = [a for a in arguments if a != "--update"]
    root = Path(root).resolve()
    failed = False
    for code in codes or sorted(path.name for path in (root / "fixtures").glob("AR*")):
        golden = HERE / f"{code}.txt"
        fixture = root / golden.read_text(encoding="utf-8").split("\n")[0] if golden.exists() else first_fixture(root, code)
        if fixture is None:
            continue
        now = printed(os.path.abspath(binary), root, code, fixture)
        before = golden.read_text(encoding="utf-8") if golden.exists() else ""
        for head in HEADLINE.findall(now):
            if len(head) > LONGEST:
                failed = True
                print(f"{code}: a headline of {len(head)} characters; at most {LONGEST}, the rest behind a colon: {head}")
        if f"[{code}]: " not in now:
            failed = True
            print(f"{code}: {fixture.relative_to(root)} shows no finding; name another fixture in the first line of {golden.name}")
            continue
        if now == before:
            continue
        if update:
            golden.write_text(now, encoding="utf-8")
            print(f"rewrote {os.path.relpath(golden)}")
            continue
        failed = True
        print("".join(difflib.unified_diff(before.splitlines(True), now.splitlines(True), golden.name, "printed now")))
        print("rewrite it:   tools/update_messages", code)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
