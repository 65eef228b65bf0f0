"""Sums that can be taken in the sweep that finds what they are relative to.

A *moment* is sum(w * (x - d)^k * exp(x - d)^q) over axes over which d is the maximum or the mean of x. While a sweep
does not know d yet, it sums relative to a reference that moves with it. `split_moments` brings sums into this form, and
the planner and the lowering read it off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilec.tile import ir
from tilec.tile.walk import operands_of
from tilec.types import DType

MOST_POWER = 2
"""The largest k and q."""


@dataclass(frozen=True, slots=True)
class Reference:
    """`kind` "max": `center` is the maximum of `x`. "mean": `center` is made of the sum of `x` and of numbers that no
    memory is read for. `reduction`: that maximum or sum."""

    kind: str
    x: ir.Value
    center: ir.Value
    reduction: ir.Reduce


@dataclass(frozen=True, slots=True)
class Term:
    """What is summed: weight * (x - d)^power * exp(x - d)^exponent; `masks`: 0 where x - d is -inf."""

    weight: ir.Value | None = None
    power: int = 0
    exponent: int = 0
    masks: bool = False

    def with_power(self, power: int) -> Term:
        """The same with another power of x - d: what the reference's moving mixes into this one."""
        masks = self.masks and (power > 0 or self.weight is not None)  # where x - d is -inf, its exponential is 0
        return Term(self.weight, power, self.exponent, masks)


@dataclass(frozen=True, slots=True)
class Moment:
    """A sum in the form above."""

    reduction: ir.Reduce
    reference: Reference
    term: Term


def moment_of(value: ir.Value) -> Moment | None:
    """The moment that a reduction is, or None."""
    if not isinstance(value, ir.Reduce) or value.op != "sum" or value.type.dtype is not DType.F32:
        return None
    masks, product = _unmasked(value.operand)
    factors = _factors(product)
    if factors is None:
        return None
    reference = next((found for each in factors if (found := _reference_in(each, value)) is not None), None)
    if reference is None:
        return None
    term = _term(product, reference)
    if term is None or value.operand.type != reference.x.type:
        return None
    if masks is not None and not (is_shift(masks, reference) and term.exponent):
        return None
    return Moment(value, reference, replace(term, masks=masks is not None).with_power(term.power))


def _term(product: ir.Value, reference: Reference) -> Term | None:
    """The powers and the one weight of a product."""
    weight: ir.Value | None = None
    power = exponent = 0
    pending = [product]
    while pending:
        match pending.pop():
            case factor if is_shift(factor, reference):
                power += 1
            case ir.Pointwise(op="exp", operands=(inner,)) if is_shift(inner, reference):
                exponent += 1
            case factor if not reaches(factor, reference.reduction):
                if weight is not None:
                    return None
                weight = factor
            case ir.Pointwise(op="mul", operands=operands):
                pending += operands
            case ir.Pointwise(op="square", operands=(inner,)):
                pending += [inner, inner]
            case _:
                return None
    most = MOST_POWER if reference.kind == "max" else 0
    return Term(weight, power, exponent) if power <= MOST_POWER and exponent <= most else None


def _unmasked(value: ir.Value) -> tuple[ir.Value | None, ir.Value]:
    """s and e of where(s == -inf, 0.0, e); None and the value of anything else."""
    match value:
        case ir.Pointwise(
            op="where",
            operands=(
                ir.Pointwise(op="eq", operands=(tested, ir.Const(value=bound))), ir.Const(value=zero), product
            ),
        ) if bound == float("-inf") and repr(zero) == "0.0":
            return tested, product
    return None, value


def _factors(value: ir.Value) -> list[ir.Value] | None:
    """The factors of a product, at most eight."""
    found: list[ir.Value] = []
    stack = [value]
    while stack:
        value = stack.pop()
        match value:
            case ir.Pointwise(op="mul", operands=(left, right)):
                stack += [right, left]
            case ir.Pointwise(op="square", operands=(inner,)):
                stack += [inner, inner]
            case _:
                found.append(value)
        if len(found) + len(stack) > 8:
            return None
    return found


def _reference_in(factor: ir.Value, total: ir.Reduce) -> Reference | None:
    """The reference by which a factor x - d or exp(x - d) is made."""
    if isinstance(factor, ir.Pointwise) and factor.op == "exp":
        factor = factor.operands[0]
    reference = reference_of(factor)
    if reference is None or not _fits(reference.reduction, total):
        return None
    return reference


def reference_of(shift: ir.Value) -> Reference | None:
    """The reference of a difference x - d, or None."""
    match shift:
        case ir.Pointwise(op="sub", operands=(x, center)) if shift.type == x.type and x.type.dtype is DType.F32:
            if isinstance(center, ir.Reduce) and center.op == "max" and center.operand is x:
                return Reference("max", x, center, center)
            total = _mean(center)
            if total is not None and total.operand is x:
                return Reference("mean", x, center, total)
    return None


def is_shift(value: ir.Value, reference: Reference) -> bool:
    """Whether the value is x - d."""
    return (
        isinstance(value, ir.Pointwise)
        and value.op == "sub"
        and value.operands == (reference.x, reference.center)
        and value.type == reference.x.type
    )


def _mean(center: ir.Value) -> ir.Reduce | None:
    """The sum in sum(x) / n or sum(x) * n, for an n that no memory is read for."""
    match center:
        case ir.Pointwise(op="div_f32" | "mul", operands=(ir.Reduce(op="sum") as total, number)) if _is_number(number):
            return total
        case ir.Pointwise(op="mul", operands=(number, ir.Reduce(op="sum") as total)) if _is_number(number):
            return total
    return None


def _is_number(value: ir.Value, depth: int = 4) -> bool:
    match value:
        case ir.Const() | ir.Dim() | ir.Scalar() | ir.ActiveCount():
            return True
        case ir.Pointwise(op="f32" | "div_f32" | "mul" | "max", operands=operands) if depth:
            return all(_is_number(each, depth - 1) for each in operands)
    return False


def _fits(reduction: ir.Reduce, total: ir.Reduce) -> bool:
    """Whether both are over the same lanes, and the first broadcasts back to them."""
    is_whole = reduction.keeps_axes or len(reduction.axes) == reduction.operand.type.rank
    return is_whole and sorted(reduction.axes) == sorted(total.axes)


def reaches(value: ir.Value, reduction: ir.Reduce, limit: int = 200) -> bool:
    """Whether the value is made of the reduction's result, or that would take long to find out."""
    stack, seen = [value], set[int]()
    while stack:
        value = stack.pop()
        if value is reduction or isinstance(value, ir.Result | ir.Argument) or len(seen) > limit:
            return True
        if value.number in seen or isinstance(value, ir.Reduce):
            continue
        seen.add(value.number)
        stack.extend(operands_of(value))
    return False
