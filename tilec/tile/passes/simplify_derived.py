"""Makes derived softmaxes one exponential of what the maximum is taken off, times a factor a row."""

from __future__ import annotations

from tilec.tile import ir
from tilec.tile.gradient.shapes import axes_of
from tilec.tile.make import make_pointwise
from tilec.tile.rewrite import Rewriter, rewrite
from tilec.tile.walk import walk


def simplify_derived(kernel: ir.Kernel) -> ir.Kernel:
    """Needs: split_logsumexp, and merge_equal, so that a softmax that the program computes anyway is not touched.
    Gives: no derived exp((x - max(x)) - rest(x)). Keeps: meaning up to rounding, of derived code; the user's arithmetic
    exactly."""
    if not any(value.is_derived for value in walk(kernel.body)):
        return kernel
    return rewrite(kernel, _simplify)


def _simplify(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    if isinstance(value, ir.Pointwise) and value.is_derived:
        law = _LAWS.get(value.op)
        return None if law is None else law(rewriter, value)
    return None


def _softmax(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """exp((x - max(x)) - rest(x)) -> exp(x - max(x)) * exp(-rest(x)): the second once a row."""
    match value.operands[0]:
        case ir.Pointwise(
            op="sub",
            operands=(
                ir.Pointwise(op="sub", operands=(x, ir.Reduce(op="max") as largest)) as shifted,
                ir.Reduce(op="rest") as rest,
            ),
        ) if largest.operand is x and rest.operand is x and largest.axes == rest.axes and value.type == shifted.type:
            exponential = _emit(rewriter, "exp", shifted)
            inverse = _emit(rewriter, "exp", _emit(rewriter, "neg", rest))
            return _emit(rewriter, "mul", exponential, inverse)
    return None


def _narrow_factors(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """(e * n) * k -> e * (n * k), in any order, for an exponential e and n and k narrower than it."""
    for product, factor in (value.operands, value.operands[::-1]):
        match product:
            case ir.Pointwise(op="mul", operands=(ir.Pointwise(op="exp") as exponential, inner), is_derived=True):
                widths = [axes_of(each.type) for each in (exponential, inner, factor)]
                if widths[1] < widths[0] and widths[2] < widths[0] and widths[1] | widths[2] < widths[0]:
                    narrow = _emit(rewriter, "mul", inner, factor)
                    new = _emit(rewriter, "mul", exponential, narrow)
                    return new if new.type == value.type else None
    return None


def _emit(rewriter: Rewriter, op: str, *operands: ir.Value) -> ir.Value:
    new = make_pointwise(op, operands, operands[0].span)
    new.is_derived = True
    return rewriter.append(new)


_LAWS = {"exp": _softmax, "mul": _narrow_factors}
