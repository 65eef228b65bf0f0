"""Rebuilds a kernel's regions with some values replaced by others, touching only what changes.

A pass gives a *rule*: it sees each instruction in order, with its operands already replaced, and answers with the
value to use instead, `DROPPED`, or None to keep it. Whatever the rule makes, it appends with `Rewriter.emit` before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tilec.diag import catalog
from tilec.diag.deadline import check_time
from tilec.diag.report import LimitReached
from tilec.errors import InternalError
from tilec.tile import ir
from tilec.tile.affine import extent_of
from tilec.tile.walk import opaque_of, walk
from tilec.types import Atom, Bound, Extent, Opaque, TileType

MOST_INSTRUCTIONS = 50_000
"""A kernel has at most, after any pass."""

Rule = Callable[["Rewriter", ir.Value], "ir.Value | Dropped | None"]


class Dropped:
    """A rule's answer for an instruction that goes, which nothing that stays may use."""


DROPPED = Dropped()


def rewrite(kernel: ir.Kernel, rule: Rule, enter: Callable[[ir.Value], None] | None = None) -> ir.Kernel:
    """The kernel with the rule applied to every instruction once; the same object if that changes nothing.

    `enter` is called with each If, For and While of the old kernel before its regions; the rule sees it after them.
    """
    rewriter = Rewriter(rule, enter, kernel.name)
    rewriter.pinned = {atom.number for value in walk(kernel.body) for atom in opaque_of(value)}
    body = rewriter.region(kernel.body)
    return kernel if body is kernel.body else replace(kernel, body=body)


class Rewriter:
    """The state of one rewriting: what replaces what, and the regions under construction."""

    def __init__(self, rule: Rule, enter: Callable[[ir.Value], None] | None = None, kernel: str = "") -> None:
        self._rule = rule
        self._enter = enter
        self._kernel = kernel
        self._count = 0
        self._replacements: dict[int, ir.Value] = {}
        self._bodies: list[list[ir.Value]] = []
        self._regions_begun = 0
        self.open_regions: list[int] = []
        """Numbers of the regions around the current place, outermost first; no number is used twice."""
        self.pinned: set[int] = set()
        """Numbers of the scalars that extents mention. They do not become constants: an extent that becomes a literal
        1 stretches all at once, and types that were made without stretching would be wrong."""
        self._original: ir.Value | None = None

    @property
    def original(self) -> ir.Value:
        """The old kernel's instruction that the rule's argument comes from."""
        if self._original is None:
            raise InternalError("a rewrite", "no instruction is being rewritten")
        return self._original

    # --- for rules ---------------------------------------------------------------------------------------------

    def emit(self, value: ir.Value) -> ir.Value:
        """Appends a new instruction at the current place; the rule applies to it too. Gives what stands for it."""
        new = self._rule(self, value)
        return new if isinstance(new, ir.Value) else self.append(value)

    def append(self, value: ir.Value) -> ir.Value:
        """Appends a new instruction at the current place as it is."""
        self._count += 1
        if self._count > MOST_INSTRUCTIONS:
            raise LimitReached(
                catalog.TOO_MANY_INSTRUCTIONS, value.span, name=self._kernel, limit=f"{MOST_INSTRUCTIONS:,}"
            )
        self._bodies[-1].append(value)
        return value

    def value(self, old: ir.Value) -> ir.Value:
        """What stands for the value."""
        return self._replacements.get(old.number, old)

    def splice(self, region: ir.Region) -> tuple[ir.Value, ...]:
        """Appends the region's instructions at the current place, and gives what it yields."""
        for value in region.body:
            self._instruction(value)
        return tuple(map(self.value, region.yields))

    def replace(self, old: ir.Value, new: ir.Value) -> None:
        """From here on `new` stands for `old`."""
        self._replacements[old.number] = new

    # --- regions -----------------------------------------------------------------------------------------------

    def region(self, region: ir.Region) -> ir.Region:
        """The region rewritten; the same object if nothing in it changes."""
        self._bodies.append([])
        self._regions_begun += 1
        self.open_regions.append(self._regions_begun)
        for value in region.body:
            self._instruction(value)
        body = self._bodies.pop()
        self.open_regions.pop()
        yields = tuple(map(self.value, region.yields))
        is_same = len(body) == len(region.body) and all(new is old for new, old in zip(body, region.body, strict=True))
        if is_same and all(new is old for new, old in zip(yields, region.yields, strict=True)):
            return region
        return ir.Region(body, yields)

    def _instruction(self, value: ir.Value) -> None:
        if self._enter is not None and isinstance(value, ir.If | ir.For | ir.While):
            self._enter(value)
        check_time(value.span)
        rebuilt = self._rebuilt(value)
        self._original = value
        new = self._rule(self, rebuilt)
        if isinstance(new, Dropped):
            return
        if new is None or (isinstance(new, ir.Const) and value.number in self.pinned):
            new = self.append(rebuilt)
        elif new.type != rebuilt.type:
            raise InternalError("a rewrite", f"%{value.number} of {rebuilt.type} is replaced by one of {new.type}")
        if new is not value:
            self._replacements[value.number] = new
        if new is not rebuilt:
            self._replacements[rebuilt.number] = new

    # --- one instruction ---------------------------------------------------------------------------------------

    def _rebuilt(self, value: ir.Value) -> ir.Value:
        changes = self._changed_fields(value)
        if value.type is not None and self._mentions_replaced(value):
            tile = self._type(value.type)
            if tile != value.type:
                changes["type"] = tile
        return replace(value, **changes) if changes else value

    def _changed_fields(self, value: ir.Value) -> dict[str, object]:
        match value:
            case ir.Load() | ir.Store():
                return self._changed_access(value)
            case ir.If():
                return self._changed(value, ("condition",)) | self._changed_regions(value, ("then", "otherwise"))
            case ir.For():
                return self._changed_loop(value, ("start", "stop"), ("body",))
            case ir.While():
                return self._changed_loop(value, (), ("condition", "body"))
            case ir.Pointwise():
                return self._changed_tuple(value, "operands")
            case ir.Report():
                changes = self._changed(value, ("where",)) | self._changed_tuple(value, "values")
                return changes | self._changed_tuple(value, "rounds")
            case ir.Dim():
                extent = self._extent(value.extent)
                return {} if extent == value.extent else {"extent": extent}
        return self._changed(value, _OPERAND_FIELDS.get(type(value), ()))

    def _changed(self, value: ir.Value, names: tuple[str, ...]) -> dict[str, object]:
        changes: dict[str, object] = {}
        for name in names:
            old = getattr(value, name)
            if old is not None and self.value(old) is not old:
                changes[name] = self.value(old)
        return changes

    def _changed_tuple(self, value: ir.Value, name: str) -> dict[str, object]:
        old = getattr(value, name)
        new = tuple(map(self.value, old))
        return {} if all(a is b for a, b in zip(new, old, strict=True)) else {name: new}

    def _changed_access(self, value: ir.Load | ir.Store) -> dict[str, object]:
        changes = self._changed(value, ("fill",) if isinstance(value, ir.Load) else ("operand",))
        indices = tuple(map(self._index, value.indices))
        if any(new is not old for new, old in zip(indices, value.indices, strict=True)):
            changes["indices"] = indices
        return changes

    def _index(self, index: ir.AxisIndex) -> ir.AxisIndex:
        if isinstance(index, ir.PointIndex):
            new = self.value(index.index)
            return index if new is index.index else ir.PointIndex(new)
        start, count = self.value(index.start), self._extent(index.count)
        return index if start is index.start and count == index.count else ir.SpanIndex(start, count)

    def _changed_regions(self, value: ir.Value, names: tuple[str, ...]) -> dict[str, object]:
        changes: dict[str, object] = {}
        for name in names:
            old = getattr(value, name)
            new = self.region(old)
            if new is not old:
                changes[name] = new
        return changes

    def _changed_loop(
        self, value: ir.For | ir.While, operands: tuple[str, ...], regions: tuple[str, ...]
    ) -> dict[str, object]:
        changes = self._changed(value, operands) | self._changed_tuple(value, "initial")
        carried = tuple(map(self._argument, value.carried))
        if any(new is not old for new, old in zip(carried, value.carried, strict=True)):
            changes["carried"] = carried
        return changes | self._changed_regions(value, regions)

    def _argument(self, argument: ir.Argument) -> ir.Argument:
        if not self._mentions_replaced(argument):
            return argument
        new = replace(argument, type=self._type(argument.type))
        self.replace(argument, new)
        return new

    # --- extents -----------------------------------------------------------------------------------------------

    def _mentions_replaced(self, value: ir.Value) -> bool:
        return bool(self._replacements) and any(self.value(atom) is not atom for atom in opaque_of(value))

    def _type(self, tile: TileType) -> TileType:
        active = tuple(
            frozenset(Bound(self._extent(b.start), self._extent(b.limit), b.stretched) for b in bounds)
            for bounds in tile.active
        )
        return TileType(tile.dtype, tuple(map(self._extent, tile.shape)), active)

    def _extent(self, extent: Extent) -> Extent:
        if not self._replacements or not any(isinstance(atom, Opaque) for atom in extent.atoms):
            return extent
        return extent.substitute(self._atom)

    def _atom(self, atom: Atom) -> Extent | None:
        if not isinstance(atom, Opaque) or not isinstance(atom.value, ir.Value):
            return None
        new = self.value(atom.value)
        return None if new is atom.value else extent_of(new)


_OPERAND_FIELDS: dict[type, tuple[str, ...]] = {
    ir.Reduce: ("operand",),
    ir.ActiveCount: ("operand",),
    ir.Pick: ("operand", "index"),
    ir.View: ("operand",),
    ir.Broadcast: ("operand",),
    ir.Pad: ("operand", "fill"),
    ir.Update: ("old", "new"),
    ir.Gradient: ("y", "x"),
    ir.Stop: ("operand",),
    ir.Result: ("producer",),
}
