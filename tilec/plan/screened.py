"""Elements that a condition such as `iota == target` singles out of a sweep, and what others are computed without."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from tilec.plan.ir import Phase, Roles, Round
from tilec.plan.walk import children, operand_roles
from tilec.tile import ir as tile
from tilec.types import DType

MOST_CONDITIONS = 2
"""That are asked about at once; where there are more, none is."""


def single_value(
    value: tile.Value, lane: Callable[[tile.Value], Sequence[object]], swept: object
) -> tile.Value | None:
    """The v of a condition `iota == v`, or `!=`, of which the iota runs along the sweep and v does not; None of others.
    `lane` gives at what an operand is read, axis by axis, where `swept` stands for the sweep's element."""
    match value:
        case tile.Pointwise(op="eq" | "ne", operands=(left, right)):
            for one, other in ((left, right), (right, left)):
                if not isinstance(one, tile.Iota) or one.type.dtype is not DType.I32:
                    continue
                if lane(one)[one.axis] == swept and swept not in lane(other):
                    return other
    return None


def usual_side(value: tile.Value, singled: Container[tile.Value]) -> tile.Value | None:
    """Of a `where` by a condition that singles out an element: what all others take."""
    match value:
        case tile.Pointwise(op="where", operands=(condition, chosen, other)) if condition in singled:
            assert isinstance(condition, tile.Pointwise)
            return other if condition.op == "eq" else chosen
    return None


def screened_conditions(homes: Container[tile.Value], phase: Phase, item: Round) -> list[tile.Value]:
    """The conditions that a round's stores are computed without, at all elements but those singled out."""
    if not phase.mapping.screened or item.reductions or len(item.swept) != 1:
        return []
    found: dict[tile.Value, None] = {}
    seen: set[object] = set()
    stack: list[tuple[tile.Value, Roles]] = []
    for sink in item.wide:
        root = sink.operand, operand_roles(sink.operand.type.shape, sink.roles)
        stack += children(*root) if sink.kind == "publish" else [root] if sink.kind != "pick" else []
    while stack:
        value, roles = stack.pop()
        if (value, roles) in seen or "s0" not in roles or value in homes:
            continue
        seen.add((value, roles))
        own = roles
        if single_value(value, lambda each, own=own: operand_roles(each.type.shape, own), "s0") is not None:
            found[value] = None
        elif not isinstance(value, tile.Load):
            stack.extend(children(value, roles))
    return list(found) if len(found) <= MOST_CONDITIONS else []
