"""Programs that ask more of an analysis than people write: each generator gives a text that grows with its number."""

IMPORT = "import torch.distributed as dist\n"


def lines(template, count):
    return "".join(template.format(i=i, next=i + 1) for i in range(count))


def doubled_text(n):
    return IMPORT + 'x = "ab"\n' + "x = x + x\n" * n + "if x == dist.get_rank(): dist.barrier()\n"


def squared_rank(n):
    return IMPORT + "x = dist.get_rank()\n" + "x = x * x\n" * n + "if x == 3: dist.barrier()\n"


def counted_rank(n):
    return IMPORT + "x = dist.get_rank()\n" + "x = x + 1\n" * n + f"if x == {n}: dist.barrier()\n"


def negations(n):
    return IMPORT + "if " + "not " * n + "dist.get_rank(): dist.barrier()\n"


def nested_loops(n):
    heads = "".join(" " * (i + 1) + f"for a{i} in range(dist.get_rank()):\n" for i in range(n))
    return IMPORT + "def f(x):\n" + heads + " " * (n + 1) + "dist.all_reduce(x)\n"


def nested_unknown_loops(n):
    heads = "".join(" " * (i + 1) + f"for a{i} in x{i}:\n" for i in range(n))
    return IMPORT + "def f(x):\n" + heads + " " * (n + 1) + "dist.all_reduce(x)\n"


def mutual_recursion(n):
    body = "".join(f"def f{i}(r):\n  if r == 0: dist.barrier()\n  f{(i + 1) % n}(r)\n  f{(i * 7919 + 13) % n}(r)\n" for i in range(n))
    return IMPORT + "rank = dist.get_rank()\n" + body + "f0(rank)\n"


def recursion_with_returns(n):
    body = "".join(f"def f{i}(r):\n  if r == {i}: return f{(i + 1) % n}(r + 1)\n  dist.barrier()\n  return f{(i + 1) % n}(r)\n" for i in range(n))
    return IMPORT + body + "f0(dist.get_rank())\n"


def recursion_with_jumps(n):
    body = "".join(f"def f{i}(r):\n  if r == {i}: return f{(i + 1) % n}(r + 1)\n  dist.barrier()\n  return f{(i * 7919 + 13) % n}(r)\n" for i in range(n))
    return IMPORT + body + "f0(dist.get_rank())\n"


def jumps(n):
    """Functions that call two of those that come after them."""
    body = "".join(f"def f{i}(r):\n  if r == {i}: return f{i + 1}(r + 1)\n  dist.barrier()\n  return f{i + 1 + (i * 7919 + 13) % (n - i)}(r)\n" for i in range(n))
    return IMPORT + body + f"def f{n}(r): dist.barrier()\nf0(dist.get_rank())\n"


def call_chain(n):
    body = lines("def f{i}(x):\n  f{next}(x)\n", n)
    return IMPORT + body + f"def f{n}(x): dist.barrier()\nif dist.get_rank() == 0: f0(1)\n"


def two_calls_a_level(n):
    body = lines("def f{i}(x):\n  f{next}(x)\n  if x: f{next}(x)\n", n)
    return IMPORT + body + f"def f{n}(x): dist.barrier()\nf0(dist.get_rank())\n"


def class_chain(n):
    body = "class C0:\n  def m(self): dist.barrier()\n"
    body += "".join(f"class C{i}(C{i - 1}):\n  def m(self): super().m()\n  def n{i}(self): self.n{i - 1}()\n" for i in range(1, n))
    return IMPORT + body + f"if dist.get_rank() == 0: C{n - 1}().m()\n"


def class_circle(n):
    body = "".join(f"class C{i}(C{(i + 1) % n}):\n  def m{i}(self): self.m{(i + 1) % n}()\n" for i in range(n))
    return IMPORT + body + "if dist.get_rank() == 0: C0().m0(); dist.barrier()\n"


def many_bases(n):
    body = "".join(f"class B{i}:\n  def m(self): pass\n" for i in range(41))
    body += "".join(f"class C{i}({', '.join(f'B{k}' for k in range(41))}):\n  def k(self): self.m()\n" for i in range(n))
    return IMPORT + body + "if dist.get_rank() == 0: dist.barrier()\n"


def writers_of_a_global(n):
    return IMPORT + "total = 0\n" + lines("def f{i}(x):\n  global total\n  total = total + x\n", n) + "if total == 3: dist.barrier()\n"


def parameters(n):
    names = ", ".join(f"p{i}" for i in range(n))
    return IMPORT + f"def f({names}):\n  if p0 == dist.get_rank(): dist.barrier()\nf({', '.join(['1'] * n)})\n"


def comprehension_clauses(n):
    return IMPORT + "x = [1 " + "".join(f"for a{i} in y " for i in range(n)) + "]\nif dist.get_rank() == 0: dist.barrier()\n"


def branches_on_rank(n):
    return IMPORT + "rank = dist.get_rank()\n" + lines("if rank == {i}: dist.barrier()\n", n)


def unknown_branches(n):
    return IMPORT + "def f(a):\n" + lines("  if a.x{i}: dist.barrier()\n", n)


def early_returns(n):
    return IMPORT + "def f(a):\n" + lines("  if a.x{i}: return\n  dist.barrier()\n", n)


def findings(n):
    return IMPORT + lines("def f{i}():\n  if dist.get_rank() == 0: dist.barrier()\n", n)


def conditional_values(n):
    return IMPORT + "x = dist.get_rank()\n" + lines("x = x + 1 if x > {i} else x - 1\n", n) + "if x == 3: dist.barrier()\n"


def nested_conditions(n):
    deep = "".join(" " * i + f"if a{i}:\n" for i in range(n))
    return IMPORT + deep + " " * n + "dist.barrier()\n"


def nested_tries(n):
    heads = "".join(" " * i + "try:\n" for i in range(n))
    tails = "".join(" " * i + "except ValueError: dist.barrier()\n" for i in reversed(range(n)))
    return IMPORT + heads + " " * n + "work()\n" + tails


def callbacks(n):
    body = lines("def f{i}(g): g(); g()\n", n)
    calls = "lambda: dist.barrier()"
    for i in range(n):
        calls = f"lambda: f{i}({calls})"
    return IMPORT + body + f"if dist.get_rank() == 0: ({calls})()\n"


def groups(n):
    return IMPORT + "rank = dist.get_rank()\n" + lines("g{i} = dist.new_group([{i}, {next}])\nif rank in [{i}, {next}]: dist.barrier(g{i})\n", n)


def messages(n):
    return IMPORT + "rank = dist.get_rank()\ndef f(t):\n" + lines("  if rank == {i}: dist.send(t, {next})\n  if rank == {next}: dist.recv(t, {i})\n", n)


def fields(n):
    assign = lines("    self.x{i} = x\n", n)
    use = lines("    if self.x{i}: dist.barrier()\n", n)
    return IMPORT + f"class A:\n  def __init__(self, x):\n{assign}  def run(self):\n{use}A(dist.get_rank()).run()\n"


def generators(n):
    body = "def f0():\n  yield 1\n" + lines("def f{next}():\n  yield from f{i}()\n  yield from f{i}()\n", n)
    return IMPORT + body + f"for x in f{n}(): dist.barrier()\n"


def ignore_comments(n):
    codes = ", ".join(f"XY{i}" for i in range(50))
    return IMPORT + f"x = 1  # allranks: ignore[{codes}]\n" * n


def items(n):
    return IMPORT + "x = [" + "1, " * n + "]\nif dist.get_rank() == 0: dist.barrier()\n"


def elifs(n):
    return IMPORT + "def f(a):\n  if a == 0: pass\n" + lines("  elif a == {next}: dist.barrier()\n", n) + "f(dist.get_rank())\n"


def loops_in_a_row(n):
    return IMPORT + "x = dist.get_rank()\n" + lines("for i in range(x):\n  x = x + i\n", n) + "if x == 3: dist.barrier()\n"


def handed_functions(n):
    body = lines("def f{i}(g, x):\n  f{next}(f{i}, x)\n  g(f{next}, x)\n", n)
    return IMPORT + body + f"def f{n}(g, x): dist.barrier()\nf0(f{n}, dist.get_rank())\n"


def dictionaries(n):
    return IMPORT + "d = {}\n" + lines("d['k{i}'] = d\n", n) + "if d['k0'] == dist.get_rank(): dist.barrier()\n"


def joined_lists(n):
    return IMPORT + "x = [dist.get_rank()]\n" + "x = x + x\n" * n + "if x[0] == 0: dist.barrier()\n"


def joined_by_calls(n):
    body = "def g(a, b): return a + b\ndef f():\n  x = [dist.get_rank()]\n"
    return IMPORT + body + "  x = g(x, x)\n" * n + "  if x[0] == 0: dist.barrier()\n"


def formatted(n):
    return IMPORT + "x = str(dist.get_rank())\n" + 'x = f"{x}{x}"\n' * n + "if x == '0': dist.barrier()\n"


def ordered(n):
    """Functions that call all that come after them."""
    body = "".join(f"def f{i}(x):\n" + ("".join(f"  f{k}(x)\n" for k in range(i + 1, n)) or "  dist.barrier()\n") for i in range(n))
    return IMPORT + body + "if dist.get_rank() == 0: f0(1)\n"


def value_returns(n):
    return IMPORT + "def f(a):\n" + lines("  if a.x{i}: return {i}\n", n) + "  return a\nif f(dist.get_rank()) == 3: dist.barrier()\n"


def returns_on_rank(n):
    return IMPORT + "def f():\n  r = dist.get_rank()\n" + lines("  if r == {i}: return {i}\n  dist.barrier()\n", n)


def fields_in_branches(n):
    body = lines("    self.x{i} = a\n    if a.x{i}: self.x{i} = 1\n", n)
    return IMPORT + "class A:\n  def f(self, a):\n" + body + "    if self.x0 == dist.get_rank(): dist.barrier()\n"


def keys_in_branches(n):
    return IMPORT + "def f(a):\n  d = {}\n" + lines("  if a.x{i}: d['k{i}'] = 1\n", n) + "  if d['k0'] == dist.get_rank(): dist.barrier()\n"


def items_in_branches(n):
    return IMPORT + "def f(a):\n  d = []\n" + lines("  if a.x{i}: d.append({i})\n", n) + "  if d[0] == dist.get_rank(): dist.barrier()\n"


def variables_in_branches(n):
    return IMPORT + "def f(a):\n" + lines("  v{i} = a\n  if a.x{i}: v{i} = 1\n", n) + "  if v0 == dist.get_rank(): dist.barrier()\n"


def calls_of_one(n):
    return IMPORT + "def g(x, y):\n  if x == y: dist.barrier()\n" + lines("g({i}, dist.get_rank())\n", n)


def breaks(n):
    return IMPORT + "def f(a):\n  for b in a:\n" + lines("    if b.x{i}: break\n    dist.barrier()\n", n)


def tries_in_a_row(n):
    return IMPORT + "def f(a):\n" + lines("  try: v{i} = g{i}(a)\n  except ValueError: return {i}\n  dist.barrier()\n", n)


def cases(n):
    return IMPORT + "def f(a):\n  match a:\n" + lines("    case {i}: dist.barrier()\n", n) + "f(dist.get_rank())\n"


def text_without_end(n):
    return IMPORT + "x = '" + '\\"' * n


def comments_behind_a_block(n):
    return IMPORT + "def f():\n  if dist.get_rank() == 0:\n    dist.barrier()\n" + "#\n" * n


def comments_in_a_block(n):
    return IMPORT + "def f():\n  if dist.get_rank() == 0:\n    x = 1\n" + "#\n" * n + "    dist.barrier()\n"


def decorators(n):
    return IMPORT + "def d(f): return f\n" + "@d\n" * n + "def f():\n  if dist.get_rank() == 0: dist.barrier()\n"


def finally_in_a_row(n):
    return IMPORT + "def f(a):\n" + "  try: g(a)\n  finally: dist.barrier()\n" * n


def ignored_lines(n):
    return IMPORT + lines("if dist.get_rank() == {i}:\n  # allranks: ignore[AR101]\n  dist.barrier()\n", n)


# Name -> a number at which the text is of some size.
GENERATORS = {
    doubled_text: 200, squared_rank: 400, counted_rank: 400, negations: 400, nested_loops: 5, nested_unknown_loops: 5,
    mutual_recursion: 50, recursion_with_returns: 50, recursion_with_jumps: 200, jumps: 200, call_chain: 400, two_calls_a_level: 30,
    class_chain: 200, class_circle: 200, many_bases: 100, writers_of_a_global: 1000, parameters: 2000, comprehension_clauses: 1000,
    branches_on_rank: 200, unknown_branches: 200, early_returns: 200, findings: 500, conditional_values: 200, nested_conditions: 200,
    nested_tries: 20, callbacks: 30, groups: 100, messages: 100, fields: 200, generators: 20, ignore_comments: 100, items: 5000,
    elifs: 200, loops_in_a_row: 100, handed_functions: 30, dictionaries: 300, joined_lists: 50, joined_by_calls: 50, formatted: 50,
    ordered: 30, value_returns: 200, returns_on_rank: 200, fields_in_branches: 200, keys_in_branches: 200, items_in_branches: 200,
    variables_in_branches: 200, calls_of_one: 300, breaks: 200, tries_in_a_row: 200, cases: 200, text_without_end: 5000,
    comments_behind_a_block: 1000, comments_in_a_block: 1000, decorators: 1000, finally_in_a_row: 200, ignored_lines: 100,
}


def cpp(body):
    return "#include <mpi.h>\nvoid f(int r) {\n" + body + "}\n"


def nested_ifs(n):
    return cpp("if (r)\n" * n + "MPI_Barrier(MPI_COMM_WORLD);\n")


def chain_of_else(n):
    return cpp("if (r == 1) { r = 2; } else\n" * n + "MPI_Barrier(MPI_COMM_WORLD);\n")


def nested_blocks(n):
    return cpp("if (r) {\n" * n + "MPI_Barrier(MPI_COMM_WORLD);\n" + "}\n" * n)


def cpp_returns(n):
    return cpp("if (r == 1) return;\nMPI_Barrier(MPI_COMM_WORLD);\n" * n)


def cpp_functions(n):
    return "#include <mpi.h>\n" + lines("void f{i}(int r) {{ if (r == 0) MPI_Barrier(MPI_COMM_WORLD); }}\n", n)


def cpp_destructors(n):
    return "struct G { ~G(); };\n" + cpp(lines("G g{i};\n", n) + "MPI_Barrier(MPI_COMM_WORLD);\n")


# Deeper than the stack that Clang has.
CRASHES_CLANG = "int deep = " + "- " * 200_000 + "1;\n"

JOB = "torchrun --nproc_per_node 2 train.py\n"


def blocks_of_a_page(n):
    return ("```sh\n" + JOB + "```\n") * n


def script_lines(n):
    return JOB + "export A=1\n" * n


def jobs(n):
    return JOB * n


def script_variables(n):
    return lines("A{next}=$A{i}x\n", n) + JOB


def arguments_nobody_takes(n):
    return "torchrun train.py " + " ".join(f"--a{i} {i}" for i in range(n)) + "\n"


def workflow_jobs(n):
    return "jobs:\n" + lines("  j{i}:\n    steps:\n      - run: torchrun --nproc_per_node 2 train.py\n", n)


def ignored_paths(n):
    return lines("/x{i}/**/*.y{i}\n", n)


def attributes_of_paths(n):
    return lines("x{i}/*.y{i} linguist-generated\n", n)


def settings_of_files(n):
    return "[per-file-ignores]\n" + lines('"x{i}/*.py" = ["AR101"]\n', n)


def notebook_cells(n):
    cell = '{"cell_type": "code", "source": ["import torch.distributed as dist\\\\n", "dist.barrier()\\\\n"], "metadata": {}, "outputs": []}'
    return '{"cells": [' + ", ".join([cell] * n) + '], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


# Of other languages than Python -> the name of such a file.
OF_OTHER_FILES = {
    nested_ifs: "a.cpp", chain_of_else: "a.cpp", nested_blocks: "a.cpp", cpp_returns: "a.cpp", cpp_functions: "a.cpp",
    cpp_destructors: "a.cpp", blocks_of_a_page: "README.md", script_lines: "run.sh", jobs: "run.sh", script_variables: "run.sh",
    arguments_nobody_takes: "run.sh", workflow_jobs: ".github/workflows/t.yml", ignored_paths: ".gitignore",
    attributes_of_paths: ".gitattributes", settings_of_files: "allranks.toml", notebook_cells: "a.ipynb",
}


def text_of_size(generator, size):
    """The first text of at least so many characters."""
    n = 1
    while len(generator(n)) < size:
        n *= 2
    low = n // 2
    while n - low > max(1, low // 50):
        middle = (low + n) // 2
        low, n = (middle, n) if len(generator(middle)) < size else (low, middle)
    return generator(n)
