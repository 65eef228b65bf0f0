"""Launches on tensors that are larger than what a device binds at once: on windows of rows, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, lcm, prod
from typing import TypeAlias

import numpy as np

from tilec.errors import DeviceError
from tilec.runtime.arrays import DeviceArray, numpy_dtype, upload_array
from tilec.runtime.cache import Variants
from tilec.runtime.compute import Device
from tilec.runtime.launch import launch, options_for
from tilec.runtime.limits import BINDING, compile_for, most_rows, too_large, way_around, why_large
from tilec.runtime.memory import Buffer, Slice
from tilec.runtime.prepared import Output, Prepared, Spares, place_of, tensor_shapes, written_tensors
from tilec.runtime.recording import Work
from tilec.runtime.scalars import Number
from tilec.tile.ir import Kernel
from tilec.tile.windows import NoWindows, RowWindows, find_windows
from tilec.tile.written import fully_written

_ALIGNMENT = 256
"""Bytes: where a binding may start, on every device (WebGPU's default)."""

_WORD = 4
"""Bytes: where a copy may start."""

Launchable: TypeAlias = "Prepared | Windowed"


def prepare(
    variants: Variants, device: Device, dims: Mapping[str, int], scalars: Mapping[str, Number]
) -> Launchable:
    """What a launch on these sizes needs: one launch, or several on some rows each where a limit asks for it.

    Raises DeviceError where a limit is exceeded and the kernel does not allow windows, with the reason.
    """
    kernel = variants.kernel
    shapes = tensor_shapes(kernel, dims)
    large = [tensor.name for tensor in kernel.tensors if too_large(device, tensor, shapes[tensor.name])]
    if large:
        beyond = why_large(device, kernel.tensor(large[0]), shapes[large[0]])
    else:
        compiled = compile_for(variants, device, dims, options_for(device))
        prepared = Prepared(compiled, device, dims, scalars, may_exceed_scratch=True)
        if prepared.scratch_bytes <= device.limits[BINDING]:
            return prepared
        # Scratch memory grows with the rows too.
        large = [max(kernel.tensors, key=lambda tensor: tensor.dtype.size * prod(shapes[tensor.name])).name]
        limit = f"{device.name} binds at once, {device.limits[BINDING]:,} ({BINDING})"
        beyond = f"{prepared.scratch_bytes:,} bytes of scratch memory are more than {limit}"
    found = _windows_for(kernel, large)
    if isinstance(found, NoWindows):
        why = f"the kernel cannot run on some rows at a time: {found}"
        raise DeviceError(f"{place_of(kernel)}: {beyond}, and {why}; {way_around(device, kernel, shapes)}")
    return Windowed(variants, device, dims, scalars, found, large, f"{place_of(kernel)}: {beyond}")


def _windows_for(kernel: Kernel, large: Sequence[str]) -> RowWindows | NoWindows:
    found = find_windows(kernel, large[0])
    if isinstance(found, RowWindows):
        for name in large:
            if name not in found.tensors:
                return NoWindows(f"{name} is large too, and has no rows of {found.dim}")
    return found


@dataclass(frozen=True, slots=True)
class _Layout:
    """`rows` rows a window; those of the tensors `copied` do not start where a binding may."""

    rows: int
    copied: frozenset[str]


class Windowed:
    """A launch in several, on as many rows at a time as the device binds. Used as `Prepared` is."""

    def __init__(
        self,
        variants: Variants,
        device: Device,
        dims: Mapping[str, int],
        scalars: Mapping[str, Number],
        windows: RowWindows,
        large: Sequence[str],
        beyond: str,
    ) -> None:
        self.kernel: Kernel = variants.kernel
        self.device = device
        self.dims = dims
        self.scalars = scalars
        self.shapes = tensor_shapes(self.kernel, dims)
        self.outputs = written_tensors(self.kernel, self.shapes)
        self._variants = variants
        self._windows = windows
        self._beyond = beyond
        self._row_bytes = {
            tensor.name: prod(self.shapes[tensor.name][1:]) * tensor.dtype.size
            for tensor in self.kernel.tensors
            if tensor.name in windows.tensors
        }
        self._overwritten = fully_written(self.kernel)
        self._spares = Spares(device, self._overwritten)
        self._prepared: dict[int, Prepared] = {}
        most = min(
            most_rows(device, tensor, self.shapes[tensor.name])
            for tensor in self.kernel.tensors
            if tensor.name in windows.tensors
        )
        self._on_host = self._fitting(most, windows.step)
        self._on_device = self._laid_out(most, frozenset(large))

    def output(self, output: Output) -> tuple[DeviceArray, bool]:
        """Memory for an output, and whether a launch must clear it first."""
        return self._spares.output(output)

    def must_clear(self, name: str) -> bool:
        """Whether a launch may leave elements of a tensor as they are."""
        return name not in self._overwritten

    def work(self, arrays: Mapping[str, DeviceArray], cleared: Sequence[Buffer] = ()) -> Work | None:
        """None: windows are submitted one by one."""
        return None

    # --- how many rows ---------------------------------------------------------------------------------------

    def _laid_out(self, most: int, large: frozenset[str]) -> _Layout:
        """As many rows as fit, so that as many tensors as possible can be bound where they are."""
        everything = frozenset(self._row_bytes)
        for aligned in (everything, large, frozenset[str]()):
            unit = self._windows.step
            for name, size in self._row_bytes.items():
                unit = lcm(unit, _rows_to_align(size, _ALIGNMENT if name in aligned else _WORD))
            rows = self._fitting(most, unit)
            if rows:
                copied = {name for name, size in self._row_bytes.items() if rows * size % _ALIGNMENT}
                return _Layout(rows, frozenset(copied))
        return _Layout(0, everything)

    def _fitting(self, most: int, unit: int) -> int:
        """The largest multiple of `unit` rows whose scratch memory fits too."""
        rows = most // unit * unit
        while rows and self._scratch_bytes(rows) > self.device.limits[BINDING]:
            rows = rows // 2 // unit * unit
        return rows

    def _scratch_bytes(self, rows: int) -> int:
        return self._for_rows(rows, may_exceed_scratch=True).scratch_bytes

    def _for_rows(self, rows: int, *, may_exceed_scratch: bool = False) -> Prepared:
        if rows not in self._prepared:
            dims = {**self.dims, self._windows.dim: rows}
            compiled = compile_for(self._variants, self.device, dims, options_for(self.device))
            made = Prepared(compiled, self.device, dims, self.scalars, may_exceed_scratch=may_exceed_scratch)
            self._prepared[rows] = made
        return self._prepared[rows]

    def _check(self, rows: int) -> None:
        """Raises DeviceError where not even one block fits."""
        if not rows:
            step = self._windows.step
            raise DeviceError(
                f"{self._beyond}, and {step} row{'s' if step > 1 else ''} of a block are too many to start or to fit "
                "where a binding may: write the kernel with fewer rows a block, or split the rows in two"
            )

    def _each(self, rows: int) -> Iterator[tuple[int, int, Prepared]]:
        """The windows: first row, number of rows, and what to launch."""
        total = self.dims[self._windows.dim]
        for first in range(0, total, rows):
            count = min(rows, total - first)
            yield first, count, self._for_rows(count)

    # --- running ---------------------------------------------------------------------------------------------

    def run(self, arrays: Mapping[str, DeviceArray], cleared: Sequence[Buffer] = ()) -> None:
        """Submits the windows one after the other on parts of the arrays. Returns before they are done."""
        self._check(self._on_device.rows)
        if cleared:
            self.device.run([], cleared)
        copies = {
            name: self.device.create_buffer(self._on_device.rows * self._row_bytes[name])
            for name in self._on_device.copied
        }
        for first, count, prepared in self._each(self._on_device.rows):
            parts: dict[str, Buffer | Slice] = {name: array.buffer for name, array in arrays.items()}
            for name, row in self._row_bytes.items():
                whole, offset, size = arrays[name].buffer, first * row, count * row
                if name in copies:
                    self.device.copy(whole, copies[name], size, source_at=offset)
                    parts[name] = Slice(copies[name], 0, _padded(size))
                else:
                    parts[name] = Slice(whole, offset, _padded(size))
            self.device.run(prepared.launches(parts), what=f"run the kernel {place_of(self.kernel)}")
            for output in self.outputs:
                if output.name in copies:
                    target, row = arrays[output.name].buffer, self._row_bytes[output.name]
                    self.device.copy(copies[output.name], target, count * row, target_at=first * row)

    def run_host(self, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Runs on host arrays, a window at a time, so that the device need not hold all of them. Gives the results."""
        self._check(self._on_host)
        results = {output.name: np.empty(output.shape, numpy_dtype(output.dtype)) for output in self.outputs}
        common: dict[str, np.ndarray | DeviceArray] = {
            tensor.name: upload_array(self.device, arrays[tensor.name], tensor.dtype)
            for tensor in self.kernel.tensors
            if tensor.name in arrays and tensor.name not in self._row_bytes
        }
        for first, count, prepared in self._each(self._on_host):
            rows = {name: array[first : first + count] for name, array in arrays.items() if name in self._row_bytes}
            for name, array in launch(prepared, {**common, **rows}).items():
                results[name][first : first + count] = array.numpy()
        return results


def _rows_to_align(row_bytes: int, alignment: int) -> int:
    return alignment // gcd(alignment, row_bytes)


def _padded(nbytes: int) -> int:
    return max(16, -(-nbytes // 16) * 16)
