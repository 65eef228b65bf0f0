"""Which tensors are inputs, outputs or both, by definite assignment."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.sema.builder import Access, Builder
from tilec.tile import ir
from tilec.types import ONE, ZERO, Extent, Symbol

CANDIDATES = 16
"""Stores that a read is compared with, beside those of the very same span: all of them would take quadratic time."""


def decide_access(builder: Builder) -> dict[str, str]:
    """"out" for a tensor that is written, and every read of which is surely stored before by the same block; "inout"
    for others that are written. Tensors that are only read are left out."""
    result: dict[str, str] = {}
    accesses: dict[str, list[Access]] = {}
    for access in builder.accesses:
        accesses.setdefault(access.tensor, []).append(access)
    for tensor, own in accesses.items():
        if any(access.is_store for access in own):
            result[tensor] = "out" if _is_defined(builder, own) else "inout"
    return result


def _is_defined(builder: Builder, accesses: Sequence[Access]) -> bool:
    """Whether every read of a tensor is of what this block stored before."""
    stores: dict[object, list[Access]] = {}
    for access in accesses:
        if access.is_store:
            if access.is_whole:
                stores.setdefault(access.axes, []).append(access)
            continue
        same = stores.get(access.axes, ())
        recent = [store for group in list(stores.values())[-CANDIDATES:] for store in group[-CANDIDATES:]]
        if not any(_covers(builder, store, access) for store in (*same, *recent)):
            return False
    return True


def _covers(builder: Builder, store: Access, load: Access) -> bool:
    """Whether the store surely wrote, before the load, every element of the tensor that the load reads."""
    if load.path[: len(store.path)] != store.path:
        return False
    dims = builder.tensors[store.tensor].dims
    return all(
        _contains(builder, outer, inner, dim)
        for outer, inner, dim in zip(store.axes, load.axes, dims, strict=True)
    )


def _contains(
    builder: Builder, outer: tuple[Extent, Extent | None], inner: tuple[Extent, Extent | None], dim: Extent
) -> bool:
    """Whether what `inner` touches within an axis of extent `dim` lies in `outer`."""
    if outer == inner:
        return True
    outer_end = outer[0] + (ONE if outer[1] is None else outer[1])
    inner_end = inner[0] + (ONE if inner[1] is None else inner[1])
    return any(builder.is_at_most(outer[0], low) for low in (inner[0], ZERO)) and any(
        builder.is_at_most(high, outer_end) for high in (inner_end, dim)
    )


def given_dims(dims: Sequence[str], tensors: Sequence[ir.TensorParameter]) -> tuple[str, ...]:
    """The dims that no input states alone."""
    stated = {dim for tensor in tensors if tensor.access != "out" for dim in tensor.dims}
    return tuple(name for name in dims if Extent.of(Symbol(name, "dim")) not in stated)
