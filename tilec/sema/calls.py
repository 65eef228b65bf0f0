"""Checks calls: that the function exists, takes these arguments, and gets places where it assigns; and recursion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilec.diag import catalog
from tilec.diag.report import Reporter, did_you_mean
from tilec.sema import lookup
from tilec.sema.constants import PREDECLARED
from tilec.sema.effects import effects
from tilec.sema.gradients import check_gradient_call
from tilec.sema.library import library
from tilec.sema.lookup import Found
from tilec.sema.program import FileScope
from tilec.source import Span
from tilec.syntax import ast, foreign

if TYPE_CHECKING:
    from tilec.sema.names import _Checker


class CallGraph:
    """Who calls whom, among the functions of a program's files."""

    def __init__(self, reporter: Reporter) -> None:
        self.reporter = reporter
        self.edges: dict[ast.Function, list[tuple[ast.Function, Span]]] = {}
        self.current: ast.Function | None = None

    def enter(self, function: ast.Function) -> None:
        self.current = function
        self.edges[function] = []

    def leave(self) -> None:
        self.current = None

    def add(self, callee: ast.Function, span: Span) -> None:
        if self.current is not None:
            self.edges[self.current].append((callee, span))

    def report_cycles(self) -> None:
        """Depth first without Python's recursion: a chain of calls may be long."""
        done: set[ast.Function] = set()
        for root in self.edges:
            path: list[ast.Function] = []
            stack: list[tuple[ast.Function, int]] = [(root, 0)]
            while stack:
                function, position = stack.pop()
                if position == 0:
                    if function in done:
                        continue
                    path.append(function)
                edges = self.edges.get(function, [])
                if position == len(edges):
                    done.add(function)
                    path.pop()
                    continue
                stack.append((function, position + 1))
                callee, span = edges[position]
                if callee in path:
                    cycle = [*path[path.index(callee) :], callee]
                    text = " -> ".join(f"`{step.name.name}`" for step in cycle)
                    self.reporter.error(catalog.RECURSION, span, name=callee.name.name, cycle=text)
                elif callee not in done:
                    stack.append((callee, 0))


def is_function(scope: FileScope, name: str) -> bool:
    """Whether the file sees any function of the name, of either form."""
    return lookup.builtin_arity(name) is not None or any(
        lookup.candidates(scope, name, is_statement=is_statement) for is_statement in (False, True)
    )


def is_constant(scope: FileScope, name: str) -> bool:
    """Whether a name that no body defines stands for a constant."""
    return lookup.find_constant(scope, name) is not None or name in PREDECLARED


def check_call(checker: _Checker, call: ast.Call) -> None:
    """A call in an expression."""
    name, report = call.function, checker.reporter.error
    found = lookup.find(checker.scope, name, len(call.arguments), is_statement=False)
    if found is not None:
        checker.graph.add(found.function, call.function_span)
        _check_places(checker, found, _check_binding(checker, call, found))
        return
    if lookup.builtin_arity(name) is not None:
        _check_builtin(checker, call)
    elif lookup.candidates(checker.scope, name, is_statement=False):
        _wrong_arity(checker, call, is_statement=False)
    elif lookup.candidates(checker.scope, name, is_statement=True):
        report(catalog.NO_VALUE, call.function_span, name=name)
    else:
        _unknown(checker, call)


def check_statement_call(checker: _Checker, call: ast.Call) -> None:
    """A call that is a statement."""
    name = call.function
    found = lookup.find(checker.scope, name, len(call.arguments), is_statement=True)
    if found is not None:
        checker.graph.add(found.function, call.function_span)
        _check_places(checker, found, _check_binding(checker, call, found))
    elif lookup.candidates(checker.scope, name, is_statement=True):
        _wrong_arity(checker, call, is_statement=True)
    elif is_function(checker.scope, name):
        checker.reporter.error(catalog.VALUE_NOT_USED, call.span, name=name, text=call.span.text)
    else:
        _unknown(checker, call)
    for argument in call.arguments:
        checker.expression(argument.value)


def _check_binding(checker: _Checker, call: ast.Call, found: Found) -> dict[str, ast.Expr]:
    """Arguments by parameter; reports those that fit none, and parameters that have none."""
    binding = lookup.bind_call(found.function, call.arguments)
    parameters = {parameter.name.name: parameter for parameter in found.function.parameters}
    notes = [_signature(found)]
    for argument in binding.unknown:
        open_ones = [name for name in parameters if name not in binding.values]
        hint = did_you_mean(argument.name or "", open_ones or parameters)
        hint = hint or f"it has {', '.join(f'`{name}`' for name in parameters)}"
        checker.reporter.error(
            catalog.UNKNOWN_ARGUMENT, argument.span, notes=notes, hint=hint, function=call.function, name=argument.name
        )
    for argument in binding.twice:
        checker.reporter.error(
            catalog.ARGUMENT_TWICE, argument.span, notes=notes, function=call.function, name=argument.name
        )
    if not binding.unknown and not binding.twice:
        for name in binding.missing:
            checker.reporter.error(
                catalog.MISSING_ARGUMENT, call.span, notes=notes, function=call.function, name=name,
                parameter=parameters[name].span.text,
            )  # fmt: skip
    return binding.values


def _signature(found: Found) -> tuple[Span, str]:
    """The note that shows a function's parameters where it is defined."""
    function = found.function
    source, start = function.name.span.source, function.name.span.start
    end = function.parameters[-1].span.end if function.parameters else function.name.span.end
    close = source.text.find(")", end)
    return Span(source, start, close + 1 if close >= 0 else end), f"`{function.name.name}` is defined here"


def _check_builtin(checker: _Checker, call: ast.Call) -> None:
    name = call.function
    least, most = lookup.builtin_arity(name) or (0, 0)
    for argument in call.arguments:
        if argument.name is not None and not (argument.name == "axis" and name in lookup.TAKES_AXIS):
            hint = f"`{name}` takes its arguments by position"
            value = argument.value.span.text
            if name in lookup.TAKES_AXIS:
                is_axis = argument.name in ("dim", "axes", "dims")
                hint = f"it has `axis`: `axis: {value}`" if is_axis else "it has `axis`, and no other"
            elif name.startswith(("row", "col")):
                hint = _fixed_axis(name)
            elif argument.name not in ("x", "y", "z"):
                hint = f"write `{lookup.builtin_form(name)}`: {hint}"
            checker.reporter.error(
                catalog.UNKNOWN_ARGUMENT, argument.span, hint=hint, function=name, name=argument.name
            )
            return
    given = sum(argument.name is None for argument in call.arguments)
    if sum(argument.name is not None for argument in call.arguments) > 1:
        checker.reporter.error(catalog.ARGUMENT_TWICE, call.arguments[-1].span, function=name, name="axis")
    if not least <= given <= most:
        _wrong_arity(checker, call, is_statement=False)
    elif name == "grad":
        check_gradient_call(checker, call)


def _fixed_axis(name: str) -> str:
    """What to do instead of giving a row or column reduction an axis."""
    kind = lookup.ROW_REDUCTIONS.get(name) or lookup.COLUMN_REDUCTIONS.get(name)
    named = next((whole for whole, its in lookup.WHOLE_REDUCTIONS.items() if its == kind), None)
    other = f"; `{named}(x, axis: k)` takes one" if named is not None else ""
    return f"`{name}` always reduces the {'last' if name.startswith('row') else 'first'} axis{other}"


def _wrong_arity(checker: _Checker, call: ast.Call, *, is_statement: bool) -> None:
    """No definition of the name takes so many arguments: says what each takes."""
    name = call.function
    candidates = lookup.candidates(checker.scope, name, is_statement=is_statement)
    built_in = None if is_statement else lookup.builtin_arity(name)
    if len(candidates) == 1 and built_in is None:
        function = candidates[0].function
        if len(call.arguments) <= len(function.parameters):
            _check_binding(checker, call, candidates[0])
            return
    for found in candidates:
        if lookup.bind_call(found.function, call.arguments).twice:
            _check_binding(checker, call, found)
            return
    ranges = {lookup.arity(found.function) for found in candidates} | ({built_in} if built_in is not None else set())
    texts = [str(low) if low == high else f"{low} to {high}" for low, high in sorted(ranges)]
    last = max(high for _, high in ranges)
    expected = " or ".join(texts) + (" argument" if texts == ["1"] or last == 0 else " arguments")
    count = len(call.arguments)
    given = f"{count} is" if count == 1 else f"{count} are"
    surplus = call.arguments[last:]
    label = f"{given} here" if not surplus else "one too many" if len(surplus) == 1 else f"{len(surplus)} too many"
    span = call.span
    if surplus:
        span = Span(span.source, surplus[0].span.start, surplus[-1].span.end)
    checker.reporter.error(
        catalog.WRONG_ARITY, span, notes=[_signature(found) for found in candidates],
        hint=_arity_hint(call) if built_in is not None else None,
        name=name, expected=expected, given=given, label=label,
    )  # fmt: skip


def _arity_hint(call: ast.Call) -> str:
    """How a built-in function is called, and what the call may have been meant to be."""
    name, given = call.function, call.arguments
    texts = [argument.value.span.text for argument in given]
    if name in lookup.TAKES_AXIS and len(given) == 2:
        return f"an axis is named: `{name}({texts[0]}, axis: {texts[1]})`"
    if name in lookup.ROW_REDUCTIONS or name in lookup.COLUMN_REDUCTIONS:
        return _fixed_axis(name)
    if name in ("min", "max") and len(given) == 1:
        return f"`row{name}(x)` is the {name}imum of each row, `a{name}(x)` of all; `{name}(x, y)` takes two values"
    return f"write `{lookup.builtin_form(name)}`"


def _unknown(checker: _Checker, call: ast.Call) -> None:
    name, span = call.function, call.function_span
    local = checker.find(name)
    scope = checker.scope
    if scope.has_failed_import or any(name in file.broken for file in (scope, *scope.imports)):
        return
    if name in scope.kernels:
        checker.reporter.error(catalog.KERNEL_CALLED, span, name=name)
    elif local is not None:
        local.is_used = True
        from tilec.sema.names import _SPOKEN

        checker.reporter.error(catalog.VALUE_AS_FUNCTION, span, name=name, what=_SPOKEN[local.kind])
    elif lookup.find_constant(scope, name) is not None:
        checker.reporter.error(catalog.VALUE_AS_FUNCTION, span, name=name, what="a constant")
    elif name == "range":
        checker.reporter.error(catalog.RANGE_MISUSE, span, problem="occurs only in `for ... in`")
    elif name in lookup.LATER:
        checker.reporter.error(catalog.OPERATION_NOT_YET, span, name=name, family=lookup.LATER[name])
    elif (owner := _private_owner(scope, name)) is not None:
        checker.reporter.error(catalog.PRIVATE_NAME, span, name=name, path=owner)
    else:
        known = lookup.builtin_names() | library().names | set(scope.expressions) | set(scope.statements)
        for imported in scope.imports:
            known |= {n for n in {*imported.expressions, *imported.statements} if not n.startswith("_")}
        hint = foreign.FUNCTIONS.get(name) or did_you_mean(name, known)
        checker.reporter.error(catalog.UNKNOWN_FUNCTION, span, hint=hint, name=name)


def _private_owner(scope: FileScope, name: str) -> str | None:
    """The file whose private function a call asks for, if there is one."""
    if not name.startswith("_"):
        return None
    library().load(name)
    for file in (*scope.imports, *library().scopes):
        if name in file.expressions or name in file.statements:
            return file.source.name
    return None


def _check_places(checker: _Checker, found: Found, values: dict[str, ast.Expr]) -> None:
    assigned = effects(found).assigned
    for parameter, value in values.items():
        if parameter in assigned:
            _check_place(checker, found, parameter, value)


def _check_place(checker: _Checker, found: Found, parameter: str, value: ast.Expr) -> None:
    hint = None
    match value:
        case ast.Name(name=name):
            local = checker.find(name)
            if local is None and not is_constant(checker.scope, name):
                return  # an unknown name, which is reported as that
            if local is not None and local.kind in ("var", "parameter"):
                return
            if local is None:
                hint = f"declare a variable for it, `var result = {name}`"
            elif local.kind == "tensor":
                hint = f"say where: `{name}[...]`"
            elif local.kind == "let":
                hint = f"declare it with `var {name} = ...`"
        case ast.Index(value=ast.Name(name=name), fill=None):
            local = checker.find(name)
            if local is None and not is_constant(checker.scope, name):
                return
            if local is not None and local.kind in ("tensor", "parameter"):
                return
    function = found.function.name.name
    checker.reporter.error(
        catalog.OUT_NEEDS_PLACE, value.span, hint=hint, function=function, parameter=parameter, text=value.span.text
    )
