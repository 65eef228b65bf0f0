"""One call of a kernel: names to parameters, arrays to storage types, dims, the device, and the launch."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilec.errors import ArrayError, DeviceError
from tilec.runtime import arguments
from tilec.runtime.arrays import DeviceArray
from tilec.runtime.bound import Bound
from tilec.runtime.compute import Device
from tilec.runtime.launch import check_aliases, common_device, interpret, launch, place
from tilec.runtime.prepared import tensor_shapes
from tilec.runtime.result import Result
from tilec.runtime.scalars import Number, scalar_value
from tilec.runtime.windowed import Launchable, Windowed, prepare
from tilec.tile.ir import Kernel as TileKernel
from tilec.tile.reports import Log

if TYPE_CHECKING:
    from tilec.runtime.kernel import Kernel

_PLAIN = (bool, int, float)


def call(
    kernel: Kernel,
    positional: Sequence[Any],
    named: Mapping[str, Any],
    device: Device | str | int | None,
    dtypes: Mapping[str, Any] | None,
) -> Result:
    """See `Kernel.__call__`."""
    kernel, named = _specialised(kernel, named)
    values = assign(kernel, positional, named)
    key = None if kernel.is_debug else _fast_key(values, device, dtypes)
    if key is not None:
        prepared = kernel._prepared.get(key)
        if prepared is not None:
            return _again(prepared, values)
    try:
        return _Call(kernel, values, dtypes).run(device, key)
    except MemoryError as error:
        raise ArrayError(f"{kernel.name}: this machine's memory does not hold the arrays: {error}") from None


def bind(
    kernel: Kernel,
    positional: Sequence[Any],
    named: Mapping[str, Any],
    device: Device | str | int | None,
    dtypes: Mapping[str, Any] | None,
) -> Bound:
    """See `Kernel.bind`."""
    if kernel.is_debug:
        raise ArrayError(f"{kernel.name}: a debug build answers each call: call it, or compile it without debug")
    kernel, named = _specialised(kernel, named)
    values = assign(kernel, positional, named)
    made = _Call(kernel, values, dtypes)
    prepared = made.prepare_for(made.device_to_bind(device))
    arrays, _ = place(prepared, made.host_arrays())
    shown = {name: array for name, array in made.given.items() if isinstance(array, DeviceArray)}

    def other_scalars(scalars: Mapping[str, Any]) -> Launchable:
        return _Call(kernel, {**values, **arrays, **scalars}, dtypes).prepare_for(prepared.device)

    return Bound(prepared, arrays, shown, other_scalars)


def _specialised(kernel: Kernel, named: Mapping[str, Any]) -> tuple[Kernel, Mapping[str, Any]]:
    """The kernel with the `const` parameters that the call gives, and the other arguments."""
    constants = {
        p.name: named[p.name]
        for p in kernel.signature.parameters
        if p.is_const and p.name not in kernel.constants and p.name in named
    }
    if not constants:
        return kernel, named
    return kernel.specialize(**constants), {name: value for name, value in named.items() if name not in constants}


def _fast_key(values: Mapping[str, Any], device: object, dtypes: Mapping[str, Any] | None) -> Hashable:
    """A key that says all that a launch on device arrays depends on but their buffers, or None for other calls."""
    parts: list[Hashable] = []
    for name, value in values.items():
        if type(value) is DeviceArray:
            parts.append((name, id(value.device), value.dtype, value.shape))
        elif type(value) in _PLAIN:
            # 1, 1.0 and True are equal, but not the same argument; 0.0 and -0.0 neither.
            parts.append((name, type(value), str(value)))
        else:
            return None
    if device is not None and type(device) is not Device:
        return None
    # Without a device array the results are the host's.
    if not any(type(value) is DeviceArray for value in values.values()):
        return None
    asked = tuple((name, str(dtype)) for name, dtype in dtypes.items()) if dtypes else ()
    return tuple(parts), id(device), asked


def _again(prepared: Launchable, values: Mapping[str, Any]) -> Result:
    """A launch like an earlier one, with other buffers perhaps."""
    arrays = {name: value for name, value in values.items() if type(value) is DeviceArray}
    check_aliases(prepared.kernel, arrays)
    return _device_result(launch(prepared, arrays), arrays)


def _device_result(written: Mapping[str, DeviceArray], given: Mapping[str, object]) -> Result:
    """The arrays on the device; one that was given is itself, with its own shape."""
    return Result({name: given.get(name, array) for name, array in written.items()})


def assign(kernel: Kernel, positional: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name: of parameters, and of dims passed by name."""
    signature = kernel.signature
    values: dict[str, Any] = {}
    if positional:
        # The positional ones are what a caller has to give: outputs are made by the call.
        outputs = {tensor.name for tensor in kernel._variants({}).kernel.tensors if tensor.access == "out"}
        order = [p.name for p in signature.parameters if p.name not in outputs and p.name not in kernel.constants]
        if len(positional) > len(order):
            names = ", ".join(order)
            extra = f" ({', '.join(outputs)} by name)" if outputs else ""
            raise ArrayError(
                f"{kernel.name} takes at most {len(order)} arguments by position: {names}{extra}; "
                f"{len(positional)} were given"
            )
        values.update(zip(order, positional, strict=False))
    for name, value in named.items():
        if name in kernel.constants:
            raise ArrayError(f"{kernel.name}: {name} is fixed at {kernel.constants[name]} by specialize")
        if signature.parameter(name) is None and name not in signature.dims:
            raise ArrayError(f"{kernel.name}: {name} {_no_parameter(kernel, name)}")
        if name in values:
            raise ArrayError(f"{kernel.name}: {name} is given twice, by position and by name")
        values[name] = value
    return values


_OF_LAUNCHES = ("grid", "block", "blocks", "threads", "num_warps", "num_stages", "BLOCK_SIZE")


def _no_parameter(kernel: Kernel, name: str) -> str:
    """Why an argument's name is refused, with what there is."""
    text = kernel._unknown(name)
    if name in _OF_LAUNCHES:
        return f"{text}: how many blocks there are, and of how many threads, follows from the kernel"
    if "did you mean" in text:
        return text
    names = [parameter.name for parameter in kernel.signature.parameters if parameter.name not in kernel.constants]
    return f"{text}; there is {', '.join(names)}"


class _Call:
    """A call whose arguments are not known to be like those of an earlier one."""

    def __init__(self, kernel: Kernel, values: Mapping[str, Any], dtypes: Mapping[str, Any] | None) -> None:
        self.kernel = kernel
        signature = kernel.signature
        self.given: dict[str, Any] = {}
        arrays: dict[str, arguments.Array] = {}
        for parameter in signature.parameters:
            if parameter.kind == "tensor" and parameter.name in values:
                self.given[parameter.name] = values[parameter.name]
                arrays[parameter.name] = arguments.as_array(values[parameter.name], parameter)
        asked = kernel._asked_dtypes(dtypes)
        self.variants = kernel._variants(arguments.choose_dtypes(signature, arrays, asked))
        built = self.built = self.variants.kernel
        self._check_complete(arrays, values)
        check_aliases(built, self.given)
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.arrays: dict[str, arguments.Array] = {}
        for tensor in built.tensors:
            if tensor.name in arrays:
                self.shapes[tensor.name] = arguments.declared_shape(arrays[tensor.name], tensor)
                self.arrays[tensor.name] = arguments.fit(arrays[tensor.name], tensor, self.given[tensor.name])
        sizes = {name: value for name, value in values.items() if name in signature.dims}
        self.dims = arguments.solve_dims(built, self.shapes, sizes)
        self.scalars = _scalars(built, values)
        arguments.check_requirements(built, self.dims, self.scalars)

    def _check_complete(self, arrays: Mapping[str, arguments.Array], values: Mapping[str, Any]) -> None:
        """Every input is there, and an output that was given can be written."""
        name = self.kernel.name
        for tensor in self.built.tensors:
            if tensor.access != "out" and tensor.name not in arrays:
                raise ArrayError(f"{name}: the tensor {tensor.name} is missing: {_signature_text(self.built)}")
            if tensor.access == "out" and tensor.name in arrays and not isinstance(arrays[tensor.name], DeviceArray):
                raise ArrayError(
                    f"{name}: {tensor.name} is an output, which the call returns; only a device array can be given for "
                    "it, since host arrays are never modified"
                )
        for scalar in self.built.scalars:
            if scalar.default is None and scalar.name not in values and scalar.name not in self.built.constants:
                raise ArrayError(f"{name}: the scalar {scalar.name} is missing: {_signature_text(self.built)}")

    def run(self, device: Device | str | int | None, key: Hashable) -> Result:
        chosen = self._device(device)
        if self.kernel.is_debug:
            return self._debug(chosen, key)
        if chosen is None:
            return self._interpret()
        prepared, arrays = self.prepare_for(chosen, key), self.host_arrays()
        on_host = {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}
        if isinstance(prepared, Windowed) and len(on_host) == len(arrays):
            results = prepared.run_host(on_host)
            return Result({name: self._own_shape(name, array) for name, array in results.items()})
        return self._result(launch(prepared, arrays))

    def _result(self, written: Mapping[str, DeviceArray]) -> Result:
        if any(isinstance(array, DeviceArray) for array in self.arrays.values()):
            given = {name: array for name, array in self.given.items() if isinstance(array, DeviceArray)}
            return _device_result(written, given)
        return Result({name: self._own_shape(name, array.numpy()) for name, array in written.items()})

    def prepare_for(self, device: Device, key: Hashable = None) -> Launchable:
        """What a launch of this call needs, as it was kept under the key (or one of its own) or made now."""
        own_key = key if key is not None else self._key(device)
        prepared = self.kernel._prepared.get(own_key)
        if prepared is None:
            made = prepare(self.variants, device, self.dims, self.scalars)
            prepared = self.kernel._prepared.put(own_key, made)
        return prepared

    def device_to_bind(self, asked: Device | str | int | None) -> Device:
        """The device of a prepared launch. Raises DeviceError where there is none."""
        from tilec.runtime.device import device as open_device

        on_device = [(name, array) for name, array in self.arrays.items() if isinstance(array, DeviceArray)]
        if isinstance(asked, str) and asked == "numpy":
            raise DeviceError(f"{self.kernel.name}: the interpreter prepares nothing; bind to a device")
        found = common_device(on_device, open_device(asked) if asked is not None else None)
        return found if found is not None else open_device()

    def _debug(self, chosen: Device | None, key: Hashable) -> Result:
        """The call of a debug build. Raises DebugError."""
        from tilec.runtime.debug import debug
        from tilec.runtime.reports import tell

        unwritten: dict[str, np.ndarray] = {}
        if chosen is None:
            log = Log()
            result = self._interpret(log, unwritten)
        else:
            values = {**self.dims, **{name: int(n) for name, n in self.scalars.items() if not isinstance(n, float)}}
            x, y, z = (max(0, extent.evaluate(values)) for extent in self.built.grid)
            prepared = self.prepare_for(chosen, key)
            if isinstance(prepared, Windowed):
                reason = "a debug build takes only what the device binds at once: launch on fewer rows"
                raise DeviceError(f"{self.built.name}: {reason}")
            debugged = debug(prepared, self.host_arrays(), (x, y, z))
            log, unwritten, result = debugged.log, debugged.unwritten, self._result(debugged.written)
        tell(log, unwritten, self.built.name, result)
        return result

    def _key(self, device: Device) -> Hashable:
        types = tuple(tensor.dtype for tensor in self.built.tensors)
        scalars = tuple((name, str(value)) for name, value in self.scalars.items())
        return "host", id(device), types, tuple(self.dims.items()), scalars

    def host_arrays(self) -> dict[str, np.ndarray | DeviceArray]:
        return {
            name: array if isinstance(array, DeviceArray) else array.reshape(self.shapes[name])
            for name, array in self.arrays.items()
        }

    def _own_shape(self, name: str, array: np.ndarray) -> np.ndarray:
        """An updated tensor has the shape of the array that was given for it."""
        return array.reshape(self.arrays[name].shape) if name in self.arrays else array

    def _interpret(self, log: Log | None = None, unwritten: dict[str, np.ndarray] | None = None) -> Result:
        for name, array in self.arrays.items():
            if isinstance(array, DeviceArray):
                raise ArrayError(f'{name} is on {array.device.name}: for device="numpy" pass {name}.numpy()')
        arrays: dict[str, np.ndarray] = {n: a for n, a in self.host_arrays().items() if isinstance(a, np.ndarray)}
        _check_memory(self.built, self.dims)
        results = interpret(self.built, arrays, self.scalars, self.dims, log, unwritten, self.kernel.write_steps)
        return Result({name: self._own_shape(name, array) for name, array in results.items()})

    def _device(self, asked: Device | str | int | None) -> Device | None:
        """The device to run on; None is the interpreter."""
        if isinstance(asked, str) and asked == "numpy":
            return None
        from tilec.runtime.device import NoSuchDeviceError
        from tilec.runtime.device import device as open_device

        on_device = [(name, array) for name, array in self.arrays.items() if isinstance(array, DeviceArray)]
        if asked is not None:
            try:
                return common_device(on_device, open_device(asked))
            except NoSuchDeviceError as error:
                raise DeviceError(f'{error}; and "numpy", the interpreter') from None
        found = common_device(on_device, None)
        if found is not None:
            return found
        try:
            return open_device()
        except DeviceError as error:
            from tilec.runtime.kernel import tell_no_device

            tell_no_device(error)
            return None


def _scalars(built: TileKernel, values: Mapping[str, Any]) -> dict[str, Number]:
    scalars: dict[str, Number] = {}
    for scalar in built.scalars:
        if scalar.name in built.constants:
            scalars[scalar.name] = built.constants[scalar.name]
        elif scalar.name in values:
            scalars[scalar.name] = scalar_value(values[scalar.name], scalar.dtype, scalar.name)
        else:
            assert scalar.default is not None
            scalars[scalar.name] = scalar.default
    return scalars


def _signature_text(built: TileKernel) -> str:
    inputs = [t.name for t in built.tensors if t.access != "out"]
    scalars = [f"{s.name}={s.default}" if s.default is not None else s.name for s in built.scalars]
    fixed = [text for text in scalars if text.partition("=")[0] not in built.constants]
    return f"{built.name}({', '.join([*inputs, *fixed])})"


def _check_memory(built: TileKernel, dims: Mapping[str, int]) -> None:
    """Refuses outputs that no host could hold, in words."""
    for name, shape in tensor_shapes(built, dims).items():
        size = 1
        for extent in shape:
            size *= extent
        if size > 1 << 40:
            raise ArrayError(f"{name}: {size:,} elements are more than memory holds")
