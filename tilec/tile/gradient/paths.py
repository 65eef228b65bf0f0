"""The instructions through which derivatives pass."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.ops import POINTWISE
from tilec.tile import ir
from tilec.tile.walk import operands_of, walk


def differentiable_operands(value: ir.Value) -> tuple[ir.Value, ...]:
    """The operands through which a derivative passes (it may be 0)."""
    match value:
        case ir.Pointwise(op=op, operands=operands):
            columns = POINTWISE[op].derivative
            return tuple(
                operand
                for operand, column in zip(operands, columns, strict=True)
                if column is not None and operand.type.dtype.is_float
            )
        case ir.Reduce() if not value.type.dtype.is_float:
            return ()
        case ir.Pick(operand=operand):
            return (operand,) if operand.type.dtype.is_float else ()
        case ir.Result(producer=ir.For() as producer):
            return (producer,)
        case ir.For():
            return sources(value)
        case ir.Reduce() | ir.View() | ir.Broadcast() | ir.Pad() | ir.Update():
            return tuple(operand for operand in operands_of(value) if operand.type.dtype.is_float)
    return ()


def order_between(ends: Sequence[ir.Value], starts: Sequence[ir.Value]) -> list[ir.Value]:
    """The values through which a derivative passes from `starts` to `ends`, both included, operands first."""
    depends: dict[int, bool] = {start.number: True for start in starts}
    order: list[ir.Value] = []
    stack: list[tuple[ir.Value, bool]] = [(end, False) for end in ends]
    while stack:
        value, is_ready = stack.pop()
        if value.number in depends:
            continue
        operands = differentiable_operands(value)
        if not is_ready:
            stack.append((value, True))
            stack += [(operand, False) for operand in operands if operand.number not in depends]
            continue
        depends[value.number] = any(depends[operand.number] for operand in operands)
        if depends[value.number]:
            order.append(value)
    return [*starts, *order]


def passes(y: ir.Value, x: ir.Value) -> bool:
    """Whether a derivative passes from `x` to `y`."""
    return order_between([y], [x])[-1] is y


def sources(loop: ir.For) -> tuple[ir.Value, ...]:
    """The floats that the loop starts with and uses from outside."""
    inside = {value.number for value in walk(loop.body)} | {argument.number for argument in loop.carried}
    found = {value.number: value for value in loop.initial}
    for value in walk(loop.body):
        found |= {operand.number: operand for operand in operands_of(value) if operand.number not in inside}
    found.pop(loop.index.number, None)
    return tuple(value for value in found.values() if value.type is not None and value.type.dtype.is_float)
