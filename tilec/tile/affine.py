"""Integer scalars of the tile IR as polynomials."""

from __future__ import annotations

from tilec.tile import ir
from tilec.types import DType, Extent, Opaque, Symbol, apply

BLOCK_SYMBOLS = tuple(Symbol(f"ctx.block.{axis}", "block") for axis in "xyz")


_MOST_OPERATIONS = 64


def extent_of(value: ir.Value) -> Extent:
    """The polynomial of a scalar i32 value; what is no polynomial, or a large one, becomes an `Opaque` atom."""
    return _formula(value, [_MOST_OPERATIONS])


def _formula(value: ir.Value, budget: list[int]) -> Extent:
    match value:
        case ir.Const() if value.type.dtype is not DType.F32:
            return Extent.of(int(value.value))
        case ir.Dim():
            return value.extent
        case ir.BlockIndex():
            return Extent.of(BLOCK_SYMBOLS[value.axis])
        case ir.Scalar() if value.type.dtype is DType.I32:
            return Extent.of(Symbol(value.parameter, "scalar", nonnegative=False))
        case ir.Pointwise() if value.type.dtype is DType.I32 and value.op in _OPERATIONS and budget[0] > 0:
            budget[0] -= 1
            result = _applied(value.op, [_formula(operand, budget) for operand in value.operands])
            if result.is_small:
                return result
    return Extent.of(Opaque(value.number, value))


_OPERATIONS = frozenset({"add", "sub", "mul", "neg", "min", "max", "div", "ceildiv"})


def _applied(op: str, operands: list[Extent]) -> Extent:
    match op:
        case "add":
            return operands[0] + operands[1]
        case "sub":
            return operands[0] - operands[1]
        case "mul":
            return operands[0] * operands[1]
        case "neg":
            return -operands[0]
    return apply(op, *operands)
