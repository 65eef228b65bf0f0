"""Drops what no store and no report needs."""

from __future__ import annotations

from dataclasses import replace

from tilec.tile import ir
from tilec.tile.rewrite import DROPPED, Dropped, Rewriter, rewrite
from tilec.tile.walk import carried_of, opaque_of, operands_of, regions_of, walk


def drop_dead(kernel: ir.Kernel) -> ir.Kernel:
    """Needs: nothing. Gives: every instruction, carried value and result serves a store or a report. Keeps: meaning,
    exactly."""
    live = _Live(kernel.body)
    return rewrite(kernel, lambda rewriter, value: _sweep(live, rewriter, value))


class _Live:
    """The instructions and the results of control instructions that stores and reports need, found backwards from
    those."""

    def __init__(self, body: ir.Region) -> None:
        self.values: set[int] = set()
        self.outputs: set[tuple[int, int]] = set()
        """(number of the control instruction, number of its result): the values carried or yielded there."""
        self._parents: dict[int, ir.Value] = {}
        self._arguments: dict[int, tuple[ir.Value, int]] = {}
        self._pending: list[ir.Value] = []
        self._index(body, None)
        self._pending += [value for value in walk(body) if isinstance(value, ir.Store | ir.Report)]
        while self._pending:
            self._mark(self._pending.pop())

    def _index(self, region: ir.Region, parent: ir.Value | None) -> None:
        for value in region.body:
            if parent is not None:
                self._parents[value.number] = parent
            for index, argument in enumerate(carried_of(value)):
                self._arguments[argument.number] = (value, index)
            for inner in regions_of(value):
                self._index(inner, value)

    def _mark(self, value: ir.Value) -> None:
        if value.number in self.values:
            return
        self.values.add(value.number)
        self._pending += opaque_of(value)
        parent = self._parents.get(value.number)
        if parent is not None:
            self._pending.append(parent)
        match value:
            case ir.Argument():
                if value.number in self._arguments:
                    self._mark_output(*self._arguments[value.number])
            case ir.Result(producer=producer, index=index):
                self._mark_output(producer, index)
            case ir.If(condition=condition):
                self._pending.append(condition)
            case ir.For(start=start, stop=stop, until=until):
                self._pending += [start, stop]
                if until is not None:
                    self._mark_output(value, until)
            case ir.While(condition=condition):
                self._pending += condition.yields
            case _:
                self._pending += operands_of(value)

    def kept_outputs(self, control: ir.Value, count: int) -> list[int]:
        """The numbers, of `count`, of the control's results that are live."""
        return [index for index in range(count) if (control.number, index) in self.outputs]

    def _mark_output(self, producer: ir.Value, index: int) -> None:
        if (producer.number, index) in self.outputs:
            return
        self.outputs.add((producer.number, index))
        self._pending.append(producer)
        match producer:
            case ir.If(then=then, otherwise=otherwise):
                self._pending += [then.yields[index], otherwise.yields[index]]
            case ir.For(initial=initial, body=body) | ir.While(initial=initial, body=body):
                self._pending += [initial[index], body.yields[index]]


def _sweep(live: _Live, rewriter: Rewriter, value: ir.Value) -> ir.Value | Dropped | None:
    old = rewriter.original
    if old.number not in live.values:
        return DROPPED
    match value:
        case ir.If(then=then, otherwise=otherwise):
            kept = live.kept_outputs(old, len(then.yields))
            if len(kept) < len(then.yields):
                regions = {"then": _narrowed(then, kept), "otherwise": _narrowed(otherwise, kept)}
                return rewriter.append(replace(value, **regions))
        case ir.For() | ir.While():
            kept = live.kept_outputs(old, len(value.carried))
            if len(kept) < len(value.carried):
                return rewriter.append(_narrowed_loop(value, kept))
        case ir.Result(index=index) if isinstance(old, ir.Result):
            count = sum((old.producer.number, other) in live.outputs for other in range(index))
            if count < index:
                return rewriter.append(replace(value, index=count))
    return None


def _narrowed(region: ir.Region, kept: list[int]) -> ir.Region:
    return ir.Region(region.body, tuple(region.yields[index] for index in kept))


def _narrowed_loop(value: ir.For | ir.While, kept: list[int]) -> ir.Value:
    """A loop that carries only the values numbered in `kept`."""
    changes: dict[str, object] = {
        "carried": tuple(value.carried[index] for index in kept),
        "initial": tuple(value.initial[index] for index in kept),
        "body": _narrowed(value.body, kept),
    }
    if isinstance(value, ir.For) and value.until is not None:
        changes["until"] = kept.index(value.until)
    return replace(value, **changes)
