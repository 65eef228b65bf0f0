"""Integer scalars of the tile IR as polynomials."""

from __future__ import annotations

from tilec.tile import ir
from tilec.types import DType, Extent, Opaque, Symbol, apply

BLOCK_SYMBOLS = tuple(Symbol(f"ctx.block.{axis}", "block") for axis in "xyz")


def extent_of(value: ir.Value) -> Extent:
    """The polynomial of a scalar i32 value; what is no polynomial becomes an `Opaque` atom."""
    match value:
        case ir.Const() if value.type.dtype is not DType.F32:
            return Extent.of(int(value.value))
        case ir.Dim():
            return value.extent
        case ir.BlockIndex():
            return Extent.of(BLOCK_SYMBOLS[value.axis])
        case ir.Scalar() if value.type.dtype is DType.I32:
            return Extent.of(Symbol(value.parameter, "scalar", nonnegative=False))
        case ir.Pointwise(op="add" | "sub" | "mul") if value.type.dtype is DType.I32:
            left, right = (extent_of(operand) for operand in value.operands)
            return left + right if value.op == "add" else left - right if value.op == "sub" else left * right
        case ir.Pointwise(op="neg") if value.type.dtype is DType.I32:
            return -extent_of(value.operands[0])
        case ir.Pointwise(op="min" | "max" | "div" | "ceildiv") if value.type.dtype is DType.I32:
            return apply(value.op, *(extent_of(operand) for operand in value.operands))
    return Extent.of(Opaque(value.number, value))
