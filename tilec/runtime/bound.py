"""A prepared launch: a kernel with its arrays and scalars, everything made once, to be launched again and again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tilec.errors import ArrayError
from tilec.runtime.arrays import DeviceArray, shape_text
from tilec.runtime.launch import check_aliases
from tilec.runtime.result import Result
from tilec.runtime.windowed import Launchable

PrepareScalars: TypeAlias = "Callable[[Mapping[str, Any]], Launchable]"


class Bound:
    """A kernel bound to arrays on a device. Get one from `Kernel.bind`.

    `launch()` runs it on them once more and returns before it is done. `results` are the device arrays that it writes,
    the same ones each time: outputs are written anew, and tensors that the kernel updates are updated again.
    """

    def __init__(
        self,
        prepared: Launchable,
        arrays: Mapping[str, DeviceArray],
        given: Mapping[str, DeviceArray],
        other_scalars: PrepareScalars,
    ) -> None:
        self._prepared = prepared
        self._arrays = dict(arrays)
        self._given = dict(given)
        self._other_scalars = other_scalars
        # An output that was given keeps what the kernel does not write, as in a call.
        overwritten = {output.name for output in prepared.outputs if prepared.must_clear(output.name)}
        self._cleared = [
            arrays[tensor.name].buffer
            for tensor in prepared.kernel.tensors
            if tensor.access == "out" and tensor.name not in given and tensor.name in overwritten
        ]
        self._work = prepared.work(self._arrays, self._cleared)
        self.results = self._result(self._given)

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self._prepared.kernel.name

    def launch(self, **others: Any) -> Result:
        """Launches it, with other arguments for this launch alone where some are given by name.

        Other tensors are device arrays of the same type and shape; other scalars are values as in a call. Raises
        ArrayError for what does not fit, and DeviceError.
        """
        if not others:
            if self._work is not None:
                self._prepared.device.submit(self._work)
            else:
                self._prepared.run(self._arrays, self._cleared)
            return self.results
        tensors = {tensor.name for tensor in self._prepared.kernel.tensors}
        arrays = {name: self._checked(name, value) for name, value in others.items() if name in tensors}
        scalars = {name: value for name, value in others.items() if name not in tensors}
        for name in scalars:
            if all(scalar.name != name for scalar in self._prepared.kernel.scalars):
                raise ArrayError(f"{self.name}: {name} is no tensor or scalar of this launch")
        prepared = self._other_scalars(scalars) if scalars else self._prepared
        placed = {**self._arrays, **arrays}
        check_aliases(prepared.kernel, placed)
        replaced = {self._arrays[name].buffer for name in arrays}
        prepared.run(placed, [buffer for buffer in self._cleared if buffer not in replaced])
        return self._result({**self._given, **arrays})

    def _checked(self, name: str, value: Any) -> DeviceArray:
        own = self._arrays[name]
        if not isinstance(value, DeviceArray):
            raise ArrayError(f"{self.name}: {name} must be a device array: device.array(x), or write into this one")
        if value.device is not own.device:
            raise ArrayError(f"{name} is on {value.device.name}, but the launch is prepared for {own.device.name}")
        if value.dtype is not own.dtype or value.shape != own.shape:
            raise ArrayError(
                f"{name}: {value.dtype}{shape_text(value.shape)} where the launch is prepared for "
                f"{own.dtype}{shape_text(own.shape)}: bind the kernel to it"
            )
        return value

    def _result(self, given: Mapping[str, DeviceArray]) -> Result:
        names = [output.name for output in self._prepared.outputs]
        return Result({name: given.get(name, self._arrays[name]) for name in names})

    def __repr__(self) -> str:
        arrays = ", ".join(f"{name}={array.dtype}{shape_text(array.shape)}" for name, array in self._arrays.items())
        return f"<tilec.Bound {self.name}({arrays}) on {self._prepared.device.name}>"
