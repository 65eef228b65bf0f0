"""Where the lanes of a value are needed at all: the conditions that stand around every use of it.

`where(valid, logsumexp(x), 0.0)` needs the logsumexp of the valid rows only, and so their x: the rest need not be
read. A condition is kept only if all uses, down to stores, stand under it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tilec.tile import ir
from tilec.tile.walk import carried_of, opaque_of, operands_of, regions_of

_MOST = 16
"""Conditions that are followed at once; to forget one is always right."""


@dataclass(frozen=True, slots=True)
class Need:
    """A lane is needed only where `condition` `is_true`. `axes`: for each axis of the condition, the axis of the value
    by which it is indexed, None for an axis of extent 1."""

    condition: ir.Value
    is_true: bool
    axes: tuple[int | None, ...]


Needs = frozenset[Need]
_NONE: Needs = frozenset()


def find_needs(kernel: ir.Kernel) -> dict[ir.Value, Needs]:
    """The conditions, known where the value stands, under which each reduction, pick and load is needed."""
    finder = _Finder()
    finder.region(kernel.body, _NONE)
    return {
        value: frozenset(need for need in needs if finder.stands_around(need.condition, value))
        for value, needs in finder.needs.items()
        if needs and isinstance(value, ir.Reduce | ir.Pick | ir.Load)
    }


def strongest(needs: Needs) -> list[Need]:
    """Those that no other one implies, in a fixed order."""
    implied = {part for need in needs for part in _parts(need) if part != need}
    return sorted(needs - implied, key=lambda need: (need.condition.number, need.is_true))


class _Finder:
    """Goes through regions backwards, so that all uses of a value have been seen when it is reached."""

    def __init__(self) -> None:
        self.needs: dict[ir.Value, Needs] = {}
        self._open: list[ir.Region] = []
        self._regions: dict[ir.Value, tuple[ir.Region, ...]] = {}
        """The regions around each value, outermost first."""

    def region(self, region: ir.Region, base: Needs, arguments: tuple[ir.Value, ...] = ()) -> None:
        """`base`: the conditions under which the region runs."""
        self._open.append(region)
        around = tuple(self._open)
        self._regions.update(dict.fromkeys((*region.body, *arguments), around))
        for value in reversed(region.body):
            self._value(value, base)
        self._open.pop()

    def stands_around(self, condition: ir.Value, value: ir.Value) -> bool:
        """Whether the condition's region is the value's, or one around it."""
        outer = self._regions[condition]
        return self._regions[value][: len(outer)] == outer

    def _value(self, value: ir.Value, base: Needs) -> None:
        match value:
            case ir.If():
                self._use(value.condition, base)
                for region, is_true in ((value.then, True), (value.otherwise, False)):
                    self.region(region, _limited(base | _under(Need(value.condition, is_true, ()))))
            case ir.For() | ir.While() | ir.Store() | ir.Report():
                for operand in (*operands_of(value), *(each for region in regions_of(value) for each in region.yields)):
                    self._use(operand, base)
                for region in regions_of(value):
                    self.region(region, base, carried_of(value))
            case _ if value in self.needs:
                for operand, needs in _uses(value, self.needs[value]):
                    self._use(operand, needs)
        if isinstance(value, ir.Store | ir.Report) or value in self.needs:
            for scalar in opaque_of(value):
                self._use(scalar, _NONE)

    def _use(self, value: ir.Value, needs: Needs) -> None:
        known = self.needs.get(value)
        self.needs[value] = needs if known is None else known & needs


def _uses(value: ir.Value, needs: Needs) -> Iterator[tuple[ir.Value, Needs]]:
    """What `value` uses, and where, if it is needed as `needs` says."""
    match value:
        case ir.Pointwise(op="where", operands=(condition, chosen, other)):
            axes = _aligned(condition, tuple(range(value.type.rank)))
            yield condition, _elementwise(value, condition, needs)
            for side, is_true in ((chosen, True), (other, False)):
                own = _limited(needs | _under(Need(condition, is_true, axes)))
                yield side, _elementwise(value, side, own)
        case ir.Result(producer=ir.If() as node, index=index):
            yield node.condition, _scalars(needs)
            for region, is_true in ((node.then, True), (node.otherwise, False)):
                yield region.yields[index], _limited(needs | _under(Need(node.condition, is_true, ())))
        case ir.Pointwise() | ir.Broadcast() | ir.Pad() | ir.Update():
            for operand in operands_of(value):
                yield operand, _elementwise(value, operand, needs)
        case ir.Reduce():
            yield value.operand, _mapped(needs, _kept_axes(value).get)
        case ir.Pick():
            yield value.index, _elementwise(value, value.index, needs)
            yield value.operand, _elementwise(value, value.operand, needs)
        case ir.View():
            yield value.operand, _mapped(needs, lambda axis: value.axes[axis])
        case ir.ActiveCount():
            pass  # counts lanes of a type
        case _:
            for operand in operands_of(value):
                yield operand, _scalars(needs)


def _kept_axes(reduce: ir.Reduce) -> dict[int, int]:
    """The operand's axis at each axis of the result that is not reduced."""
    kept = [axis for axis in range(reduce.operand.type.rank) if axis not in reduce.axes]
    return {axis: axis for axis in kept} if reduce.keeps_axes else dict(enumerate(kept))


def _scalars(needs: Needs) -> Needs:
    return _mapped(needs, lambda _: None)


def _elementwise(value: ir.Value, operand: ir.Value, needs: Needs) -> Needs:
    shape = operand.type.shape
    offset = value.type.rank - len(shape)
    return _mapped(needs, lambda axis: axis - offset if axis >= offset and not shape[axis - offset].is_one else None)


def _mapped(needs: Needs, axis_of: Callable[[int], int | None]) -> Needs:
    """The conditions by other axes; those that change along an axis that is not there are dropped."""
    found: list[Need] = []
    for need in needs:
        axes = tuple(None if axis is None else axis_of(axis) for axis in need.axes)
        if all(new is not None or old is None for new, old in zip(axes, need.axes, strict=True)):
            found.append(need if axes == need.axes else Need(need.condition, need.is_true, axes))
    return frozenset(found)


def _aligned(operand: ir.Value, axes: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """The axes by which an operand of an elementwise operation is indexed, whose own are `axes`."""
    offset = len(axes) - operand.type.rank
    return tuple(
        None if extent.is_one else axes[offset + number] for number, extent in enumerate(operand.type.shape)
    )


def _limited(needs: Needs) -> Needs:
    if len(needs) <= _MOST:
        return needs
    return frozenset(sorted(needs, key=lambda need: need.condition.number)[:_MOST])


def _under(need: Need) -> Needs:
    return frozenset(_parts(need))


def _parts(need: Need) -> list[Need]:
    """The condition and those that follow from it: a && b needs a and b; not (a || b) neither."""
    found: list[Need] = []
    stack = [need]
    while stack and len(found) < _MOST:
        need = stack.pop()
        found.append(need)
        match need.condition:
            case ir.Pointwise(op="not", operands=operands):
                is_true = not need.is_true
            case ir.Pointwise(op="and" | "or" as op, operands=operands) if need.is_true == (op == "and"):
                is_true = need.is_true
            case _:
                continue
        stack += [Need(each, is_true, _aligned(each, need.axes)) for each in operands]
    return found
