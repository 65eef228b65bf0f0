"""Merges instructions that compute the same value."""

from __future__ import annotations

from collections.abc import Hashable

from tilec.ops import POINTWISE
from tilec.tile import ir
from tilec.tile.rewrite import Rewriter, rewrite
from tilec.tile.walk import operands_of, stored_tensors


def merge_equal(kernel: ir.Kernel) -> ir.Kernel:
    """Needs: nothing. Gives: in a region and those inside it no two instructions of one kind, type and operands (loads:
    with no store to their tensor in between). Keeps: meaning, exactly."""
    merger = _Merger()
    return rewrite(kernel, merger.merge, merger.enter)


class _Merger:
    """Known values by key, each with the region it stands in.

    A load's key holds its tensor's version, which every store to the tensor changes; so does the start of a loop that
    stores to it, since an earlier round may have.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[int, ir.Value]] = {}
        self._versions: dict[str, int] = {}
        self._stores = 0

    def enter(self, control: ir.Value) -> None:
        if not isinstance(control, ir.If):
            self._store(stored_tensors(control))

    def _store(self, tensors: frozenset[str]) -> None:
        for tensor in tensors:
            self._stores += 1
            self._versions[tensor] = self._stores

    def merge(self, rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
        if isinstance(value, ir.Store | ir.Report | ir.If | ir.For | ir.While):
            self._store(stored_tensors(value))
            return None
        key = self._key(value)
        region, known = self._known.get(key, (0, None))
        if known is not None and region in rewriter.open_regions:
            return known
        self._known[key] = (rewriter.open_regions[-1], value)
        return None

    def _key(self, value: ir.Value) -> Hashable:
        numbers = [operand.number for operand in operands_of(value)]
        return (type(value), value.type, *self._attributes(value, numbers))

    def _attributes(self, value: ir.Value, numbers: list[int]) -> tuple[Hashable, ...]:
        match value:
            case ir.Pointwise(op=op):
                return (op, *(sorted(numbers) if POINTWISE[op].commutes else numbers))
            case ir.Reduce(op=op, axes=axes, keeps_axes=keeps_axes):
                return (op, axes, keeps_axes, *numbers)
            case ir.ActiveCount(axes=axes, keeps_axes=keeps_axes):
                return (axes, keeps_axes, *numbers)
            case ir.View(axes=axes):
                return (axes, *numbers)
            case ir.Result(index=index):
                return (index, *numbers)
            case ir.Load(tensor=tensor, indices=indices):
                spans = tuple(index.count if isinstance(index, ir.SpanIndex) else None for index in indices)
                return (tensor, self._versions.get(tensor, 0), spans, value.fill is None, *numbers)
        return (*_leaf_attributes(value), *numbers)


def _leaf_attributes(value: ir.Value) -> tuple[Hashable, ...]:
    match value:
        case ir.Const(value=number):
            return (repr(number),)  # tells -0.0 from 0.0, and NaN is equal to itself
        case ir.Scalar(parameter=parameter):
            return (parameter,)
        case ir.Dim(extent=extent):
            return (extent,)
        case ir.BlockIndex(axis=axis) | ir.Iota(axis=axis):
            return (axis,)
    return ()
