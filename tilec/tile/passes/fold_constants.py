"""Computes what is known while compiling."""

from __future__ import annotations

from tilec.ops.fold import fold
from tilec.tile import ir
from tilec.tile.make import make_constant
from tilec.tile.rewrite import DROPPED, Dropped, Rewriter, rewrite
from tilec.types import DType


def fold_constants(kernel: ir.Kernel) -> ir.Kernel:
    """Needs: nothing. Gives: no plain operation of constants only, no branch on a constant, no loop of no round.
    Keeps: meaning, exactly; transcendental functions get the correctly rounded value."""
    return rewrite(kernel, _Folder().fold)


class _Folder:
    def __init__(self) -> None:
        self._results: dict[int, tuple[ir.Value, ...]] = {}
        """By number of a branch or loop that is gone: what its results were."""

    def fold(self, rewriter: Rewriter, value: ir.Value) -> ir.Value | Dropped | None:
        match value:
            case ir.Pointwise():
                return _pointwise(rewriter, value)
            case ir.Dim(extent=extent) if extent.constant is not None and abs(extent.constant) < 2**31:
                return rewriter.append(make_constant(extent.constant, DType.I32, value.span))
            case ir.If(condition=ir.Const(value=condition)):
                number = rewriter.original.number  # before the region's instructions come by
                self._results[number] = rewriter.splice(value.then if condition else value.otherwise)
                return DROPPED
            case ir.For(start=ir.Const(value=start), stop=ir.Const(value=stop)) if start >= stop:
                self._results[rewriter.original.number] = value.initial
                return DROPPED
            case ir.Result(producer=producer, index=index) if producer.number in self._results:
                return self._results[producer.number][index]
        return None


def _pointwise(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """op(constants) -> constant."""
    numbers = tuple(operand.value for operand in value.operands if isinstance(operand, ir.Const))
    if len(numbers) < len(value.operands):
        return None
    result = fold(value.op, numbers, value.operands[-1].type.dtype)
    return None if result is None else rewriter.append(make_constant(result, value.type.dtype, value.span))
