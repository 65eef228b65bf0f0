"""Constant expressions outside kernels' bodies: file-level `const`s and the defaults of parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tilec.diag import catalog
from tilec.diag.report import Reporter
from tilec.ops import POINTWISE, Operand, TypeRuleError, apply_rule
from tilec.ops.fold import convert
from tilec.sema import fold, lookup
from tilec.sema.program import FileScope
from tilec.syntax import ast
from tilec.types import DTYPES, DType

PREDECLARED = {"inf": math.inf, "nan": math.nan}

OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "div_f32", "%": "rem", "==": "eq", "!=": "ne", "<": "lt", "<=": "le",
    ">": "gt", ">=": "ge", "&&": "and", "||": "or",
}  # fmt: skip
"""The pointwise rows of the binary operators."""

DEPTH = 200


@dataclass(frozen=True, slots=True)
class Constant:
    """A known scalar. A weak one is an integer literal or arithmetic of such."""

    value: fold.Number
    dtype: DType
    is_weak: bool = False


class _NotConstantError(Exception):
    """Somewhere inside, something is known only at run time (or was reported already, then `node` is None)."""

    def __init__(self, node: ast.Expr | None) -> None:
        super().__init__()
        self.node = node


def constant_of(value: fold.Number) -> Constant:
    """A Python number as a literal would be."""
    if isinstance(value, bool):
        return Constant(value, DType.BOOL)
    if isinstance(value, int):
        return Constant(value, DType.I32, True)
    return Constant(fold.round_f32(value), DType.F32)


def adapt(constant: Constant, dtype: DType) -> Constant | None:
    """The constant as a value of `dtype`, if it becomes one by itself: literals adapt, bool to i32 to f32."""
    if constant.dtype is dtype and not constant.is_weak:
        return constant
    if constant.is_weak and dtype in (DType.I32, DType.U32):
        return Constant(constant.value, dtype) if fold.fits(constant.value, dtype) else None
    order = (DType.BOOL, DType.I32, DType.F32)
    if dtype in order and constant.dtype in order and order.index(constant.dtype) <= order.index(dtype):
        return Constant(convert(constant.value, dtype), dtype)
    return None


def evaluate(expression: ast.Expr, scope: FileScope, reporter: Reporter, what: str) -> Constant | None:
    """The value of a constant expression, or None after a diagnostic. `what` is what must be constant, in words."""
    try:
        return _evaluate(expression, scope, reporter, (), 0)
    except _NotConstantError as error:
        if error.node is not None:
            reporter.error(catalog.NOT_CONSTANT, error.node.span, what=what)
        return None


def evaluate_const(const: ast.Const, scope: FileScope, reporter: Reporter) -> Constant | None:
    """The value of a file-level constant, or None after a diagnostic."""
    try:
        return _const(const, scope, reporter, (), None)
    except _NotConstantError:
        return None


def _const(
    const: ast.Const, scope: FileScope, reporter: Reporter, path: tuple[ast.Const, ...], use: ast.Expr | None
) -> Constant:
    """A constant is evaluated once, when its file is loaded; why one has no value is reported then."""
    if const in scope.values:
        known: Constant | None = scope.values[const]
        if known is None:
            raise _NotConstantError(None)
        return known
    if const in path:
        cycle = [*path[path.index(const) :], const]
        text = " -> ".join(f"`{step.name.name}`" for step in cycle)
        span = use.span if use is not None else const.name.span
        reporter.error(catalog.CONST_CYCLE, span, name=const.name.name, cycle=text)
        raise _NotConstantError(None)
    try:
        value = _evaluate(const.value, scope, reporter, (*path, const), len(path))
    except _NotConstantError as error:
        scope.values[const] = None
        if error.node is not None:
            reporter.error(catalog.NOT_CONSTANT, error.node.span, what=f"the value of `const {const.name.name}`")
        raise _NotConstantError(None) from None
    typed: Constant | None = value
    if const.type is not None:
        is_scalar = const.type.kind == "scalar" and const.type.elements
        dtype = DTYPES.get(const.type.elements[0].name) if is_scalar else None
        typed = adapt(value, dtype) if dtype is not None and dtype.is_compute else None
    scope.values[const] = typed
    if typed is None:
        assert const.type is not None
        expected, found = f"`{const.type.span.text}`", f"`{value.dtype}`"
        reporter.error(
            catalog.DECLARED_TYPE, const.value.span, name=const.name.name, expected=expected, found=found
        )
        raise _NotConstantError(None)
    return typed


def _evaluate(
    node: ast.Expr, scope: FileScope, reporter: Reporter, path: tuple[ast.Const, ...], depth: int
) -> Constant:
    if depth > DEPTH:
        raise _NotConstantError(node)
    match node:
        case ast.Number() | ast.Bool():
            return constant_of(node.value)
        case ast.Name(name=name):
            found = lookup.find_constant(scope, name)
            if found is not None:
                return _const(*found, reporter, path, node)
            if name in PREDECLARED:
                return Constant(PREDECLARED[name], DType.F32)
            raise _NotConstantError(node)
        case ast.Unary(op=op):
            operands, name = (node.operand,), "neg" if op == "-" else "not"
        case ast.Binary(op=op):
            operands, name = (node.left, node.right), OPERATORS[op]
        case ast.Call(function=name) if name in POINTWISE and POINTWISE[name].in_source:
            operands = tuple(argument.value for argument in node.arguments)
        case _:
            raise _NotConstantError(node)
    values = [_evaluate(operand, scope, reporter, path, depth + 1) for operand in operands]
    result = apply_constant(name, values)
    if result is None:
        if name in ("add", "sub", "mul", "square", "abs", "neg") and all(value.is_weak for value in values):
            largest = fold.I32_HIGHEST
            reporter.error(catalog.INTEGER_TOO_LARGE, node.span, text=node.span.text, type=DType.I32, largest=largest)
            raise _NotConstantError(None)
        raise _NotConstantError(node)
    return result


def apply_constant(name: str, values: list[Constant]) -> Constant | None:
    """A pointwise row on constants, or None where its types or its folding refuse."""
    if len(values) != POINTWISE[name].arity:
        return None
    try:
        signature = apply_rule(POINTWISE[name].rule, [Operand(value.dtype, value.is_weak) for value in values])
    except TypeRuleError:
        return None
    if name in ("f32", "i32", "u32", "bool"):
        return Constant(convert(values[0].value, signature.result), signature.result)
    converted = []
    for value, dtype in zip(values, signature.operands, strict=True):
        keeps = value.is_weak and signature.is_weak
        converted.append(value.value if keeps or value.dtype is dtype else convert(value.value, dtype))
    folded = fold.fold(name, tuple(converted), signature.operands[-1], is_weak=signature.is_weak)
    return None if folded is None else Constant(folded, signature.result, signature.is_weak)
