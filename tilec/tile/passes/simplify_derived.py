"""Makes derived softmaxes one exponential of what the maximum is taken off, times a factor a row, and gathers such
factors and terms, so that they are worked on once a row and not at every element."""

from __future__ import annotations

from typing import TypeGuard

from tilec.tile import ir
from tilec.tile.gradient.shapes import axes_of
from tilec.tile.make import make_pointwise
from tilec.tile.rewrite import Rewriter, rewrite
from tilec.tile.walk import walk
from tilec.types import DType


def simplify_derived(kernel: ir.Kernel) -> ir.Kernel:
    """Needs: split_logsumexp, and merge_equal, so that a softmax that the program computes anyway is not touched.
    Gives: no derived exp((x - max(x)) - rest(x)), no chain of narrow factors or terms on one, no derived difference of
    products that have a wide factor in common. Keeps: meaning up to rounding, of derived code and of the factor that it
    is multiplied by; the user's arithmetic elsewhere exactly. Refines: a gradient that is 0 stays 0 under a factor that
    is no number."""
    if not any(value.is_derived for value in walk(kernel.body)):
        return kernel
    return rewrite(kernel, _simplify)


def _simplify(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    if not isinstance(value, ir.Pointwise):
        return None
    if value.op == "mul":
        return _narrow_factor(rewriter, value)
    law = _LAWS.get(value.op) if value.is_derived else None
    return None if law is None else law(rewriter, value)


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


def _narrow_factor(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """(e * n - w) * k -> e * (n * k) - w * k and the like, for derived terms and a factor k narrower than them."""
    for terms, factor in (value.operands, value.operands[::-1]):
        if axes_of(factor.type) < axes_of(terms.type) and terms.type.dtype is DType.F32 and terms.type == value.type:
            scaled = _scaled(rewriter, terms, factor)
            if scaled is not None and scaled.type == value.type:
                return scaled
    return None


def _scaled(rewriter: Rewriter, value: ir.Value, factor: ir.Value) -> ir.Value | None:
    """`value * factor` with the factor at what is narrow in it; None where an element's work would not shrink."""
    match value:
        case ir.Pointwise(op="mul", operands=(ir.Pointwise(op="exp") as e, narrow), is_derived=True) if (
            axes_of(narrow.type) < axes_of(e.type)
        ):
            return _emit(rewriter, "mul", e, _emit(rewriter, "mul", narrow, factor))
        case ir.Pointwise(op="sub", operands=(wide, narrow), is_derived=True):
            left = _scaled(rewriter, wide, factor)
            right = None if left is None else _scaled_choice(rewriter, narrow, factor, value)
            return None if left is None or right is None else _emit(rewriter, "sub", left, right)
        case ir.Pointwise(op="where", operands=(condition, wide, ir.Const(value=0.0) as zero)):
            inner = _scaled(rewriter, wide, factor)
            return None if inner is None else _emit(rewriter, "where", condition, inner, zero)
    return None


def _scaled_choice(
    rewriter: Rewriter, value: ir.Value, factor: ir.Value, within: ir.Value
) -> ir.Value | None:
    """`value * factor` for what is narrow within a wider value, or a choice between two such."""
    if axes_of(value.type) < axes_of(within.type):
        return _emit(rewriter, "mul", value, factor)
    if _is_choice(value):
        condition, *sides = value.operands
        scaled = (side if _is_zero(side) else _emit(rewriter, "mul", side, factor) for side in sides)
        return _emit(rewriter, "where", condition, *scaled)
    return None


def _gathered(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """(a - where(c, n, 0)) - m -> a - where(c, n + m, m), for n and m narrower than the result."""
    match value.operands:
        case (ir.Pointwise(op="sub", operands=(wide, choice), is_derived=True), narrow) if (
            _is_choice(choice) and _is_zero(choice.operands[2]) and axes_of(narrow.type) < axes_of(value.type)
        ):
            condition, chosen, _ = choice.operands
            both = _emit(rewriter, "add", chosen, narrow)
            return _emit(rewriter, "sub", wide, _emit(rewriter, "where", condition, both, narrow))
    return None


def _is_choice(value: ir.Value) -> TypeGuard[ir.Pointwise]:
    """A derived `where` between two values that are both narrower than its condition."""
    if not (isinstance(value, ir.Pointwise) and value.op == "where" and value.is_derived):
        return False
    return all(axes_of(side.type) < axes_of(value.type) for side in value.operands[1:])


def _is_zero(value: ir.Value) -> bool:
    return isinstance(value, ir.Const) and value.value == 0.0


def _common_factor(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """p * a - p * n -> p * (a - n), where n is narrower than the other two."""
    match value.operands:
        case (ir.Pointwise(op="mul", operands=left), ir.Pointwise(op="mul", operands=right, is_derived=True)):
            for common, narrow in (right, right[::-1]):
                if common in left and axes_of(narrow.type) < axes_of(common.type):
                    other = left[1] if left[0] is common else left[0]
                    if axes_of(other.type) == axes_of(common.type):
                        new = _emit(rewriter, "mul", common, _emit(rewriter, "sub", other, narrow))
                        return new if new.type == value.type else None
    return None


def _emit(rewriter: Rewriter, op: str, *operands: ir.Value) -> ir.Value:
    new = make_pointwise(op, operands, operands[0].span)
    new.is_derived = True
    return rewriter.append(new)


def _difference(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """The laws of differences, in turn."""
    return _gathered(rewriter, value) or _common_factor(rewriter, value)


_LAWS = {"exp": _softmax, "sub": _difference}
