"""Which parameters a function assigns (its out parameters) or subscripts (whole tensors may be passed there)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tilec.sema import lookup
from tilec.sema.library import LOCK
from tilec.sema.lookup import Found
from tilec.sema.program import FileScope
from tilec.syntax import ast


@dataclass(frozen=True, slots=True)
class Effects:
    """`assigned` are the out parameters; `used` those that the body uses as values (or assigns)."""

    assigned: frozenset[str]
    used: frozenset[str]


def effects(found: Found) -> Effects:
    """The effects of a function, through the statement functions that it calls too."""
    memo = found.scope.effects
    with LOCK:
        if found.function not in memo:
            _compute_all(found)
        return memo[found.function]


def _compute_all(root: Found) -> None:
    """Callees first, with a stack of our own: a chain of calls may be longer than Python's recursion."""
    stack = [(root, False)]
    while stack:
        current, is_ready = stack.pop()
        function, scope = current.function, current.scope
        if is_ready:
            scope.effects[function] = _compute(function, scope)
        elif function not in scope.effects:
            scope.effects[function] = Effects(frozenset(), frozenset())  # for a recursive call, an error elsewhere
            stack.append((current, True))
            stack.extend((callee, False) for callee in _callees(function, scope))


def _callees(function: ast.Function, scope: FileScope) -> list[Found]:
    """The functions that a body calls."""
    found: list[Found | None] = []
    expressions = [] if function.value is None else [function.value]
    for statement in walk_statements(function.body):
        expressions += expressions_of(statement)
        if isinstance(statement, ast.CallStatement):
            call = statement.call
            found.append(lookup.find(scope, call.function, len(call.arguments), is_statement=True))
    for expression in expressions:
        for call in _calls(expression):
            found.append(lookup.find(scope, call.function, len(call.arguments), is_statement=False))
    return [callee for callee in found if callee is not None]


def _compute(function: ast.Function, scope: FileScope) -> Effects:
    names = frozenset(parameter.name.name for parameter in function.parameters)
    assigned: set[str] = set()
    used: set[str] = set()
    for statement, hidden in _visible(function.body, frozenset()):
        visible = names - hidden
        match statement:
            case ast.Assign(place=ast.Name(name=name)):
                assigned |= {name} & visible
            case ast.CallStatement():
                passed = _passed(statement.call, scope)
                assigned |= passed.assigned & visible
                used |= passed.used & visible
        for expression in expressions_of(statement):
            for call in _calls(expression):
                assigned |= _passed(call, scope, is_statement=False).assigned & visible
            used |= _values(expression, scope) & visible
    if function.value is not None:
        hidden = {s.name.name for s in function.body if isinstance(s, ast.Let | ast.Var)}
        used |= _values(function.value, scope) & (names - hidden)
    return Effects(frozenset(assigned), frozenset(used | assigned))


def _visible(
    body: Sequence[ast.Statement], hidden: frozenset[str]
) -> Iterator[tuple[ast.Statement, frozenset[str]]]:
    """Every statement, with the names that inner definitions hide there."""
    for statement in body:
        yield statement, hidden
        match statement:
            case ast.Let() | ast.Var():
                hidden |= {statement.name.name}
            case ast.If():
                yield from _visible(statement.then, hidden)
                yield from _visible(statement.otherwise or (), hidden)
            case ast.For():
                yield from _visible(statement.body, hidden | {statement.name.name})
            case ast.While():
                yield from _visible(statement.body, hidden)


def _calls(root: ast.Expr) -> Iterator[ast.Call]:
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Call):
            yield node
        stack.extend(children(node))


def _passed(call: ast.Call, scope: FileScope, *, is_statement: bool = True) -> Effects:
    """The names that a call assigns and uses of the caller's."""
    callee = lookup.find(scope, call.function, len(call.arguments), is_statement=is_statement)
    if callee is None:
        return Effects(frozenset(), frozenset())
    inner = callee.scope.effects[callee.function]
    return _through(callee.function, call, inner)


def _through(function: ast.Function, call: ast.Call, inner: Effects) -> Effects:
    values = lookup.bind_call(function, call.arguments).values
    plain = {parameter: value.name for parameter, value in values.items() if isinstance(value, ast.Name)}
    return Effects(
        frozenset(name for parameter, name in plain.items() if parameter in inner.assigned),
        frozenset(name for parameter, name in plain.items() if parameter in inner.used),
    )


def _values(expression: ast.Expr, scope: FileScope) -> set[str]:
    """Names that an expression uses as values: not those that it only subscripts or passes on to be subscripted."""
    used: set[str] = set()
    stack: list[ast.Expr] = [expression]
    while stack:
        node = stack.pop()
        match node:
            case ast.Name(name=name):
                used.add(name)
            case ast.Index(value=ast.Name()):
                stack.extend(_inside_subscripts(node))
                if node.fill is not None:
                    stack.append(node.fill)
            case ast.Call():
                stack.extend(argument.value for argument in node.arguments if not isinstance(argument.value, ast.Name))
                used |= _names_used_by_call(node, scope)
            case _:
                stack.extend(children(node))
    return used


def _names_used_by_call(call: ast.Call, scope: FileScope) -> set[str]:
    plain = {argument.value.name for argument in call.arguments if isinstance(argument.value, ast.Name)}
    if not plain:
        return plain
    callee = lookup.find(scope, call.function, len(call.arguments), is_statement=False)
    if callee is None:
        subject = call.arguments[0].value if call.function == "extent" else None
        return plain - {subject.name} if isinstance(subject, ast.Name) else plain
    inner = callee.scope.effects[callee.function]
    return set(_through(callee.function, call, inner).used)


def _inside_subscripts(node: ast.Index) -> list[ast.Expr]:
    parts: list[ast.Expr | None] = []
    for part in node.subscripts:
        match part:
            case ast.Point():
                parts.append(part.index)
            case ast.Range():
                parts += (part.start, part.stop)
            case ast.Count():
                parts += (part.start, part.count)
    return [part for part in parts if part is not None]


def children(node: ast.Expr) -> list[ast.Expr]:
    """The expressions directly inside one."""
    match node:
        case ast.Unary():
            return [node.operand]
        case ast.Binary():
            return [node.left, node.right]
        case ast.Call():
            return [argument.value for argument in node.arguments]
        case ast.Attribute():
            return [node.value]
        case ast.Index():
            return [node.value, *_inside_subscripts(node), *([node.fill] if node.fill is not None else [])]
    return []


def expressions_of(statement: ast.Statement) -> list[ast.Expr]:
    """The expressions that a statement itself evaluates (a place's subscripts among them), inner blocks left out."""
    match statement:
        case ast.Let() | ast.Var() | ast.Print():
            return [statement.value]
        case ast.Assign(place=place):
            inside = _inside_subscripts(place) if isinstance(place, ast.Index) else []
            return [statement.value, *inside]
        case ast.CallStatement():
            arguments = (argument.value for argument in statement.call.arguments)
            return [value for value in arguments if not isinstance(value, ast.Name)]
        case ast.If() | ast.While() | ast.Require() | ast.Assert():
            return [statement.condition]
        case ast.For():
            return [statement.iterable]
        case ast.Return() if statement.value is not None:
            return [statement.value]
    return []


def walk_statements(body: tuple[ast.Statement, ...]) -> Iterator[ast.Statement]:
    """Every statement of a body, inner blocks included."""
    for statement in body:
        yield statement
        match statement:
            case ast.If():
                yield from walk_statements(statement.then)
                yield from walk_statements(statement.otherwise or ())
            case ast.For() | ast.While():
                yield from walk_statements(statement.body)
