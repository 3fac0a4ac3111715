"""What of a fixture can be called, and which of it is expected to hang: read from its text, nothing is run.

A fixture is a fragment. An entry is a function or method that nothing else in the file names, or the file itself where it
calls something when it is run. It is wrong if it reaches a line with `# expect: AR1..`, by the names that it uses.
"""

import ast
import dataclasses
import re

EXPECT = re.compile(r"#\s*expect(-next-line)?:\s*((?:AR\d+(?:\s+\"[^\"]*\")?,?\s*)+)")
SCRIPT = "the file"


@dataclasses.dataclass
class Entry:
    # "function", "Class.method" or SCRIPT.
    name: str
    # {(file, line): codes} of the findings that it reaches.
    expected: dict


def expectations(source):
    """{line: [codes of hangs]}"""
    found = {}
    for number, line in enumerate(source.splitlines(), 1):
        match = EXPECT.search(line)
        codes = re.findall(r"AR1\d\d", match[2]) if match else []
        if codes:
            found[number + bool(match[1])] = codes
    return found


def functions(tree):
    """{"f" or "C.m": node}, of those that stand directly in the file or in a class of it."""
    found = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found[node.name] = node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    found[f"{node.name}.{inner.name}"] = inner
    return found


def names_in(node):
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr


def uses(found):
    """{name: names of functions of the file that it may call}. Whoever makes an object may call what Python calls by itself."""
    classes = {name.partition(".")[0] for name in found if "." in name}
    by_last = {}
    for name in found:
        by_last.setdefault(name.rpartition(".")[2], set()).add(name)
    called = {}
    for name, node in found.items():
        last = set(names_in(node))
        called[name] = {one for each in last for one in by_last.get(each, ())} - {name}
        for made in last & classes:
            called[name] |= {one for one in found if one.startswith(f"{made}.__")}
    return called


def reached(start, called):
    seen, todo = set(), list(start)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += called[name]
    return seen


def runs_something(tree):
    """Whether the file does more than define, when it is run."""
    quiet = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Try)
    calls = [node for node in tree.body if not isinstance(node, quiet) for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    return any(isinstance(node, (ast.Expr, ast.If)) for node in calls)


def imported_files(path, tree):
    """The files beside it that it imports."""
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
    return [path.with_name(f"{name}.py") for name in sorted(names) if path.with_name(f"{name}.py").is_file()]


def entries(path):
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    found, wrong = functions(tree), expectations(source)
    elsewhere = {(str(other), line): codes for other in imported_files(path, tree)
                 for line, codes in expectations(other.read_text(encoding="utf-8")).items()}
    called = uses(found)
    at_start = {name for node in tree.body if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) for name in names_in(node)}
    by_script = {name for name in found if name.rpartition(".")[2] in at_start or name.partition(".")[0] in at_start}
    result, covered = [], set()

    def add(name, start, nodes):
        inside = reached(start, called)
        covered.update(inside)
        spans = [(node.lineno, node.end_lineno) for node in nodes + [found[one] for one in inside]]
        lines = {(str(path), line): codes for line, codes in wrong.items() if any(first <= line <= last for first, last in spans)}
        result.append(Entry(name, lines | elsewhere))

    if runs_something(tree):
        add(SCRIPT, by_script, [node for node in tree.body if not isinstance(node, (ast.FunctionDef, ast.ClassDef))])
    named = {one for start, others in called.items() for one in others}
    for name, node in found.items():
        if name not in covered and name not in named and not name.rpartition(".")[2].startswith("__"):
            add(name, {name}, [])
    for name in found:
        if name not in covered and not name.rpartition(".")[2].startswith("__"):
            add(name, {name}, [])
    return result
