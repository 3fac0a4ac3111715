"""The same program in C with MPI, where C can say it: what its ranks do is known from running the Python program.

Functions of numbers, tensors and groups become functions of ints, arrays of doubles and communicators; collectives become
MPI's. What has no plain counterpart (objects, nested functions, handlers, the environment) is `Untranslatable`, and another
program is taken. Division and remainder are taken over only where their operands are not negative, as C rounds to zero.
"""

import ast

MAX_RANKS = 64


class Untranslatable(Exception):
    pass


PRELUDE = """\
#include <mpi.h>
#include <stdio.h>
"""
RANK_OF = "static int rank_of(MPI_Comm comm) {\n  int rank;\n  MPI_Comm_rank(comm, &rank);\n  return rank;\n}\n"
SIZE_OF = "static int size_of(MPI_Comm comm) {\n  int size;\n  MPI_Comm_size(comm, &size);\n  return size;\n}\n"
OF_ENVIRONMENT = ("int(os.environ['RANK'])", "int(os.environ.get('RANK', 0))", "int(os.getenv('RANK', '0'))", "int(os.environ['WORLD_SIZE'])")
COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%", ast.BitAnd: "&"}
DECLARED = {"int": "int {0};", "comm": "MPI_Comm {0};", "request": "MPI_Request {0};", "tensor": "double {0}[2] = {{0}};", "parts": "double {0}[%d] = {{0}};" % MAX_RANKS}
PARAMETER = {"int": "int {0}", "comm": "MPI_Comm {0}", "tensor": "double *{0}", "parts": "double *{0}"}


def dotted(node):
    return ast.unparse(node) if isinstance(node, (ast.Attribute, ast.Name)) else ""


def indent(lines):
    return ["  " + line for line in lines]


class Function:
    """One function of the program, with the kinds of its variables."""

    def __init__(self, program, name, kinds):
        self.program, self.name, self.kinds = program, name, dict(kinds)
        self.parameters = list(self.kinds)
        self.returns = "void"

    # Expressions: ints, as text.

    def number(self, node):
        for kind, translate in ((ast.Name, self._name), (ast.Constant, self._constant), (ast.BinOp, self._arithmetic), (ast.Compare, self._comparison),
                                (ast.BoolOp, self._logic), (ast.UnaryOp, self._sign), (ast.IfExp, self._choice), (ast.Call, self._call)):
            if isinstance(node, kind):
                return translate(node)
        raise Untranslatable(ast.unparse(node))

    def _name(self, node):
        if self.kinds.get(node.id) == "tensor":
            return f"{node.id}[0]"
        if self.kinds.get(node.id) != "int":
            raise Untranslatable(node.id)
        return node.id

    def _constant(self, node):
        if not isinstance(node.value, (bool, int, float)):
            raise Untranslatable(repr(node.value))
        return str(int(node.value)) if isinstance(node.value, bool) else str(node.value)

    def _arithmetic(self, node):
        if type(node.op) not in ARITHMETIC or (isinstance(node.op, (ast.FloorDiv, ast.Mod)) and any(isinstance(part, ast.Sub) for part in ast.walk(node.left))):
            raise Untranslatable(ast.unparse(node))
        return f"({self.number(node.left)} {ARITHMETIC[type(node.op)]} {self.number(node.right)})"

    def _comparison(self, node):
        parts, left = [], node.left
        for op, right in zip(node.ops, node.comparators):
            parts.append(self._membership(left, op, right) if isinstance(op, (ast.In, ast.NotIn)) else self._compared(left, op, right))
            left = right
        return parts[0] if len(parts) == 1 else "(" + " && ".join(parts) + ")"

    def _compared(self, left, op, right):
        if type(op) not in COMPARISONS:
            raise Untranslatable(ast.unparse(left))
        return f"({self.number(left)} {COMPARISONS[type(op)]} {self.number(right)})"

    def _membership(self, left, op, right):
        value = self.number(left)
        if isinstance(right, (ast.Tuple, ast.List, ast.Set)):
            inside = " || ".join(f"{value} == {self.number(item)}" for item in right.elts)
        elif isinstance(right, ast.Call) and dotted(right.func) == "range" and len(right.args) < 3:
            first, end = self._bounds(right)
            inside = f"{value} >= {first} && {value} < {end}"
        else:
            raise Untranslatable(ast.unparse(right))
        return f"({inside})" if isinstance(op, ast.In) else f"!({inside})"

    def _bounds(self, call):
        bounds = [self.number(arg) for arg in call.args]
        return ("0", bounds[0]) if len(bounds) == 1 else bounds[:2]

    def _logic(self, node):
        return "(" + (" && " if isinstance(node.op, ast.And) else " || ").join(self.number(value) for value in node.values) + ")"

    def _sign(self, node):
        signs = {ast.Not: "!", ast.USub: "-"}
        if type(node.op) not in signs:
            raise Untranslatable(ast.unparse(node))
        return signs[type(node.op)] + self.number(node.operand)

    def _choice(self, node):
        return f"({self.number(node.test)} ? {self.number(node.body)} : {self.number(node.orelse)})"

    def _call(self, node):
        name, args = dotted(node.func), node.args
        if ast.unparse(node) in OF_ENVIRONMENT:
            return self.program.helper(RANK_OF if "'RANK'" in ast.unparse(node) else SIZE_OF, "(MPI_COMM_WORLD)")
        if name in ("dist.get_rank", "dist.get_world_size"):
            comm = self.communicator(args[0] if args else self._keyword(node, "group"))
            return self.program.helper(RANK_OF if name == "dist.get_rank" else SIZE_OF, f"({comm})")
        if name in ("int", "float", "bool") and len(args) == 1:
            return f"({self.number(args[0])} != 0)" if name == "bool" else self.number(args[0])
        if name in ("max", "min") and len(args) == 2:
            first, second = map(self.number, args)
            return f"({first} {'>' if name == 'max' else '<'} {second} ? {first} : {second})"
        if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and self.kinds.get(dotted(node.func.value)) == "tensor":
            return f"{dotted(node.func.value)}[0]"
        return self._own_call(node)[0]

    def _own_call(self, node):
        """A call of a function of the program, and what it returns."""
        name = dotted(node.func)
        if name not in self.program.functions or node.keywords:
            raise Untranslatable(ast.unparse(node))
        kinds = [self._kind_of(arg) for arg in node.args]
        returns = self.program.use(name, kinds)
        args = [self.number(arg) if kind == "int" else self.communicator(arg) if kind == "comm" else arg.id for arg, kind in zip(node.args, kinds)]
        return f"{name}({', '.join(args)})", returns

    def _kind_of(self, node):
        return self.kinds.get(node.id, "int") if isinstance(node, ast.Name) else "int"

    def communicator(self, node):
        if node is None or dotted(node) == "dist.group.WORLD":
            return "MPI_COMM_WORLD"
        if self.kinds.get(dotted(node)) != "comm":
            raise Untranslatable(ast.unparse(node))
        return node.id

    def _keyword(self, call, name, place=None):
        if place is not None and len(call.args) > place:
            return call.args[place]
        return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)

    # Operations.

    def operation(self, call, request=None):
        kind = dotted(call.func).removeprefix("dist.")
        comm = self.communicator(self._keyword(call, "group"))
        if comm != "MPI_COMM_WORLD" and kind in ("broadcast", "reduce", "gather", "scatter"):
            # Roots of PyTorch are ranks of the job, those of MPI ranks of the communicator.
            raise Untranslatable("root in a group")
        translate = getattr(self, f"_{kind}", None)
        if translate is None or (request and kind not in ("all_reduce", "isend")):
            raise Untranslatable(kind)
        return translate(call, comm, request) if request else translate(call, comm)

    def buffer(self, node, count=1):
        """(name, lines that fill it) of a tensor."""
        if isinstance(node, ast.Name) and self.kinds.get(node.id) in ("tensor", "parts"):
            return node.id, []
        name = self.program.fresh("buffer")
        self.kinds[name] = "tensor"
        return name, self.tensor(name, node)

    def tensor(self, name, node):
        """Lines that store a new tensor."""
        function = dotted(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            return [f"{name}[0] = {self.number(node.right)};"]
        if function == "torch.tensor" and isinstance(node.args[0], ast.List) and len(node.args[0].elts) == 1:
            return [f"{name}[0] = {self.number(node.args[0].elts[0])};"]
        if function in ("torch.ones", "torch.zeros") and isinstance(node.args[0], ast.Constant) and node.args[0].value < 3:
            return [f"{name}[{place}] = {int(function == 'torch.ones')};" for place in range(node.args[0].value)]
        raise Untranslatable(ast.unparse(node))

    def _reduction(self, call):
        return "MPI_" + (dotted(self._keyword(call, "op")).rsplit(".", 1)[-1] or "SUM")

    def _size_of(self, node):
        return 2 if "(2)" in ast.unparse(node) else 1

    def _barrier(self, call, comm):
        return [f"MPI_Barrier({comm});"]

    def _all_reduce(self, call, comm, request=None):
        if isinstance(self._keyword(call, "op"), ast.IfExp):
            raise Untranslatable("choice of reductions")
        name, lines = self.buffer(call.args[0])
        arguments = f"MPI_IN_PLACE, {name}, 1, MPI_DOUBLE, {self._reduction(call)}, {comm}"
        return [*lines, f"MPI_Iallreduce({arguments}, &{request});" if request else f"MPI_Allreduce({arguments});"]

    def _broadcast(self, call, comm):
        name, lines = self.buffer(call.args[0])
        return [*lines, f"MPI_Bcast({name}, 1, MPI_DOUBLE, {self.number(self._keyword(call, 'src', 1))}, {comm});"]

    def _reduce(self, call, comm):
        (name, lines), (result, more) = self.buffer(call.args[0]), self.buffer(ast.parse("torch.zeros(1)", mode="eval").body)
        return [*lines, *more, f"MPI_Reduce({name}, {result}, 1, MPI_DOUBLE, MPI_SUM, {self.number(self._keyword(call, 'dst', 1))}, {comm});"]

    def _all_gather(self, call, comm):
        (outs, _), (name, lines) = self.buffer(call.args[0]), self.buffer(call.args[1])
        return [*lines, f"MPI_Allgather({name}, 1, MPI_DOUBLE, {outs}, 1, MPI_DOUBLE, {comm});"]

    def _gather(self, call, comm):
        (name, lines), (outs, _) = self.buffer(call.args[0]), self.buffer(call.args[1])
        return [*lines, f"MPI_Gather({name}, 1, MPI_DOUBLE, {outs}, 1, MPI_DOUBLE, {self.number(self._keyword(call, 'dst'))}, {comm});"]

    def _scatter(self, call, comm):
        (name, lines), (parts, _) = self.buffer(call.args[0]), self.buffer(call.args[1])
        return [*lines, f"MPI_Scatter({parts}, 1, MPI_DOUBLE, {name}, 1, MPI_DOUBLE, {self.number(self._keyword(call, 'src'))}, {comm});"]

    def _send(self, call, comm):
        name, lines = self.buffer(call.args[0])
        return [*lines, f"MPI_Send({name}, 1, MPI_DOUBLE, {self.number(self._keyword(call, 'dst', 1))}, 0, {comm});"]

    def _isend(self, call, comm, request):
        name, lines = self.buffer(call.args[0])
        return [*lines, f"MPI_Isend({name}, 1, MPI_DOUBLE, {self.number(self._keyword(call, 'dst', 1))}, 0, {comm}, &{request});"]

    def _recv(self, call, comm):
        name, lines = self.buffer(call.args[0])
        return [*lines, f"MPI_Recv({name}, 1, MPI_DOUBLE, {self.number(self._keyword(call, 'src', 1))}, 0, {comm}, MPI_STATUS_IGNORE);"]

    def _calls(self, node):
        """Whether an operation may be issued in an expression."""
        names = {dotted(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
        return any(name.startswith("dist.") or name in self.program.functions for name in names)

    # Statements: lists of lines.

    def block(self, statements):
        return [line for statement in statements for line in self.statement(statement)]

    def statement(self, node):
        translate = getattr(self, f"_{type(node).__name__.lower()}_statement", None)
        if translate is None:
            raise Untranslatable(type(node).__name__)
        return translate(node)

    def _pass_statement(self, node):
        return [";"]

    def _break_statement(self, node):
        return ["break;"]

    def _continue_statement(self, node):
        return ["continue;"]

    def _return_statement(self, node):
        if self.name == "main":
            return ["return 0;"]
        if node.value is None or dotted(node.value) == "None":
            return ["return;"]
        self.returns = "int"
        return [f"return {self.number(node.value)};"]

    def _if_statement(self, node):
        lines = [f"if ({self.number(node.test)}) {{", *indent(self.block(node.body)), "}"]
        return lines[:-1] + ["} else {", *indent(self.block(node.orelse)), "}"] if node.orelse else lines

    def _while_statement(self, node):
        if node.orelse:
            raise Untranslatable("else of a loop")
        return [f"while ({self.number(node.test)}) {{", *indent(self.block(node.body)), "}"]

    def _for_statement(self, node):
        if not isinstance(node.iter, ast.Call) or dotted(node.iter.func) != "range" or node.orelse:
            raise Untranslatable(ast.unparse(node.iter))
        first, end = self._bounds(node.iter)
        step = self.number(node.iter.args[2]) if len(node.iter.args) == 3 else "1"
        name = node.target.id
        self.kinds[name] = "int"
        return [f"for ({name} = {first}; {name} < {end}; {name} += {step}) {{", *indent(self.block(node.body)), "}"]

    def _match_statement(self, node):
        value, lines = self.number(node.subject), []
        for case in node.cases:
            pattern = case.pattern
            if case.guard is not None or not (isinstance(pattern, (ast.MatchValue, ast.MatchSingleton)) or ast.unparse(pattern) == "_"):
                raise Untranslatable(ast.unparse(pattern))
            if isinstance(pattern, ast.MatchSingleton):
                head = f"if ({value} == {int(bool(pattern.value))}) {{"
            else:
                head = "{" if ast.unparse(pattern) == "_" else f"if ({value} == {self.number(pattern.value)}) {{"
            lines += [head if not lines else f"}} else {head}", *indent(self.block(case.body))]
        return lines + ["}"]

    def _augassign_statement(self, node):
        return [f"{self.number(node.target)} {ARITHMETIC[type(node.op)]}= {self.number(node.value)};"]

    def _expr_statement(self, node):
        call = node.value
        name = dotted(call.func) if isinstance(call, ast.Call) else ""
        if name == "dist.init_process_group":
            return ["MPI_Init(&argc, &argv);"]
        if name == "dist.destroy_process_group":
            return ["MPI_Finalize();"]
        if (name == "print" and not self._calls(call)) or ast.unparse(call).startswith("torch.zeros(3)"):
            return ['puts("working");']
        if name == "torch.cuda.set_device":
            return []
        if name.endswith(".wait") and self.kinds.get(name[:-5]) == "request":
            return [f"MPI_Wait(&{name[:-5]}, MPI_STATUS_IGNORE);"]
        if name.startswith("dist."):
            return self.operation(call)
        if isinstance(call, ast.IfExp):
            return [f"if ({self.number(call.test)}) {{", *indent([self._own_call(call.body)[0] + ";"]), "} else {", *indent([self._own_call(call.orelse)[0] + ";"]), "}"]
        if isinstance(call, ast.BoolOp):
            return [self.number(call) + ";"]
        return [self._own_call(call)[0] + ";"]

    def _assign_statement(self, node):
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple):
            return self._unpacked(target, value)
        if not isinstance(target, ast.Name):
            raise Untranslatable(ast.unparse(target))
        return self._stored(target.id, value)

    def _unpacked(self, target, value):
        if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            return [line for name, part in zip(target.elts, value.elts) for line in self._stored(name.id, part)]
        if (pair := self.program.pair_of(value)) and len(pair.elts) == len(target.elts):
            return self._unpacked(target, pair)
        colours = {"dist.new_subgroups(2)": "rank / 2", "dist.new_subgroups(group_size=2)": "rank / 2",
                   "dist.new_subgroups_by_enumeration([list(range(0, world, 2)), list(range(1, world, 2))])": "rank % 2"}
        if ast.unparse(value) not in colours or self.kinds.get("rank") != "int":
            raise Untranslatable(ast.unparse(value))
        self.kinds[target.elts[0].id] = "comm"
        return [f"MPI_Comm_split(MPI_COMM_WORLD, {colours[ast.unparse(value)]}, rank, &{target.elts[0].id});"]

    def _stored(self, name, value):
        function = dotted(value.func) if isinstance(value, ast.Call) else ""
        if function in ("dist.get_rank", "dist.get_world_size") and not value.args and not value.keywords:
            self.kinds[name] = "int"
            return [f"MPI_Comm_{'rank' if function.endswith('rank') else 'size'}(MPI_COMM_WORLD, &{name});"]
        if ast.unparse(value) in ("dist.new_group()", "dist.new_group(range(world))", "dist.new_group(list(range(world)))"):
            self.kinds[name] = "comm"
            return [f"MPI_Comm_dup(MPI_COMM_WORLD, &{name});"]
        if function in ("dist.all_reduce", "dist.isend"):
            self.kinds[name] = "request"
            return self.operation(value, request=name)
        if self._is_parts(value):
            self.kinds[name] = "parts"
            return []
        if function.startswith("torch.") or isinstance(value, ast.BinOp) and "torch." in ast.unparse(value):
            self.kinds[name] = "tensor"
            return self.tensor(name, value)
        if isinstance(value, (ast.Dict, ast.ListComp)) and not self._calls(value):
            return ['puts("working");']
        self.kinds[name] = "int"
        return [f"{name} = {self.number(value)};"]

    def _is_parts(self, value):
        text = ast.unparse(value)
        return text.startswith(("[torch.zeros(1) for _ in range(", "[torch.ones(1) for _ in range("))

    def text(self, body):
        declared = [DECLARED[kind].format(name) for name, kind in self.kinds.items() if name not in self.parameters]
        if self.name == "main":
            return "\n".join(["int main(int argc, char **argv) {", *indent([*declared, *body, "return 0;"]), "}"]) + "\n"
        parameters = ", ".join(PARAMETER[self.kinds[name]].format(name) for name in self.parameters) or "void"
        return "\n".join([f"static {self.returns} {self.name}({parameters}) {{", *indent(declared + body), "}"]) + "\n"


class _Program:
    def __init__(self, tree):
        self.functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        self._helpers, self._written, self._kinds, self._returns, self._count = [], [], {}, {}, 0

    def fresh(self, hint):
        self._count += 1
        return f"{hint}{self._count}"

    def helper(self, text, arguments):
        if text not in self._helpers:
            self._helpers.append(text)
        return text.split("(")[0].split()[-1] + arguments

    def pair_of(self, call):
        """What a function without parameters returns, if that is a tuple and all that it does."""
        function = self.functions.get(dotted(call.func)) if isinstance(call, ast.Call) and not call.args else None
        statement = function.body[0] if function and not function.args.args else None
        return statement.value if isinstance(statement, ast.Return) and isinstance(statement.value, ast.Tuple) else None

    def use(self, name, kinds):
        """Writes a function, if this is the first call of it; what it returns."""
        node = self.functions[name]
        if node.decorator_list or node.args.defaults or node.args.kwarg or len(node.args.args) != len(kinds) or name in ("step", "index"):
            raise Untranslatable(name)
        if self._kinds.setdefault(name, kinds) != kinds:
            raise Untranslatable(f"{name} with other kinds")
        if name not in self._returns:
            self._returns[name] = "void"
            function = Function(self, name, zip((arg.arg for arg in node.args.args), kinds))
            body = function.block(node.body)
            if function.returns == "int" and "return;" in "\n".join(body):
                body = [line.replace("return;", "return 0;") for line in body] + ["return 0;"]
            self._returns[name] = function.returns
            self._written.append(function.text(body))
        return self._returns[name]

    def text(self):
        function = Function(self, "main", {})
        main = function.text(function.block(self.functions["main"].body))
        return "\n".join([PRELUDE, *self._helpers, *self._written, main])


def in_c(text):
    """The program in C; Untranslatable is raised if it has no plain counterpart there."""
    tree = ast.parse(text)
    if any(isinstance(node, (ast.ClassDef, ast.Lambda, ast.Try, ast.With, ast.Global)) for node in ast.walk(tree)):
        raise Untranslatable("objects, handlers and nested functions")
    return _Program(tree).text()
