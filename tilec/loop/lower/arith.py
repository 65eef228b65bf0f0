"""Small arithmetic on expressions, folded where it is trivial."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.loop import ir
from tilec.types import DType

TRUE = ir.Const(DType.BOOL, True)


def const(value: int, dtype: DType = DType.I32) -> ir.Const:
    return ir.Const(dtype, value)


def _value(expression: ir.Expr) -> int | None:
    if isinstance(expression, ir.Const) and expression.dtype is not DType.F32 and isinstance(expression.value, int):
        return expression.value
    return None


def add(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    """Integer sum."""
    first, second = _value(left), _value(right)
    if first == 0:
        return right
    if second == 0:
        return left
    if first is not None and second is not None:
        return const(first + second, left.dtype)
    return ir.Op("add", (left, right), left.dtype)


def as_word(value: ir.Expr) -> ir.Expr:
    """The bits of a scalar as a u32; a bool as 0 or 1."""
    if value.dtype is DType.BOOL:
        return ir.Select(value, const(1, DType.U32), const(0, DType.U32))
    return value if value.dtype is DType.U32 else ir.Bits("bitcast", (value,), DType.U32)


def subtract(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    if _value(right) == 0:
        return left
    return ir.Op("sub", (left, right), left.dtype)


def multiply(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    first, second = _value(left), _value(right)
    if first == 1:
        return right
    if second == 1:
        return left
    if first == 0 or second == 0:
        return const(0, left.dtype)
    if first is not None and second is not None:
        return const(first * second, left.dtype)
    return ir.Op("mul", (left, right), left.dtype)


def divide(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    """Integer quotient; the divisor is positive and both are nonnegative."""
    divisor = _value(right)
    if divisor == 1:
        return left
    if divisor is not None and _is_power_of_two(divisor):
        return ir.Bits("shr", (left, const(divisor.bit_length() - 1, DType.U32)), left.dtype)
    return _through_unsigned("div", left, right)


def remainder(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    """Integer remainder; the divisor is positive and both are nonnegative."""
    divisor = _value(right)
    if divisor == 1:
        return const(0, left.dtype)
    if divisor is not None and _is_power_of_two(divisor):
        return ir.Bits("and", (left, const(divisor - 1, left.dtype)), left.dtype)
    return _through_unsigned("rem", left, right)


def _through_unsigned(op: str, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    """On u32, where drivers agree and no sign is looked at."""
    result = ir.Op(op, (unsigned(left), unsigned(right)), DType.U32)
    return result if left.dtype is DType.U32 else signed(result)


def _is_power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


def compare(op: str, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Op(op, (left, right), DType.BOOL)


def both(conditions: Sequence[ir.Expr | None]) -> ir.Expr | None:
    """The conjunction of those that are given, None if none is."""
    given = [condition for condition in conditions if condition is not None]
    if not given:
        return None
    result = given[0]
    for condition in given[1:]:
        result = ir.Op("and", (result, condition), DType.BOOL)
    return result


def unsigned(value: ir.Expr) -> ir.Expr:
    """An i32 as a u32 of the same bits."""
    if value.dtype is DType.U32:
        return value
    known = _value(value)
    if known is not None and known >= 0:
        return const(known, DType.U32)
    return ir.Op("u32", (value,), DType.U32)


def signed(value: ir.Expr) -> ir.Expr:
    if value.dtype is DType.I32:
        return value
    known = _value(value)
    if known is not None:
        return const(known, DType.I32)
    return ir.Op("i32", (value,), DType.I32)
