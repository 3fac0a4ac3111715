"""A program while it is written: lines of `main`, what stands above it, and which features it has so far.

Blocks are lists of lines, indented relative to one another. A block may use every name that `main` has assigned before it;
so it can be moved into a function or method of its own at any time, with those names as parameters or attributes (`lift`).
"""

import ast
import builtins
import random
import textwrap


def indent(lines):
    return ["    " + line for line in lines or ["pass"]]


class _Names(ast.NodeVisitor):
    def __init__(self):
        self.read, self.stored = [], set()

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            self.read.append(node.id)
        else:
            self.stored.add(node.id)

    def visit_FunctionDef(self, node):
        self.stored.add(node.name)
        self.generic_visit(node)

    def visit_ClassDef(self, node):
        self.stored.add(node.name)
        self.generic_visit(node)

    def visit_arg(self, node):
        self.stored.add(node.arg)


def names_of(lines):
    """The names that a block reads, in order, and those that it stores."""
    # An exit of a loop or a function may stand in it.
    names = _Names()
    names.visit(ast.parse("\n".join(["def block():", "  while True:", *("    " + line for line in lines or ["pass"])])))
    return list(dict.fromkeys(names.read)), names.stored - {"block"}


class _Attributes(ast.NodeTransformer):
    """Reads of some names become reads of attributes of self."""

    def __init__(self, names):
        self._names = names

    def visit_Name(self, node):
        if node.id not in self._names:
            return node
        return ast.Attribute(ast.Name("self", ast.Load()), node.id, node.ctx)


def with_attributes(lines, names):
    tree = _Attributes(names).visit(ast.parse("\n".join(["def block():", *indent(lines)])))
    return textwrap.dedent("\n".join(ast.unparse(tree).splitlines()[1:])).splitlines()


class Draft:
    def __init__(self, seed, carries=True):
        self.rng = random.Random(seed)
        # Whether values may get from one place to another by a detour.
        self.carries = carries
        self.imports = {"import torch", "import torch.distributed as dist"}
        self.top = []
        self.lines = []
        self.features = set()
        self._numbers = {}

    def note(self, kind, name):
        self.features.add(f"{kind}: {name}")

    def fresh(self, hint):
        """A name that nothing else has."""
        number = self._numbers[hint] = self._numbers.get(hint, 0) + 1
        return hint if number == 1 else f"{hint}{number}"

    def add(self, *lines):
        self.lines += lines

    def define(self, text, **names):
        """Puts a definition above `main`; {names} in it are filled in."""
        self.top.append(textwrap.dedent(text).strip().format(**names))

    def choose(self, options):
        return self.rng.choice(options)

    def chance(self, share):
        return self.rng.random() < share

    def free_names(self, lines):
        """What a block takes from `main`."""
        read, stored = names_of(lines)
        _, known = names_of(self.lines)
        return [name for name in read if name in known and name not in stored and not hasattr(builtins, name)]

    def lift(self, lines, hint):
        """Moves a block into a function above `main` or inside it, or into a method; the call of it."""
        place = self.choose([self._function, self._function, self._nested, self._method])
        self.note("place", place.__name__.strip("_"))
        return place(lines, self.fresh(hint))

    def _nested(self, lines, name):
        self.add(f"def {name}():", *indent(lines))
        return f"{name}()"

    def _function(self, lines, name):
        names = ", ".join(self.free_names(lines))
        self.top.append("\n".join([f"def {name}({names}):", *indent(lines)]))
        return f"{name}({names})"

    def _method(self, lines, name):
        """What the block takes from `main` becomes attributes; half of the time the constructor is that of a base class."""
        names, cls, base = self.free_names(lines), self.fresh("Trainer"), self.fresh("Base")
        start = [f"def __init__({', '.join(['self', *names])}):", *indent([f"self.{each} = {each}" for each in names])]
        method = [f"def {name}(self):", *indent(with_attributes(lines, names))]
        if self.chance(0.5):
            self.top.append("\n".join([f"class {base}:", *indent(start), f"class {cls}({base}):", *indent(method)]))
        else:
            self.top.append("\n".join([f"class {cls}:", *indent(start + method)]))
        return f"{cls}({', '.join(names)}).{name}()"

    def text(self):
        start = ["main()"] if not self.carries or self.chance(0.3) else ['if __name__ == "__main__":', "    main()"]
        parts = sorted(self.imports) + self.top + ["def main():", *indent(self.lines), *start]
        return ast.unparse(ast.parse("\n".join(parts))) + "\n"
