"""The interpreter's device memory: tensors in storage dtypes, read and written by index vectors with masks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tilec.ops.reference import NUMPY_DTYPES, bf16_bits, bf16_from_bits
from tilec.tile import ir
from tilec.tile.reports import Log
from tilec.types import DType, Extent

_STORAGE: dict[DType, np.dtype] = {
    **NUMPY_DTYPES,
    DType.F16: np.dtype(np.float16),
    DType.BF16: np.dtype(np.uint16),
    DType.I8: np.dtype(np.int8),
    DType.U8: np.dtype(np.uint8),
    DType.I64: np.dtype(np.int64),
}


def widen(stored: np.ndarray, dtype: DType) -> np.ndarray:
    """Stored elements (bf16 as uint16 bits) to the compute dtype, as a read does."""
    match dtype:
        case DType.BF16:
            return bf16_from_bits(stored)
        case DType.I64:
            return np.clip(stored, -(2**31), 2**31 - 1).astype(np.int32)
        case _:
            return stored.astype(NUMPY_DTYPES[dtype.compute])


def narrow(computed: np.ndarray, dtype: DType) -> np.ndarray:
    """Computed elements to the storage dtype, as a store does: floats to nearest even, integers keep their low bits."""
    if dtype is DType.BF16:
        return bf16_bits(computed)
    return computed.astype(_STORAGE[dtype])


@dataclass(slots=True)
class Access:
    """Elements of a tensor that a load or store touches, a block on axis 0 of every array.

    `index` is the flat element number, `inside` a mask per span axis, `points_inside` a mask over blocks; an index
    outside is replaced by 0 and must not be used.
    """

    index: np.ndarray
    inside: list[np.ndarray]
    points_inside: np.ndarray


class Memory:
    """The tensors of one run. The arrays that were given are never modified."""

    def __init__(
        self, kernel: ir.Kernel, tensors: Mapping[str, np.ndarray], evaluate: Callable[[Extent], int]
    ) -> None:
        self._parameters = {tensor.name: tensor for tensor in kernel.tensors}
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._arrays: dict[str, np.ndarray] = {}
        self._given_dtypes: dict[str, np.dtype] = {}
        self.left: dict[str, np.ndarray] | None = None
        """By "out" tensor which of its elements nothing was stored to yet; None: it is not asked for."""
        self.log: Log | None = None
        """Where reports go; None: they are not asked for."""
        for tensor in kernel.tensors:
            shape = tuple(evaluate(extent) for extent in tensor.dims)
            self._shapes[tensor.name] = shape
            self._arrays[tensor.name] = self._flat(tensor, tensors.get(tensor.name), shape)

    def _flat(self, tensor: ir.TensorParameter, given: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
        storage = _STORAGE[tensor.dtype]
        if given is None:
            if tensor.access != "out":
                raise KeyError(f"no array for the tensor {tensor.name}")
            return np.zeros(int(np.prod(shape)), storage)
        if given.shape != shape:
            raise ValueError(f"{tensor.name} has shape {given.shape}, its dims say {shape}")
        if tensor.dtype is DType.BF16 and given.dtype.itemsize == 2 and given.dtype != np.float16:
            self._given_dtypes[tensor.name] = given.dtype
            given = np.ascontiguousarray(given).view(np.uint16)
        if given.dtype != storage:
            raise ValueError(f"{tensor.name} is stored as {tensor.dtype}, not {given.dtype}")
        flat = np.ascontiguousarray(given).reshape(-1)
        return flat if tensor.access == "in" else flat.copy()

    def results(self) -> dict[str, np.ndarray]:
        """The tensors that the kernel may have written."""
        return {
            name: self._as_given(tensor).reshape(self._shapes[name])
            for name, tensor in self._parameters.items()
            if tensor.access != "in"
        }

    def watch_outputs(self) -> None:
        """From here on `left` says which elements of "out" tensors nothing was stored to."""
        outputs = (name for name, tensor in self._parameters.items() if tensor.access == "out")
        self.left = {name: np.ones(self._shapes[name], np.bool_) for name in outputs}

    def _as_given(self, tensor: ir.TensorParameter) -> np.ndarray:
        array = self._arrays[tensor.name]
        if tensor.dtype is not DType.BF16:
            return array
        return array.view(self._given_dtypes.get(tensor.name) or _bfloat16())

    def access(self, tensor: str, starts: list[np.ndarray], counts: list[int | None]) -> Access:
        """Per tensor axis a start (or point, where the count is None) of each block; counts are the spans' extents."""
        shape = self._shapes[tensor]
        spans = [count for count in counts if count is not None]
        index = np.zeros((1,) * (len(spans) + 1), np.int64)
        inside: list[np.ndarray] = []
        points_inside = np.ones(1, np.bool_)
        stride = int(np.prod(shape, dtype=np.int64))
        for extent, start, count in zip(shape, starts, counts, strict=True):
            stride //= max(extent, 1)
            lanes = start.astype(np.int64)[:, None] + np.arange(1 if count is None else count)
            valid = (lanes >= 0) & (lanes < extent)
            place = [len(lanes)] + [1] * len(spans)
            if count is None:
                points_inside = points_inside & valid[:, 0]
            else:
                place[len(inside) + 1] = count
                inside.append(valid)
            index = index + (np.where(valid, lanes, 0) * stride).reshape(place)
        return Access(index, inside, points_inside)

    def read(self, tensor: str, access: Access) -> np.ndarray:
        """The elements, widened; 0 at an index that is outside."""
        array = self._arrays[tensor]
        dtype = self._parameters[tensor].dtype
        if not array.size:
            return np.zeros(access.index.shape, NUMPY_DTYPES[dtype.compute])
        return widen(array[access.index], dtype)

    def write(self, tensor: str, access: Access, values: np.ndarray, mask: np.ndarray, blocks: int) -> None:
        """Stores the values where the mask holds, in every one of `blocks` (all broadcast against each other)."""
        shape = np.broadcast_shapes((blocks, *access.index.shape[1:]), access.index.shape, values.shape, mask.shape)
        mask = np.broadcast_to(mask, shape)
        index = np.broadcast_to(access.index, shape)[mask]
        stored = narrow(np.broadcast_to(values, shape)[mask], self._parameters[tensor].dtype)
        self._arrays[tensor][index] = stored
        if self.left is not None and tensor in self.left:
            self.left[tensor].reshape(-1)[index] = False


def _bfloat16() -> np.dtype:
    """ml_dtypes' bfloat16 where it is installed, else the bits as uint16."""
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        return np.dtype(np.uint16)
    return np.dtype(bfloat16)
