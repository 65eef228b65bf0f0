"""What an instruction uses: its operands, its regions, and the instructions that its extents mention."""

from __future__ import annotations

from collections.abc import Iterator

from tilec.tile import ir
from tilec.types import Extent, Opaque


def operands_of(value: ir.Value) -> tuple[ir.Value, ...]:
    """The values that the instruction names itself (not those in its regions, nor in extents)."""
    match value:
        case ir.Pointwise(operands=operands):
            return operands
        case ir.Pick(operand=operand, index=index):
            return (operand, index)
        case ir.Pad(operand=operand, fill=fill):
            return (operand, fill)
        case ir.Update(old=old, new=new):
            return (old, new)
        case ir.Reduce() | ir.ActiveCount() | ir.View() | ir.Broadcast() | ir.Stop():
            return (value.operand,)
        case ir.Gradient(y=y, x=x):
            return (y, x)
        case ir.Load() | ir.Store():
            return _access_operands(value)
        case ir.Report(where=where, values=values, rounds=rounds):
            return (where, *values, *rounds)
        case ir.Result(producer=producer):
            return (producer,)
        case ir.If() | ir.For() | ir.While():
            return _control_operands(value)
    return ()


def scalar_of(index: ir.AxisIndex) -> ir.Value:
    """The scalar of an index: where a span starts, or the point."""
    return index.start if isinstance(index, ir.SpanIndex) else index.index


def _access_operands(value: ir.Load | ir.Store) -> tuple[ir.Value, ...]:
    indices = tuple(map(scalar_of, value.indices))
    if isinstance(value, ir.Store):
        return (*indices, value.operand)
    return indices if value.fill is None else (*indices, value.fill)


def _control_operands(value: ir.If | ir.For | ir.While) -> tuple[ir.Value, ...]:
    match value:
        case ir.If(condition=condition):
            return (condition,)
        case ir.For(start=start, stop=stop, initial=initial):
            return (start, stop, *initial)
        case ir.While(initial=initial):
            return initial


def regions_of(value: ir.Value) -> tuple[ir.Region, ...]:
    """The regions of an If, For or While; none of other instructions."""
    match value:
        case ir.If(then=then, otherwise=otherwise):
            return (then, otherwise)
        case ir.For(body=body):
            return (body,)
        case ir.While(condition=condition, body=body):
            return (condition, body)
    return ()


def carried_of(value: ir.Value) -> tuple[ir.Argument, ...]:
    """The carried arguments of a For or While."""
    return value.carried if isinstance(value, ir.For | ir.While) else ()


def extents_of(value: ir.Value) -> Iterator[Extent]:
    """Every extent in the instruction: of its type, of a Dim, of the spans of an access."""
    if value.type is not None:
        yield from value.type.shape
        for bounds in value.type.active:
            for bound in bounds:
                yield bound.start
                yield bound.limit
    if isinstance(value, ir.Dim):
        yield value.extent
    if isinstance(value, ir.Load | ir.Store):
        yield from (index.count for index in value.indices if isinstance(index, ir.SpanIndex))


def opaque_of(value: ir.Value) -> list[ir.Value]:
    """The instructions whose values the extents of this one mention."""
    return [
        atom.value
        for extent in extents_of(value)
        if extent.constant is None
        for atom in extent.atoms
        if isinstance(atom, Opaque) and isinstance(atom.value, ir.Value)
    ]


def walk(region: ir.Region) -> Iterator[ir.Value]:
    """All instructions of the region in order, those of inner regions after the instruction that holds them."""
    for value in region.body:
        yield value
        for inner in regions_of(value):
            yield from walk(inner)


def used_inside(value: ir.Value) -> list[ir.Value]:
    """What the instructions in the value's regions use, what their extents mention, and what the regions yield."""
    found: list[ir.Value] = []
    for region in regions_of(value):
        found += region.yields
        for inner in region.body:
            found += (*operands_of(inner), *opaque_of(inner), *used_inside(inner))
    return found


def stored_tensors(value: ir.Value) -> frozenset[str]:
    """The tensors that the instruction stores to, itself or in its regions."""
    if isinstance(value, ir.Store):
        return frozenset({value.tensor})
    return frozenset(
        inner.tensor for region in regions_of(value) for inner in walk(region) if isinstance(inner, ir.Store)
    )
