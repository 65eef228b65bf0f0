"""Brings the reads and the stores that a derived kernel is about out of branches and loops of constant length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tilec.source import Span
from tilec.tile import ir
from tilec.tile.affine import extent_of
from tilec.tile.gradient.control import Copier
from tilec.tile.gradient.guard import guard_reports
from tilec.tile.make import make_constant, make_pointwise
from tilec.tile.rewrite import DROPPED, Dropped, Rewriter, rewrite
from tilec.tile.walk import regions_of, stored_tensors, walk
from tilec.types import DType

MOST_INSTRUCTIONS = 20_000

Report = Callable[[Span, str], None]
"""Told of an access that stays inside a loop, and why."""


@dataclass(frozen=True, slots=True, eq=False)
class Guarded:
    """A store, and the conditions under which it is reached, each with whether it must hold."""

    store: ir.Store
    conditions: tuple[tuple[ir.Value, bool], ...]


def straighten(kernel: ir.Kernel, read: Sequence[str], stored: str, report: Report) -> ir.Kernel:
    """The kernel with every load of the tensors `read` outside of branches and loops, and every store to `stored` under
    conditions at most. What cannot be is reported."""
    straightener = _Straightener(frozenset(read), stored, report)
    straightener.choose(kernel.body, is_opened=False)
    return rewrite(kernel, straightener.rule)


def stores_to(body: ir.Region, tensor: str) -> list[Guarded]:
    """The stores to a tensor with the conditions around them; those in loops are left out."""
    return [found for found in _all_stores(body, ()) if found.store.tensor == tensor]


def _all_stores(region: ir.Region, conditions: tuple[tuple[ir.Value, bool], ...]) -> list[Guarded]:
    found: list[Guarded] = []
    for value in region.body:
        match value:
            case ir.Store():
                found.append(Guarded(value, conditions))
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                found += _all_stores(then, (*conditions, (condition, True)))
                found += _all_stores(otherwise, (*conditions, (condition, False)))
    return found


class _Straightener:
    def __init__(self, read: frozenset[str], stored: str, report: Report) -> None:
        self._read, self._stored, self._report = read, stored, report
        self._results: dict[int, tuple[ir.Value, ...]] = {}
        self._chosen: dict[int, ir.Value] = {}
        """By a control's number, an access in it that matters."""

    def choose(self, region: ir.Region, *, is_opened: bool) -> None:
        """Finds what is to be opened: what holds an access that matters, and what both stores and computes in there,
        whose results could not leave otherwise."""
        computing = {value.producer.number for value in region.body if isinstance(value, ir.Result)}
        for value in region.body:
            if not regions_of(value):
                continue
            access = self._concerned(value)
            if access is None and is_opened and value.number in computing and stored_tensors(value):
                access = value
            if access is not None:
                self._chosen[value.number] = access
            for inner in regions_of(value):
                self.choose(inner, is_opened=access is not None)

    def rule(self, rewriter: Rewriter, value: ir.Value) -> ir.Value | Dropped | None:
        original = rewriter.original
        match value:
            case ir.Result(producer=producer, index=index) if producer.number in self._results:
                return self._results[producer.number][index]
            case ir.If() | ir.For() | ir.While() if original.number in self._chosen:
                access = self._chosen[original.number]
            case _:
                return None
        match value:
            case ir.If():
                if self._is_reading_back(value):
                    return None
                self._keep(original, value, self._open(rewriter, value))
            case ir.For():
                if self._cannot_unroll(value, access):
                    return None
                self._keep(original, value, self._unroll(rewriter, value))
            case _:
                self._tell(access, value, "`while`")
                return None
        return DROPPED

    def _keep(self, original: ir.Value, value: ir.Value, results: tuple[ir.Value, ...]) -> None:
        self._results[original.number] = self._results[value.number] = results

    def _concerned(self, control: ir.Value) -> ir.Value | None:
        """A load or store in the control that matters."""
        for region in regions_of(control):
            for value in walk(region):
                if isinstance(value, ir.Load) and value.tensor in self._read:
                    return value
                if isinstance(value, ir.Store) and value.tensor == self._stored:
                    return value
        return None

    def _tell(self, access: ir.Value, control: ir.Value, what: str) -> None:
        line = control.span.source.line_column(control.span.start)[0]
        self._report(access.span, f"it is inside the {what} of line {line}")

    # --- branches ------------------------------------------------------------------------------------------------

    def _is_reading_back(self, branch: ir.If) -> bool:
        """Whether a side reads a tensor that it stored to: its reads cannot go before its stores."""
        for region in (branch.then, branch.otherwise):
            stored: set[str] = set()
            for value in region.body:
                if any(isinstance(one, ir.Load) and one.tensor in stored for one in _with_inner(value)):
                    self._tell(value, branch, "`if` that reads a tensor which it stored to before, in that")
                    return True
                stored |= stored_tensors(value)
        return False

    @staticmethod
    def _open(rewriter: Rewriter, branch: ir.If) -> tuple[ir.Value, ...]:
        """Both sides but for their stores, which stay under the condition; the results become choices."""
        branch = guard_reports(branch)
        kept: list[list[ir.Value]] = []
        for region in (branch.then, branch.otherwise):
            kept.append([value for value in region.body if stored_tensors(value)])
            for value in region.body:
                if not stored_tensors(value):
                    rewriter.append(value)
        if any(kept):
            rewriter.append(replace(branch, then=ir.Region(kept[0]), otherwise=ir.Region(kept[1])))
        return tuple(
            then
            if then is otherwise
            else rewriter.append(make_pointwise("where", (branch.condition, then, otherwise), branch.span))
            for then, otherwise in zip(branch.then.yields, branch.otherwise.yields, strict=True)
        )

    # --- loops ---------------------------------------------------------------------------------------------------

    def _cannot_unroll(self, loop: ir.For, access: ir.Value) -> bool:
        rounds = _rounds(loop)
        size = sum(1 for _ in walk(loop.body))
        if rounds is None or loop.until is not None:
            ending = "is not constant" if rounds is None else "depends on a `break` or `return`"
            self._tell(access, loop, f"`for` whose number of rounds {ending},")
            return True
        if len(rounds) * size > MOST_INSTRUCTIONS:
            self._tell(access, loop, f"`for` of {len(rounds)} rounds, too many to write out,")
            return True
        if _has_varying_shapes(loop):
            self._tell(access, loop, "`for` whose spans change their lengths with its counter,")
            return True
        return False

    @staticmethod
    def _unroll(rewriter: Rewriter, loop: ir.For) -> tuple[ir.Value, ...]:
        carried = loop.initial
        rounds = _rounds(loop)
        assert rounds is not None
        for index in rounds:
            copier = Copier()
            copier.replace(loop.index, rewriter.append(make_constant(index, DType.I32, loop.span)))
            for argument, value in zip(loop.carried, carried, strict=True):
                copier.replace(argument, value)
            copy = copier.copied(loop.body)
            for value in copy.body:
                rewriter.append(value)
            carried = copy.yields
        return carried


def _with_inner(value: ir.Value) -> list[ir.Value]:
    return [value, *(inner for region in regions_of(value) for inner in walk(region))]


def _rounds(loop: ir.For) -> range | None:
    """The values of the counter, if they are constant."""
    start, stop = extent_of(loop.start).constant, extent_of(loop.stop).constant
    return None if start is None or stop is None else range(start, stop, loop.step)


def _has_varying_shapes(loop: ir.For) -> bool:
    return any(
        getattr(atom, "value", None) is loop.index
        for value in walk(loop.body)
        if value.type is not None
        for extent in value.type.shape
        for atom in extent.atoms
    )
