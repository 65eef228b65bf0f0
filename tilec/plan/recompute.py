"""Which values are cheaper to keep than to compute again in every sweep that needs them."""

from __future__ import annotations

from collections.abc import Container, Sequence

from tilec.tile import ir as tile
from tilec.tile.walk import operands_of, regions_of

_MOST_AGAIN = 64
"""Instructions that a sweep computes again at most, to have a value that an earlier sweep computed as well."""


def often_recomputed(instructions: Sequence[tile.Value], used: Container[tile.Value]) -> set[tile.Value]:
    """Tiles that several reductions, stores or loops need and that are the end of a long computation.

    Without them a chain in which every step reduces the tile that it changes is computed from its beginning in every
    sweep: the code, and its time, would grow with the square of the chain.
    """
    kept: set[tile.Value] = set()
    seen: set[tile.Value] = set()
    for sink in instructions:
        if sink not in used or not isinstance(sink, tile.Reduce | tile.Store | tile.Pick):
            continue
        own: set[tile.Value] = set()
        stack = list(operands_of(sink))
        while stack:
            value = stack.pop()
            if value in own or value in kept or isinstance(value, tile.Reduce):
                continue
            own.add(value)
            if value not in seen or not _may_be_kept(value):
                stack.extend(_inputs(value))
            elif _is_long(value, kept):
                kept.add(value)
        seen |= own
    return kept


def _inputs(value: tile.Value) -> tuple[tile.Value, ...]:
    if isinstance(value, tile.Result):
        node, index = value.producer, value.index
        return tuple(region.yields[index] for region in regions_of(node)) if isinstance(node, tile.If) else ()
    return operands_of(value)


def _may_be_kept(value: tile.Value) -> bool:
    if isinstance(value, tile.Result):
        return value.type.rank > 0 and isinstance(value.producer, tile.If)
    return value.type.rank > 0 and isinstance(value, tile.Pointwise | tile.Update | tile.Pad)


def _is_long(value: tile.Value, kept: Container[tile.Value]) -> bool:
    stack, own = [value], set[tile.Value]()
    while stack:
        current = stack.pop()
        if current in own or current in kept or isinstance(current, tile.Reduce):
            continue
        own.add(current)
        if len(own) > _MOST_AGAIN:
            return True
        stack.extend(_inputs(current))
    return False
