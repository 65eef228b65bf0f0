"""The reductions, one row each. Means, variances and logsumexp are built from these by sema."""

from __future__ import annotations

from math import inf

from tilec.ops.spec import ReductionOp
from tilec.types import DType

F32, I32, U32, BOOL = DType.F32, DType.I32, DType.U32, DType.BOOL

_LOWEST, _HIGHEST, _HIGHEST_U32 = -(2**31), 2**31 - 1, 2**32 - 1

_ROWS = [
    ReductionOp("sum", "sum", {F32: 0.0, I32: 0, U32: 0}, "add", "plain", "The sum; of bools and i32 a wrapping i32."),
    ReductionOp("prod", "sum", {F32: 1.0, I32: 1, U32: 1}, "mul", "plain", "The product."),
    ReductionOp(
        "max", "sum", {F32: -inf, I32: _LOWEST, U32: 0}, "max", "plain", "The largest; NaN if any lane is NaN."
    ),
    ReductionOp(
        "min", "sum", {F32: inf, I32: _HIGHEST, U32: _HIGHEST_U32}, "min", "plain", "The smallest; NaN if any is NaN."
    ),
    ReductionOp("any", "logical", {BOOL: False}, "or", "plain", "Whether any lane is true."),
    ReductionOp("all", "logical", {BOOL: True}, "and", "plain", "Whether all lanes are true."),
    ReductionOp(
        "argmax", "index", {F32: 0, I32: 0, U32: 0}, "max", "best",
        "The first index of the largest; the first NaN wins over all numbers. 0 of no lane.",
    ),
    ReductionOp(
        "argmin", "index", {F32: 0, I32: 0, U32: 0}, "min", "best",
        "The first index of the smallest; the first NaN wins over all numbers. 0 of no lane.",
    ),
    ReductionOp(
        "rest", "float", {F32: 0.0}, "add", "shifted",
        "log(sum(exp(x - max(x)))): what a logsumexp adds to the maximum; 0 where the maximum is infinite.",
    ),
]

REDUCTIONS: dict[str, ReductionOp] = {row.name: row for row in _ROWS}
"""Every reduction by name. `identity` is keyed by the dtype of the converted operand."""
