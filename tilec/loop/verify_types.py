"""The dtypes and widths of loop IR expressions."""

from __future__ import annotations

from collections.abc import Callable

from tilec.loop import ir
from tilec.ops import POINTWISE, Operand, TypeRuleError, apply_rule
from tilec.types import DType

_INTEGERS = (DType.I32, DType.U32)
_WORDS = (DType.F32, DType.I32, DType.U32)
_CONSTANTS = {DType.F32: (float, int), DType.I32: (int,), DType.U32: (int,), DType.BOOL: (bool,)}


class TypeFault(Exception):
    """What is wrong, in words."""


def require(condition: bool, message: str) -> None:
    """Raises TypeFault with the message unless the condition holds."""
    if not condition:
        raise TypeFault(message)


def same_dtype(actual: DType, expected: DType, what: str) -> None:
    """Raises TypeFault unless the dtypes are the same."""
    require(actual is expected, f"{what} is {actual}, not {expected}")


def check_expression(expression: ir.Expr, leaf: Callable[[ir.Expr], None]) -> int:
    """The expression's width, 1 or 4. Raises TypeFault; `leaf` is called with every local, uniform field and read of
    memory, to check what depends on their place."""
    match expression:
        case ir.Const():
            _constant(expression)
        case ir.Local() | ir.Uniform():
            leaf(expression)
            return expression.width if isinstance(expression, ir.Local) else 1
        case ir.Builtin(name):
            require(name in ("local_index", "workgroup"), f"no builtin value {name}")
        case ir.Load() | ir.SharedLoad():
            leaf(expression)
            require(check_expression(expression.index, leaf) == 1, "an index that is a vector")
            require(expression.index.dtype in _INTEGERS, f"an index of {expression.index.dtype}")
            return expression.width if isinstance(expression, ir.Load) else 1
        case ir.UniformLoad(array):
            raise TypeFault(f"the uniform load of {array.name} is not the whole value of a let")
        case ir.Shuffle():
            raise TypeFault("a shuffle is not the whole value of a let")
        case ir.SubgroupReduce():
            raise TypeFault("a reduction over subgroups is not the whole value of a let")
        case _:
            return _compound(expression, leaf)
    return 1


def _compound(expression: ir.Expr, leaf: Callable[[ir.Expr], None]) -> int:
    match expression:
        case ir.Op():
            width = _same_width(expression.operands, leaf)
            _op(expression)
            return width
        case ir.Bits():
            width = _same_width(expression.operands, leaf)
            _bits(expression)
            return width
        case ir.Select(condition, chosen, other):
            width = _same_width((chosen, other), leaf)
            require(check_expression(condition, leaf) in (1, width), "a condition wider than what it selects")
            same_dtype(condition.dtype, DType.BOOL, "the condition")
            same_dtype(other.dtype, chosen.dtype, "the other side")
            return width
        case ir.Component(vector, index):
            require(check_expression(vector, leaf) == 4, "a component of no vector")
            require(0 <= index < 4, f"component {index}")
            return 1
        case ir.Vector(components):
            require(_same_width(components, leaf) == 1 and len(components) == 4, "a vector of no four scalars")
            for component in components:
                same_dtype(component.dtype, components[0].dtype, "a component")
            return 4
    raise TypeFault(f"no such expression: {type(expression).__name__}")


def _same_width(operands: tuple[ir.Expr, ...], leaf: Callable[[ir.Expr], None]) -> int:
    widths = {check_expression(operand, leaf) for operand in operands}
    require(len(widths) == 1, "operands of different widths")
    return widths.pop()


def _constant(expression: ir.Const) -> None:
    value, dtype = expression.value, expression.dtype
    require(type(value) in _CONSTANTS.get(dtype, ()), f"a constant of {dtype} that is {value!r}")
    if dtype in _INTEGERS:
        low, high = (-(2**31), 2**31) if dtype is DType.I32 else (0, 2**32)
        require(low <= value < high, f"{value} is no {dtype}")


def _op(expression: ir.Op) -> None:
    row = POINTWISE.get(expression.op)
    if row is None:
        raise TypeFault(f"no operation {expression.op}")
    require(len(expression.operands) == row.arity, f"{expression.op} takes {row.arity} operands")
    dtypes = tuple(operand.dtype for operand in expression.operands)
    try:
        signature = apply_rule(row.rule, [Operand(dtype) for dtype in dtypes])
    except TypeRuleError as error:
        raise TypeFault(f"{expression.op}: {error}") from None
    wanted = ", ".join(map(str, signature.operands))
    require(signature.operands == dtypes, f"operands of {expression.op} are not converted to {wanted}")
    same_dtype(expression.dtype, signature.result, f"the result of {expression.op}")
    require(dtypes[-1] in row.wgsl, f"{expression.op} has no form for {dtypes[-1]}")


def _bits(expression: ir.Bits) -> None:
    dtypes = [operand.dtype for operand in expression.operands]
    op, result = expression.op, expression.dtype
    match op:
        case "and" | "or" | "xor":
            require(
                dtypes == [result] * 2 and result in _INTEGERS, f"{op} of {', '.join(map(str, dtypes))} to {result}"
            )
        case "shl" | "shr":
            require(dtypes == [result, DType.U32] and result in _INTEGERS, f"{op} of {', '.join(map(str, dtypes))}")
        case "bitcast":
            require(len(dtypes) == 1 and dtypes[0] in _WORDS and result in _WORDS, f"bitcast to {result}")
        case _:
            require(op.startswith("helper:"), f"no bit operation {op}")
