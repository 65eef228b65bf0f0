"""Which tensors are inputs, outputs or both, by definite assignment."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.sema.builder import Access, Builder
from tilec.tile import ir
from tilec.types import ONE, ZERO, Extent, Symbol


def decide_access(builder: Builder) -> dict[str, str]:
    """"out" for a tensor that is written, and every read of which is surely stored before by the same block; "inout"
    for others that are written. Tensors that are only read are left out."""
    result: dict[str, str] = {}
    for tensor in dict.fromkeys(access.tensor for access in builder.accesses if access.is_store):
        accesses = [access for access in builder.accesses if access.tensor == tensor]
        is_defined = all(
            any(_covers(builder, store, access) for store in accesses[:position])
            for position, access in enumerate(accesses)
            if not access.is_store
        )
        result[tensor] = "out" if is_defined else "inout"
    return result


def _covers(builder: Builder, store: Access, load: Access) -> bool:
    """Whether the store surely wrote, before the load, every element of the tensor that the load reads."""
    if not store.is_store or not store.is_whole or load.path[: len(store.path)] != store.path:
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
