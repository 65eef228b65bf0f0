"""Which function a call means: by name, form (expression or statement) and number of arguments.

A file's own definitions come first, then its imports', then std's, then built-ins. std's bodies see std only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tilec.ops import POINTWISE
from tilec.sema.library import library
from tilec.sema.program import FileScope
from tilec.syntax import ast

ROW_REDUCTIONS = {
    "rowsum": "sum", "rowmean": "mean", "rowmax": "max", "rowmin": "min", "rowprod": "prod", "rowany": "any",
    "rowall": "all", "rowargmax": "argmax", "rowargmin": "argmin", "rowvar": "var",
}  # fmt: skip
COLUMN_REDUCTIONS = {"colsum": "sum", "colmean": "mean", "colmax": "max", "colmin": "min"}
WHOLE_REDUCTIONS = {
    "sum": "sum", "mean": "mean", "amax": "max", "amin": "min", "any": "any", "all": "all", "argmax": "argmax",
    "var": "var",
}  # fmt: skip
TAKES_AXIS = frozenset(WHOLE_REDUCTIONS) | {"logsumexp"}

BUILTINS: dict[str, tuple[int, int]] = {
    **dict.fromkeys((*ROW_REDUCTIONS, *COLUMN_REDUCTIONS, *WHOLE_REDUCTIONS, "logsumexp"), (1, 1)),
    "iota": (1, 2), "onehot": (2, 2), "extent": (2, 2), "pad": (2, 2), "pick": (2, 2), "program_id": (1, 1),
    "grad": (2, 2), "stop_grad": (1, 1),
}  # fmt: skip
"""Built-in functions that are no pointwise rows: the least and the largest number of positional arguments."""

_FORMS = {
    "where": "where(condition, a, b)", "clamp": "clamp(x, low, high)", "fma": "fma(x, y, z)", "pick": "pick(x, t)",
    "iota": "iota(axis, n)", "onehot": "onehot(t, n)", "extent": "extent(x, axis)", "pad": "pad(x, value)",
    "grad": "grad(y, x)", "program_id": "program_id(axis)",
    **{name: f"{name}(x, axis: k)" for name in sorted(TAKES_AXIS)},
}  # fmt: skip

LATER = {
    **dict.fromkeys(("dot", "dot_t", "transpose"), "matrix products"),
    **dict.fromkeys(("cumsum", "tril", "shift", "fold"), "scans and shifts"),
    **dict.fromkeys(("random", "rand", "randn", "dropout"), "random numbers"),
    "scatter": "scattered writes",
}
"""Built-in functions that are not there yet, with the family's name."""


def builtin_arity(name: str) -> tuple[int, int] | None:
    """Least and largest number of positional arguments of a built-in function, or None if there is none."""
    if name in BUILTINS:
        return BUILTINS[name]
    row = POINTWISE.get(name)
    return (row.arity, row.arity) if row is not None and row.in_source else None


def builtin_form(name: str) -> str:
    """How a built-in function is called: `where(condition, a, b)`."""
    _, most = builtin_arity(name) or (0, 0)
    return _FORMS.get(name) or f"{name}({', '.join('xyz'[:most])})"


def builtin_names() -> set[str]:
    return {*BUILTINS, *(name for name, row in POINTWISE.items() if row.in_source)}


@dataclass(frozen=True, slots=True)
class Found:
    """A function and the file whose names its body sees."""

    function: ast.Function
    scope: FileScope


def arity(function: ast.Function) -> tuple[int, int]:
    """The least and the largest number of arguments."""
    needed = sum(parameter.default is None for parameter in function.parameters)
    return needed, len(function.parameters)


def layers(scope: FileScope, name: str, *, is_statement: bool) -> Iterator[list[Found]]:
    """Definitions of the name that the file sees, the nearest layer first."""
    if not scope.source.is_std:
        yield [Found(function, scope) for function in scope.functions(is_statement=is_statement).get(name, ())]
        if not name.startswith("_"):
            yield [
                Found(function, imported)
                for imported in scope.imports
                for function in imported.functions(is_statement=is_statement).get(name, ())
            ]
    if name not in library():
        return
    library().load(name)
    own = [scope] if scope.source.is_std and name.startswith("_") else library().scopes
    if not name.startswith("_") or scope.source.is_std:
        yield [
            Found(function, file)
            for file in own
            for function in file.functions(is_statement=is_statement).get(name, ())
        ]


def candidates(scope: FileScope, name: str, *, is_statement: bool) -> list[Found]:
    """All definitions of the name and form that the file sees."""
    return [found for layer in layers(scope, name, is_statement=is_statement) for found in layer]


def find(scope: FileScope, name: str, given: int, *, is_statement: bool) -> Found | None:
    """The definition that takes `given` arguments, the nearest first. None where there is none (or a built-in)."""
    for layer in layers(scope, name, is_statement=is_statement):
        for found in layer:
            least, most = arity(found.function)
            if least <= given <= most:
                return found
    return None


@dataclass(frozen=True, slots=True)
class Binding:
    """Arguments matched to parameters. Faults are (kind, name, argument) for the caller to report."""

    values: dict[str, ast.Expr]
    missing: tuple[str, ...]
    unknown: tuple[ast.Argument, ...]
    twice: tuple[ast.Argument, ...]


def bind(parameters: Sequence[str], needed: frozenset[str], arguments: Sequence[ast.Argument]) -> Binding:
    """Matches a call's arguments to parameters: positional ones in order, then named ones."""
    values: dict[str, ast.Expr] = {}
    unknown: list[ast.Argument] = []
    twice: list[ast.Argument] = []
    for position, argument in enumerate(arguments):
        if argument.name is None:
            if position < len(parameters):
                values[parameters[position]] = argument.value
        elif argument.name not in parameters:
            unknown.append(argument)
        elif argument.name in values:
            twice.append(argument)
        else:
            values[argument.name] = argument.value
    missing = tuple(name for name in parameters if name in needed and name not in values)
    return Binding(values, missing, tuple(unknown), tuple(twice))


def bind_call(function: ast.Function, arguments: Sequence[ast.Argument]) -> Binding:
    """`bind` for a function's own parameters."""
    names = [parameter.name.name for parameter in function.parameters]
    needed = frozenset(parameter.name.name for parameter in function.parameters if parameter.default is None)
    return bind(names, needed, arguments)


def find_constant(scope: FileScope, name: str) -> tuple[ast.Const, FileScope] | None:
    """A file-level constant that the file sees."""
    if name in scope.constants:
        return scope.constants[name], scope
    if scope.source.is_std:
        library().load(name)
        return (scope.constants[name], scope) if name in scope.constants else None
    if not name.startswith("_"):
        for imported in scope.imports:
            if name in imported.constants:
                return imported.constants[name], imported
    return None
