"""Ways to do one block where a condition holds, and another one where it does not.

A form gets the condition and the two blocks, may write what it needs before, and gives the block that does it.
"""

from draft import indent


def branches(draft, condition, then, other):
    return [f"if {condition}:", *indent(then)] + (["else:", *indent(other)] if other else [])


def inverted(draft, condition, then, other):
    return [f"if not ({condition}):", *indent(other)] + (["else:", *indent(then)] if then else [])


def kept_first(draft, condition, then, other):
    name = draft.fresh("chosen")
    return [f"{name} = {condition}"] + branches(draft, name, then, other)


def two_conditions(draft, condition, then, other):
    name = draft.fresh("holds")
    return [f"{name} = bool({condition})", f"if {name}:", *indent(then), f"if not {name}:", *indent(other)]


def early_return(draft, condition, then, other):
    return [draft.lift([f"if {condition}:", *indent(then + ["return"]), *(other or ["pass"])], draft.choose(["save", "evaluate", "step", "run"]))]


def early_return_of_value(draft, condition, then, other):
    call = draft.lift([f"if not ({condition}):", *indent((other or []) + ["return None"]), *then, "return 1"], "finish")
    return [f"{draft.fresh('outcome')} = {call}"]


def continued(draft, condition, then, other):
    return [f"for {draft.fresh('step')} in range({draft.choose([1, 2])}):", *indent([f"if {condition}:", *indent(then + ["continue"]), *(other or ["pass"])])]


def broken(draft, condition, then, other):
    return [f"for {draft.fresh('epoch')} in range(2):", *indent([f"if {condition}:", *indent(then + ["break"]), *(other or ["pass"])])]


def while_once(draft, condition, then, other):
    return [f"while {condition}:", *indent(then + ["break"])] + (["else:", *indent(other)] if other else [])


def counted(draft, condition, then, other):
    rounds = draft.choose([f"1 if {condition} else 0", f"int(bool({condition}))"])
    return [f"for {draft.fresh('round_')} in range({rounds}):", *indent(then)] + branches(draft, f"not ({condition})", other, []) * bool(other)


def matched(draft, condition, then, other):
    return [f"match bool({condition}):", *indent(["case True:", *indent(then), "case _:", *indent(other)])]


def raised(draft, condition, then, other):
    return ["try:", *indent([f"if {condition}:", *indent([f'raise {draft.choose(["ValueError", "RuntimeError"])}("this way")']), *(other or [])]),
            f"except {draft.choose(['(ValueError, RuntimeError)', 'Exception'])}:", *indent(then)]


def short_circuit(draft, condition, then, other):
    call = draft.lift(then + ["return True"], "act")
    return [f"({condition}) and {call}"] + branches(draft, f"not ({condition})", other, []) * bool(other)


def conditional_expression(draft, condition, then, other):
    return [f"{draft.lift(then, 'this')} if {condition} else {draft.lift(other or ['pass'], 'that')}"]


def chosen_function(draft, condition, then, other):
    first, second, action = draft.fresh("first_way"), draft.fresh("second_way"), draft.fresh("action")
    draft.add(f"def {first}():", *indent(then), f"def {second}():", *indent(other))
    return [draft.choose([f"{action} = {first} if {condition} else {second}", f"{action} = {{True: {first}, False: {second}}}[bool({condition})]",
                          f"{action} = ({second}, {first})[int(bool({condition}))]"]), f"{action}()"]


def flag_parameter(draft, condition, then, other):
    name = draft.fresh("work_on")
    names = [each for each in draft.free_names(then + (other or []))]
    draft.top.append("\n".join([f"def {name}({', '.join(['enabled', *names])}):", *indent(branches(draft, "enabled", then, other))]))
    return [f"{name}({', '.join([condition, *names])})"]


def method(draft, condition, then, other):
    cls, worker = draft.fresh("Worker"), draft.fresh("worker")
    names = draft.free_names(then + (other or []))
    draft.top.append("\n".join([f"class {cls}:", *indent([
        "def __init__(self, enabled):", "    self.enabled = enabled",
        f"def run({', '.join(['self', *names])}):", *indent(branches(draft, "self.enabled", then, other))])]))
    return [f"{worker} = {cls}({condition})", f"{worker}.run({', '.join(names)})"]


def overridden_method(draft, condition, then, other):
    base, cls, one = draft.fresh("Hook"), draft.fresh("MainHook"), draft.fresh("hook")
    draft.add(f"class {base}:", *indent(["def run(self):", *indent(other)]), f"class {cls}({base}):", *indent(["def run(self):", *indent(then)]))
    return [f"{one} = {cls}() if {condition} else {base}()", f"{one}.run()"]


def context_manager(draft, condition, then, other):
    draft.imports.add("from contextlib import contextmanager")
    name = draft.fresh("region")
    draft.add("@contextmanager", f"def {name}(inside):", *indent(["if not inside:", *indent(other), "yield", "if inside:", *indent(then)]))
    return [f"with {name}({condition}):", '    print("inside")']


def decorated(draft, condition, then, other):
    draft.imports.add("import functools")
    decorator, function = draft.fresh("only_if"), draft.fresh("action")
    draft.define("""
        def {decorator}(allowed):
            def decorate(function):
                @functools.wraps(function)
                def wrapper(*args):
                    if allowed:
                        return function(*args)
                    return None
                return wrapper
            return decorate
    """, decorator=decorator)
    draft.add(f"@{decorator}({condition})", f"def {function}():", *indent(then))
    return [f"{function}()"] + branches(draft, f"not ({condition})", other, []) * bool(other)


def in_finally(draft, condition, then, other):
    return ["try:", *indent(other and [f"if not ({condition}):", *indent(other)]), "finally:", *indent([f"if {condition}:", *indent(then)])]


def over_a_generator(draft, condition, then, other):
    name = draft.fresh("turns")
    draft.add(f"def {name}(wanted):", "    if wanted:", "        yield 1")
    return [f"for {draft.fresh('turn')} in {name}({condition}):", *indent(then)] + branches(draft, f"not ({condition})", other, []) * bool(other)


FORMS = [branches] * 5 + [inverted, kept_first, two_conditions, early_return, early_return, early_return_of_value, continued, broken, while_once, counted, matched,
                          raised, short_circuit, conditional_expression, chosen_function, flag_parameter, method, overridden_method, context_manager,
                          decorated, in_finally, over_a_generator]


def decided(draft, condition, then, other):
    form = draft.choose(FORMS)
    draft.note("form", form.__name__.replace("_", " "))
    return form(draft, condition, then, other)
