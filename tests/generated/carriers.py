"""Ways for a value to get from where it is computed to where it is used: a variable, a field, a table, a function's result.

Each of them writes what it needs before the place of use and gives the expression to use there.
"""


def variable(draft, value):
    name = draft.fresh("value")
    draft.add(f"{name} = {value}")
    return name


def in_table(draft, value):
    name = draft.fresh("config")
    draft.add(f'{name} = {{"key": {value}, "steps": 3}}')
    return draft.choose([f'{name}["key"]', f'{name}.get("key")'])


def in_table_later(draft, value):
    name = draft.fresh("state")
    draft.add(f"{name} = {{}}", f'{name}["it"] = {value}')
    return f'{name}["it"]'


def in_tuple(draft, value):
    name, other = draft.fresh("kept"), draft.fresh("rest")
    draft.add(draft.choose([f"{name}, {other} = {value}, 1", f"{other}, {name} = (1, {value})", f"({name}, *{other}) = [{value}, 1, 2]"]))
    return name


def in_place_of_tuple(draft, value):
    name = draft.fresh("pair")
    draft.add(f"{name} = ({value}, 1)")
    return draft.choose([f"{name}[0]", f"{name}[-2]"])


def in_namespace(draft, value):
    draft.imports.add("from types import SimpleNamespace")
    name = draft.fresh("args")
    draft.add(f"{name} = SimpleNamespace(it={value}, steps=3)")
    return f"{name}.it"


def in_object(draft, value):
    name, cls = draft.fresh("holder"), draft.fresh("Holder")
    draft.define("""
        class {cls}:
            def __init__(self, it):
                self.it = it
    """, cls=cls)
    draft.add(f"{name} = {cls}({value})")
    return f"{name}.it"


def in_base_class(draft, value):
    name, base, cls = draft.fresh("derived"), draft.fresh("Base"), draft.fresh("Derived")
    draft.define("""
        class {base}:
            def __init__(self, it):
                self.it = it
        class {cls}({base}):
            def __init__(self, it):
                super().__init__(it)
                self.steps = 3
            def ask(self):
                return self.it
    """, base=base, cls=cls)
    draft.add(f"{name} = {cls}({value})")
    return draft.choose([f"{name}.it", f"{name}.ask()"])


def in_property(draft, value):
    name, cls = draft.fresh("owner"), draft.fresh("Owner")
    draft.define("""
        class {cls}:
            def __init__(self, it):
                self._it = it
            @property
            def it(self):
                return self._it
    """, cls=cls)
    draft.add(f"{name} = {cls}({value})")
    return f"{name}.it"


def in_dataclass(draft, value):
    draft.imports.add("from dataclasses import dataclass")
    name, cls = draft.fresh("record"), draft.fresh("Record")
    draft.define("""
        @dataclass
        class {cls}:
            it: object
            steps: int = 3
    """, cls=cls)
    draft.add(f"{name} = {cls}(it={value})" if draft.chance(0.5) else f"{name} = {cls}({value})")
    return f"{name}.it"


def in_named_tuple(draft, value):
    draft.imports.add("from collections import namedtuple")
    name, cls = draft.fresh("point"), draft.fresh("Point")
    draft.define('{cls} = namedtuple("{cls}", ["it", "steps"])', cls=cls)
    draft.add(f"{name} = {cls}({value}, 3)")
    return draft.choose([f"{name}.it", f"{name}[0]"])


def on_class(draft, value):
    cls = draft.fresh("Globals")
    draft.define("""
        class {cls}:
            it = None
    """, cls=cls)
    draft.add(f"{cls}.it = {value}")
    return f"{cls}.it"


def of_module(draft, value):
    name = draft.fresh("_kept")
    draft.define("{name} = None", name=name)
    setter = draft.fresh("keep")
    draft.define("""
        def {setter}(it):
            global {name}
            {name} = it
    """, setter=setter, name=name)
    draft.add(f"{setter}({value})")
    return name


def from_function(draft, value):
    name = draft.fresh("compute")
    names = ", ".join(draft.free_names([value]))
    draft.top.append(f"def {name}({names}):\n    return {value}")
    return f"{name}({names})"


def from_pair_of_function(draft, value):
    name, kept, other = draft.fresh("prepare"), draft.fresh("first"), draft.fresh("second")
    names = ", ".join(draft.free_names([value]))
    draft.top.append(f"def {name}({names}):\n    return {value}, 1")
    draft.add(f"{kept}, {other} = {name}({names})")
    return kept


def from_closure(draft, value):
    name = draft.fresh("ask")
    draft.add(*draft.choose([[f"{name} = lambda: {value}"], [f"def {name}():", f"    return {value}"]]))
    return f"{name}()"


def from_default(draft, value):
    name = draft.fresh("given")
    draft.add(f"def {name}(it={value}):", "    return it")
    return f"{name}()"


def from_walrus(draft, value):
    name = draft.fresh("seen")
    draft.add(f"if ({name} := {value}) is not None:", f'    print("got", {name})')
    return name


def from_static_method(draft, value):
    cls = draft.fresh("Tools")
    names = ", ".join(draft.free_names([value]))
    draft.top.append(f"class {cls}:\n    @staticmethod\n    def ask({names}):\n        return {value}")
    return f"{cls}.ask({names})"


def from_partial(draft, value):
    draft.imports.add("import functools")
    name, function = draft.fresh("bound"), draft.fresh("same")
    draft.define("""
        def {function}(it, factor=1):
            return it
    """, function=function)
    draft.add(f"{name} = functools.partial({function}, {value})")
    return f"{name}()"


def from_keywords(draft, value):
    name = draft.fresh("pick")
    draft.define("""
        def {name}(**options):
            return options["it"]
    """, name=name)
    return f"{name}(it={value}, steps=2)"


def from_list_element(draft, value):
    name = draft.fresh("items")
    draft.add(f"{name} = [1]", f"{name}.append({value})")
    return f"{name}[-1]"


def from_comprehension(draft, value):
    return f"[{value} for _ in range(1)][0]"


CARRIERS = [variable, in_table, in_table_later, in_tuple, in_place_of_tuple, in_namespace, in_object, in_base_class, in_property, in_dataclass,
            in_named_tuple, on_class, of_module, from_function, from_pair_of_function, from_closure, from_default, from_walrus,
            from_static_method, from_partial, from_keywords, from_list_element, from_comprehension]


def carry(draft, value):
    """Carries a value some way, or not at all."""
    if not draft.carries or draft.chance(0.45):
        return value
    carrier = draft.choose(CARRIERS)
    draft.note("carrier", carrier.__name__.replace("_", " "))
    return carrier(draft, value)
