"""The attributes of a kernel: `@grid`, `@disjoint`, `@threads`, `@bound`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tilec.diag import catalog
from tilec.diag.report import did_you_mean
from tilec.sema.constants import Constant, evaluate
from tilec.sema.faults import Faults
from tilec.sema.program import KernelSignature
from tilec.syntax import ast

THREADS_LIMIT = 256
BOUND = 65_536
_KNOWN = ("grid", "disjoint", "threads", "bound")


@dataclass(slots=True)
class Attributes:
    """`grid` are the expressions of `@grid`, with the attribute itself, or None."""

    grid: tuple[ast.Expr, ...] | None = None
    grid_node: ast.KernelAttribute | None = None
    disjoint: set[str] = field(default_factory=set)
    threads: int | None = None
    bound: int = BOUND


def read_attributes(
    signature: KernelSignature, faults: Faults, fixed: Mapping[str, Constant] | None = None
) -> Attributes:
    """The kernel's attributes; `fixed` are its scalar parameters that are known. Faults are reported."""
    result, fixed = Attributes(), fixed or {}
    seen: set[str] = set()
    for node in signature.node.attributes:
        name = node.name.name
        if name in seen:
            faults.error(catalog.DUPLICATE_ATTRIBUTE, node.name.span, name=name)
            continue
        seen.add(name)
        match name:
            case "grid":
                _grid(node, result, faults)
            case "disjoint":
                _disjoint(node, signature, result, faults)
            case "threads":
                result.threads = _number(node, signature, fixed, faults, THREADS_LIMIT)
            case "bound":
                result.bound = _number(node, signature, fixed, faults, 2**31 - 1) or BOUND
            case "autotune":
                faults.error(catalog.AUTOTUNE_NOT_YET, node.name.span)
            case _:
                hint = did_you_mean(name, _KNOWN) or "there are `@grid`, `@disjoint`, `@threads` and `@bound`"
                faults.error(catalog.UNKNOWN_ATTRIBUTE, node.name.span, hint=hint, name=name)
    return result


def _wrong(node: ast.KernelAttribute, faults: Faults, expected: str) -> None:
    count = len(node.arguments)
    found = "nothing is given" if count == 0 else "1 is given" if count == 1 else f"{count} are given"
    faults.error(catalog.ATTRIBUTE_ARGUMENTS, node.span, name=node.name.name, expected=expected, found=found)


def _grid(node: ast.KernelAttribute, result: Attributes, faults: Faults) -> None:
    expressions = tuple(argument for argument in node.arguments if not isinstance(argument, ast.NamedIn))
    if len(expressions) != len(node.arguments) or not 1 <= len(expressions) <= 3:
        _wrong(node, faults, "one to three formulas of the dims")
        return
    result.grid, result.grid_node = expressions, node


def _disjoint(node: ast.KernelAttribute, signature: KernelSignature, result: Attributes, faults: Faults) -> None:
    if not node.arguments:
        _wrong(node, faults, "the names of tensors")
    for argument in node.arguments:
        name = argument.name if isinstance(argument, ast.Name) else argument.span.text
        parameter = signature.parameter(name)
        if parameter is None or parameter.kind != "tensor":
            tensors = [p.name for p in signature.parameters if p.kind == "tensor"]
            faults.error(catalog.NOT_A_TENSOR, argument.span, hint=did_you_mean(name, tensors), name=name)
        else:
            result.disjoint.add(name)


def _number(
    node: ast.KernelAttribute, signature: KernelSignature, fixed: Mapping[str, Constant], faults: Faults, limit: int
) -> int | None:
    """The one positive constant that an attribute takes."""
    name = node.name.name
    if len(node.arguments) != 1 or isinstance(node.arguments[0], ast.NamedIn):
        _wrong(node, faults, "one positive constant")
        return None
    argument = node.arguments[0]
    if isinstance(argument, ast.Name) and argument.name in fixed:
        constant: Constant | None = fixed[argument.name]
    else:
        constant = evaluate(argument, signature.scope, faults.reporter, f"the value of `@{name}`")
    if constant is None:
        faults.give_up(argument.span)
        return None
    value = constant.value
    if isinstance(value, bool) or not isinstance(value, int):
        _wrong(node, faults, "one positive constant")
        return None
    if not 1 <= value <= limit:
        row = catalog.TOO_MANY_THREADS if name == "threads" else catalog.BOUND_RANGE
        faults.error(row, node.arguments[0].span, given=value, limit=limit)
        return None
    return value
