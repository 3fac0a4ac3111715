"""Makes a program smaller while something stays true of it: statements go, arms take the place of what chooses them.

The tree is Python's own. Each round tries single steps, largest statements first, and goes on from the smallest text that
keeps what is asked for; what does not run any more never does, so nothing here has to know which names are needed.
"""

import ast
import builtins
import copy

# Asked about together: a run of allranks takes as long for these as for one.
_AT_ONCE = 60
_BODIES = ("body", "orelse", "finalbody")


def _suites(tree):
    """Every list of statements."""
    for node in ast.walk(tree):
        for name in _BODIES:
            statements = getattr(node, name, None)
            if isinstance(statements, list) and statements and isinstance(statements[0], ast.stmt):
                yield statements
        yield from (case.body for case in getattr(node, "cases", ()) if case.body)


def _size(statement):
    return sum(1 for _ in ast.walk(statement))


def _inner(statement):
    """The lists of statements that may stand in the place of this one."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return
    for name in _BODIES:
        if getattr(statement, name, None):
            yield getattr(statement, name)
    for part in [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]:
        yield part.body


class _Parts(ast.NodeTransformer):
    """Replaces the n-th expression that has parts by its m-th part."""

    def __init__(self, number, part):
        self._left, self._part = number, part
        self.changed = False

    def generic_visit(self, node):
        if not self.changed and (parts := _parts(node)):
            if self._left == 0:
                self.changed = True
                return parts[self._part] if self._part < len(parts) else node
            self._left -= 1
        return super().generic_visit(node)


def _parts(node):
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse, node.test]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [node.operand]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "bool" and len(node.args) == 1:
        return node.args
    return None


def _smaller(text):
    """Texts that are one step smaller, the largest steps first."""
    tree = ast.parse(text)
    places = [(number, index, _size(statement)) for number, suite in enumerate(_suites(tree)) for index, statement in enumerate(suite)]
    for number, index, _ in sorted(places, key=lambda place: -place[2]):
        yield from _without(tree, number, index)
    for number in range(sum(1 for node in ast.walk(tree) if _parts(node))):
        for part in range(3):
            parts = _Parts(number, part)
            made = parts.visit(copy.deepcopy(tree))
            yield ast.unparse(ast.fix_missing_locations(made)) + "\n"


    for made in _inlined(tree):
        yield ast.unparse(ast.fix_missing_locations(made)) + "\n"


def _without(tree, number, index):
    statement = list(_suites(tree))[number][index]
    for replacement in [[], *_inner(statement)]:
        made = copy.deepcopy(tree)
        suite = list(_suites(made))[number]
        suite[index:index + 1] = copy.deepcopy(replacement) or ([ast.Pass()] if len(suite) == 1 else [])
        yield ast.unparse(ast.fix_missing_locations(made)) + "\n"


def _weight(text):
    """Fewer statements are less, whatever stands in them."""
    return text.count("\n"), len(text)


def shrunk(text, holding):
    """The smallest text found that still holds, as the one given does; `holding(texts)` are those that do."""
    seen = {text}
    while True:
        smaller = [each for each in dict.fromkeys(_smaller(text)) if each not in seen and _weight(each) < _weight(text)]
        seen.update(smaller)
        # The largest steps come first: most of the time one of them holds, and the others need not be asked about.
        for start in range(0, len(smaller), _AT_ONCE):
            if held := holding(smaller[start:start + _AT_ONCE]):
                text = min(held, key=_weight)
                break
        else:
            return text


def is_whole(text):
    """Whether a text is still a program: it starts, uses all that it defines, and every name that it reads is somebody's."""
    try:
        compile(text, "smaller", "exec")
    except SyntaxError:
        return False
    tree = ast.parse(text)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)} | attributes
    defined = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("__")}
    bound = defined | {node.id for node in names if not isinstance(node.ctx, ast.Load)} | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {alias.asname or alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, (ast.MatchAs, ast.ExceptHandler)) and node.name}
    starts = "    dist.init_process_group(" in text and text.endswith(("\nif __name__ == '__main__':\n    main()\n", "\nmain()\n"))
    return starts and defined <= read and read - attributes <= bound | set(dir(builtins)) | {"__name__"}


class _Inlined(ast.NodeTransformer):
    """Reads of a variable become what is assigned to it."""

    def __init__(self, name, value):
        self._name, self._value = name, value

    def visit_Name(self, node):
        return copy.deepcopy(self._value) if node.id == self._name and isinstance(node.ctx, ast.Load) else node


def _inlined(tree):
    """The tree with one of its variables replaced by the value that it is assigned."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            number = [place for place in ast.walk(tree)].index(node)
            made = copy.deepcopy(tree)
            copied = list(ast.walk(made))[number]
            copied.value, copied.targets = ast.Constant(None), [ast.Name("_", ast.Store())]
            yield _Inlined(node.targets[0].id, node.value).visit(made)


def canonical(text):
    """The text with names that say nothing, by which two small programs are seen to be one."""
    tree, names = ast.parse(text), {}
    own = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    own |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        for field in ("id", "name", "arg"):
            if (name := getattr(node, field, None)) in own or (field == "arg" and isinstance(node, ast.arg)):
                setattr(node, field, names.setdefault(name, f"n{len(names)}"))
    return ast.unparse(tree)
