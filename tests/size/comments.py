#!/usr/bin/env python3
"""Comments say why, on lines of their own: no reminders, no commented-out code, no comment behind a statement.

usage: comments.py REPOSITORY. Prints each offending line as path:line and exits with 1 if there is one.
A comment behind the declaration of a member, parameter or enumerator is welcome: a struct reads like a table then.
"""

import re
import sys
from pathlib import Path

from cpp_text import comments, cpp_files, functions, read

REMINDER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
# Lines that only code has: a statement with its semicolon, a block's braces, a preprocessor line.
CODE = re.compile(
    r"""^\s*(
        \#\s*(include|if|ifdef|ifndef|endif|define)\b.*
      | [\w:<>,&*\s\[\].()\->"'+=!]*[\w)\]"']\s*;
      | (if|for|while|switch)\s*\(.*\)\s*\{?
      | \}\s*(else\s*\{)?
      | return\b[^.]*;
    )\s*$""",
    re.VERBOSE,
)
MAY_TRAIL = re.compile(r"//\s*(namespace\b|NOLINT|extern\b)|/\*")
SCRIPT_ENDINGS = {".py", ".sh", ".cmake", ".txt"}


def wrong_in_cpp(source):
    """(line, sentence) of each offence."""
    bodies = [(f.line, f.line + f.length - 1) for f in functions(source)]
    for comment in comments(source):
        if match := REMINDER.search(comment.text):
            yield comment.line, f"{match[0]}: do it, or open an issue"
        if comment.is_trailing:
            inside = any(first <= comment.line <= last for first, last in bodies)
            if inside and not MAY_TRAIL.match(comment.text):
                yield comment.line, "a comment behind a statement: give it a line of its own above"
        elif comment.text.startswith("//") and CODE.match(comment.text.lstrip("/")):
            yield comment.line, "commented-out code: take it out"


def offending(root):
    for path in cpp_files(root):
        for line, sentence in wrong_in_cpp(read(root / path)):
            yield f"{path.as_posix()}:{line}: {sentence}"
    for top in ("bench", "cmake", "tests", "tools"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SCRIPT_ENDINGS and "node_modules" not in path.parts and path.is_file() and path.parent.name != "size":
                for number, text in enumerate(read(path).splitlines(), 1):
                    if "#" in text and (match := REMINDER.search(text.partition("#")[2])):
                        yield f"{path.relative_to(root).as_posix()}:{number}: {match[0]}: do it, or open an issue"


def main():
    wrong = list(offending(Path(sys.argv[1])))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
