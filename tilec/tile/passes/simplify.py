"""Drops operations that change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tilec.tile import ir
from tilec.tile.make import make_pointwise
from tilec.tile.rewrite import Rewriter, rewrite
from tilec.types import DType

Law: TypeAlias = "Callable[[Rewriter, Any], ir.Value | None]"


def simplify(kernel: ir.Kernel) -> ir.Kernel:
    """Needs: nothing. Gives: no operation that one of the laws below removes. Keeps: meaning, exactly, bit by bit:
    NaN, infinities and -0.0 too."""
    return rewrite(kernel, _simplify)


def _simplify(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    for law in _laws(value):
        new = law(rewriter, value)
        # A tile of another shape or activity is another value, though its numbers are the same.
        if new is not None and new.type == value.type:
            return new
    return None


def _laws(value: ir.Value) -> tuple[Law, ...]:
    if isinstance(value, ir.Pointwise):
        return (*_POINTWISE_LAWS.get(value.op, ()), _known_choices)
    return _OTHER_LAWS.get(type(value), ())


def _is_constant(value: ir.Value, number: bool | int | float) -> bool:
    """Whether the value is that literal; -0.0 is not 0.0, True is not 1."""
    return isinstance(value, ir.Const) and repr(value.value) == repr(number)


# --- arithmetic ----------------------------------------------------------------------------------------------


def _add_zero(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """x + -0.0 -> x, in either order; of integers x + 0. Not x + 0.0, which makes 0.0 of -0.0."""
    zero = -0.0 if value.type.dtype is DType.F32 else 0
    left, right = value.operands
    return left if _is_constant(right, zero) else right if _is_constant(left, zero) else None


def _subtract_zero(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """x - 0.0 -> x; of integers x - 0."""
    zero = 0.0 if value.type.dtype is DType.F32 else 0
    left, right = value.operands
    return left if _is_constant(right, zero) else None


def _multiply_by_one(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """x * 1 -> x, in either order."""
    one = 1.0 if value.type.dtype is DType.F32 else 1
    left, right = value.operands
    return left if _is_constant(right, one) else right if _is_constant(left, one) else None


def _divide_by_one(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """x / 1 -> x, also rounded up."""
    one = 1.0 if value.type.dtype is DType.F32 else 1
    left, right = value.operands
    return left if _is_constant(right, one) else None


def _twice(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """-(-x) -> x, !!x -> x."""
    match value.operands[0]:
        case ir.Pointwise(op=op, operands=(inner,)) if op == value.op:
            return inner
    return None


def _again(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """f(f(x)) -> f(x), for what rounds, or takes the magnitude."""
    inner = value.operands[0]
    return inner if isinstance(inner, ir.Pointwise) and inner.op == value.op else None


def _same_operands(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """max(x, x) -> x; likewise min, && and ||."""
    left, right = value.operands
    return left if left is right else None


def _neutral_bool(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """x && true -> x, x || false -> x, in either order."""
    left, right = value.operands
    neutral = value.op == "and"
    return left if _is_constant(right, neutral) else right if _is_constant(left, neutral) else None


def _own_type(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """f32(x) -> x where x is an f32; likewise the other compute types."""
    return value.operands[0]  # the caller compares the types


# --- where ---------------------------------------------------------------------------------------------------


def _known_condition(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """where(true, a, b) -> a, where(false, a, b) -> b."""
    condition, chosen, other = value.operands
    if not isinstance(condition, ir.Const):
        return None
    return chosen if condition.value else other


def _known_choices(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """f(where(true, a, b), ...) -> f(a, ...), where f's type does not need the condition's or b's."""
    operands = tuple(_chosen(operand) for operand in value.operands)
    if all(new is old for new, old in zip(operands, value.operands, strict=True)):
        return None
    new = make_pointwise(value.op, operands, value.span, value.name)
    return rewriter.emit(new) if new.type == value.type else None


def _chosen(value: ir.Value) -> ir.Value:
    match value:
        case ir.Pointwise(op="where", operands=(ir.Const(value=condition), chosen, other)):
            return chosen if condition else other
    return value


def _same_sides(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """where(c, x, x) -> x."""
    _, chosen, other = value.operands
    return chosen if chosen is other else None


def _negated_condition(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value | None:
    """where(!c, a, b) -> where(c, b, a)."""
    condition, chosen, other = value.operands
    match condition:
        case ir.Pointwise(op="not", operands=(inner,)):
            swapped = ir.Pointwise(value.type, value.span, "where", (inner, other, chosen), name=value.name)
            return rewriter.emit(swapped)
    return None


# --- rearrangements ------------------------------------------------------------------------------------------


def _whole_update(rewriter: Rewriter, value: ir.Update) -> ir.Value | None:
    """Update(old, new) -> new, where new is active wherever old is."""
    return value.new


def _same_place(rewriter: Rewriter, value: ir.View | ir.Broadcast | ir.Pad) -> ir.Value | None:
    """View, Broadcast or Pad of x -> x, where it has x's type already: a view keeps the order of the elements, and a
    pad of lanes that are not all active has another type."""
    return value.operand  # the caller compares the types


def _view_of_view(rewriter: Rewriter, value: ir.View) -> ir.Value | None:
    """View(View(x)) -> View(x), or x, where no axis of x that goes has bounds."""
    inner = value.operand
    if not isinstance(inner, ir.View):
        return None
    x = inner.operand
    axes = tuple(None if axis is None else inner.axes[axis] for axis in value.axes)
    if any(bounds for axis, bounds in enumerate(x.type.active) if axis not in axes):
        return None
    if axes == tuple(range(x.type.rank)):
        return x
    return rewriter.emit(ir.View(value.type, value.span, x, axes, name=value.name))


_POINTWISE_LAWS: dict[str, tuple[Law, ...]] = {
    "add": (_add_zero,),
    "sub": (_subtract_zero,),
    "mul": (_multiply_by_one,),
    "div_f32": (_divide_by_one,),
    "div": (_divide_by_one,),
    "ceildiv": (_divide_by_one,),
    "neg": (_twice,),
    "not": (_twice,),
    **dict.fromkeys(("abs", "floor", "ceil", "round", "trunc", "f16", "bf16"), (_again,)),
    "min": (_same_operands,),
    "max": (_same_operands,),
    "and": (_same_operands, _neutral_bool),
    "or": (_same_operands, _neutral_bool),
    **dict.fromkeys(("f32", "i32", "u32", "bool"), (_own_type,)),
    "where": (_known_condition, _same_sides, _negated_condition),
}
_OTHER_LAWS: dict[type, tuple[Law, ...]] = {
    ir.Update: (_whole_update,),
    ir.View: (_same_place, _view_of_view),
    ir.Broadcast: (_same_place,),
    ir.Pad: (_same_place,),
}
