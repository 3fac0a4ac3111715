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
    # Names that it uses, by way of the functions that it reaches.
    names: set = dataclasses.field(default_factory=set)


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
    return any(isinstance(node, (ast.Expr, ast.If, ast.For, ast.While, ast.With)) for node in calls)


def is_for_scripts(node):
    """`if __name__ == "__main__":`"""
    return isinstance(node, ast.If) and "__name__" in set(names_in(node.test))


# Operations, and where their tensors stand.
OPERATIONS = {"all_reduce": [0], "broadcast": [0], "reduce": [0], "send": [0], "isend": [0], "recv": [0], "irecv": [0], "gather": [0],
              "scatter": [0], "all_gather": [1], "reduce_scatter": [0], "all_gather_into_tensor": [0, 1], "reduce_scatter_tensor": [0, 1]}


# What only tensors have, of all that stands for a parameter.
OF_TENSORS = {"shape", "dim", "numel", "detach"}


def tensors(tree):
    """Names of tensors: what operations of torch.distributed are given, and what is used as one."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in OF_TENSORS and isinstance(node.value, ast.Name):
            found.add(node.value.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and "dist" in "".join(names_in(node.func.value)):
            places = OPERATIONS.get(node.func.attr, [])
            found |= {node.args[at].id for at in places if at < len(node.args) and isinstance(node.args[at], ast.Name)}
    return found


def data_sets(tree):
    """Names of what loaders and samplers are made of."""
    return {node.args[0].id for node in ast.walk(tree)
            if isinstance(node, ast.Call) and {"DataLoader", "DistributedSampler"} & set(names_in(node.func))
            and node.args and isinstance(node.args[0], ast.Name)}


def iterators(tree):
    """Names of what `next` is asked of."""
    return {node.args[0].id for node in ast.walk(tree)
            if isinstance(node, ast.Call) and "next" in set(names_in(node.func)) and node.args and isinstance(node.args[0], ast.Name)}


def width(tree):
    """Numbers that the first layer of the file takes in; none: it has no layer."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and {"Linear", "BatchNorm1d", "LayerNorm"} & set(names_in(node.func)) and node.args:
            first = node.args[0]
            return first.value if isinstance(first, ast.Constant) and isinstance(first.value, int) else None
    return None


def imported_files(path, tree):
    """The files beside it that it imports."""
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
    names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return [path.with_name(f"{name}.py") for name in sorted(names) if path.with_name(f"{name}.py").is_file()]


def expected_by(path, names):
    """The findings of a file that one who imports it reaches, by the names that it uses."""
    source = path.read_text(encoding="utf-8")
    found = functions(ast.parse(source))
    start = {name for name in found if name.rpartition(".")[2] in names or name.partition(".")[0] in names}
    untouched = [found[name] for name in found.keys() - reached(start, uses(found))]
    return {(str(path), line): codes for line, codes in expectations(source).items()
            if not any(node.lineno <= line <= node.end_lineno for node in untouched)}


def entries(path):
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    found, wrong = functions(tree), expectations(source)
    used = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names} | set(names_in(tree))
    elsewhere = {}
    for other in imported_files(path, tree):
        elsewhere |= expected_by(other, used)
    called = uses(found)
    top = [node for node in tree.body if not isinstance(node, (ast.FunctionDef, ast.ClassDef))]

    def named_by(nodes):
        names = {name for node in nodes for name in names_in(node)}
        return {name for name in found if name.rpartition(".")[2] in names or name.partition(".")[0] in names}

    result, covered = [], set()

    def add(name, start, nodes, run_before):
        inside = reached(start, called)
        covered.update(inside)
        spans = [(node.lineno, node.end_lineno) for node in nodes + [found[one] for one in inside]]
        lines = {(str(path), line): codes for line, codes in wrong.items() if any(first <= line <= last for first, last in spans)}
        runs = run_before + [found[one] for one in inside | reached(named_by(run_before), called)]
        result.append(Entry(name, lines | elsewhere, {each for node in runs for each in names_in(node)}))

    if runs_something(tree):
        add(SCRIPT, named_by(top), top, top)
    named = {one for start, others in called.items() for one in others}
    imported = [node for node in top if not is_for_scripts(node)]
    for is_left in (lambda name: name not in named, lambda name: True):
        for name in found:
            if name not in covered and is_left(name) and not name.rpartition(".")[2].startswith("__"):
                add(name, {name}, [], imported)
    return result
