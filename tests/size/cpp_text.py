"""As much of C++ as the checks of this folder need: what is comment, what is text, where functions begin and end."""

import re
from pathlib import Path
from typing import NamedTuple

OUR_ROOTS = ("analyzer", "frontends", "rules", "witness", "driver", "runtime-verify", "tests", "bench", "tools")
CPP_ENDINGS = {".h", ".cpp", ".cu"}

_TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      | (?P<raw>R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<char>(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE,
)


class Comment(NamedTuple):
    line: int
    text: str
    is_trailing: bool


class Function(NamedTuple):
    name: str
    line: int
    length: int


def cpp_files(root):
    """Paths relative to the repository."""
    for top in OUR_ROOTS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in CPP_ENDINGS and "node_modules" not in path.parts and path.is_file():
                yield path.relative_to(root)


def read(path):
    return Path(path).read_text(encoding="utf-8", errors="replace")


def without_comments_and_texts(source):
    """The same lines with comments gone and texts and characters empty."""

    def blank(match):
        lines = "\n" * match[0].count("\n")
        return lines if match["comment"] else ('""' if match["raw"] or match["string"] else "' '") + lines

    return _TOKEN.sub(blank, source)


def comments(source):
    for match in _TOKEN.finditer(source):
        if match["comment"]:
            before = source[source.rfind("\n", 0, match.start()) + 1 : match.start()]
            yield Comment(source.count("\n", 0, match.start()) + 1, match["comment"], before.strip() != "")


def functions(source):
    """All function bodies, lambdas at file level included; a function inside a function counts to the outer one."""
    code = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: "\n" * m[0].count("\n"), without_comments_and_texts(source),
                  flags=re.MULTILINE)
    depth_of_parentheses = 0
    scopes = []  # per open brace: "scope" (namespace, class), "other" (initialiser), or (name, line) of a function
    head_start = 0
    for match in re.finditer(r"[(){};]", code):
        mark, at = match[0], match.start()
        if mark in "()":
            depth_of_parentheses += 1 if mark == "(" else -1
        elif mark == "{":
            if depth_of_parentheses == 0 and all(scope == "scope" for scope in scopes):
                kind = _kind(code, head_start, at)
            else:
                kind = "other"
            scopes.append(kind)
            if kind != "other":
                head_start = at + 1
        elif mark == "}":
            kind = scopes.pop() if scopes else "other"
            if isinstance(kind, tuple):
                yield Function(kind[0], kind[1], code.count("\n", 0, at) + 2 - kind[1])
            if kind != "other":
                head_start = at + 1
        elif depth_of_parentheses == 0 and all(scope == "scope" for scope in scopes):
            head_start = at + 1


def _kind(code, head_start, brace):
    head = code[head_start:brace]
    head = re.sub(r"^(\s*(public|private|protected)\s*:(?!:))+", lambda m: "\n" * m[0].count("\n"), head)
    stripped = head.strip()
    if re.match(r"(template\s*<.*?>\s*)?(inline\s+)?(namespace|class|struct|union|enum|extern\s*\"\")\b", stripped,
                re.DOTALL) and not re.search(r"\)\s*(const|noexcept|override|final|\s)*$", stripped):
        return "scope"
    name = re.search(r"((?:[\w:]*::)?operator\s*(?:\(\)|[^\s(]+)|[~\w:]+)\s*\(", stripped)
    # `Foo() : a_{1} {`: a brace behind a plain word is a member's initialiser, not the body.
    ends_like_a_function = re.search(
        r"(\)|\}|\bconst|\bnoexcept|\boverride|\bfinal|\btry|&|->[\w\s:<>,*&]+|\brequires\b[^;]*)\s*$", stripped)
    if not name or not ends_like_a_function:
        return "other"
    first = head_start + len(code[head_start:brace]) - len(code[head_start:brace].lstrip())
    return name[1].strip(), code.count("\n", 0, first) + 1
