"""Arrays in and out: anything array-like to the storage type of a parameter, without ever losing a value in silence."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tilec.errors import ArrayError
from tilec.types import DTYPES, DType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilec.runtime.compute import Buffer, Device

_PLAIN = {
    DType.F32: np.dtype(np.float32),
    DType.F16: np.dtype(np.float16),
    DType.I32: np.dtype(np.int32),
    DType.U32: np.dtype(np.uint32),
    DType.I8: np.dtype(np.int8),
    DType.U8: np.dtype(np.uint8),
    DType.I64: np.dtype(np.int64),
    DType.BOOL: np.dtype(np.bool_),
}
_BY_NAME = {dtype.name: storage for storage, dtype in _PLAIN.items()} | {"bfloat16": DType.BF16}
# Of each storage type, those that hold all of its values, nearest first.
_WIDER = {
    DType.F16: (DType.F32,),
    DType.BF16: (DType.F32,),
    DType.BOOL: (DType.U8, DType.I8, DType.I32, DType.U32, DType.I64, DType.F16, DType.BF16, DType.F32),
    DType.I8: (DType.I32, DType.I64, DType.F16, DType.BF16, DType.F32),
    DType.U8: (DType.I32, DType.U32, DType.I64, DType.F16, DType.BF16, DType.F32),
    DType.I32: (DType.I64,),
    DType.U32: (DType.I64,),
}
# Where no alternative holds every value: these by kind of the array, then whatever there is; the values decide.
_FALLBACK = {
    "f": (DType.F32, DType.BF16, DType.F16),
    "i": (DType.I64, DType.I32, DType.U32, DType.I8, DType.U8, DType.F32),
    "u": (DType.U32, DType.I64, DType.I32, DType.U8, DType.I8, DType.F32),
    "b": (DType.BOOL,),
}


@functools.cache
def _bfloat16() -> np.dtype:
    try:
        import ml_dtypes
    except ImportError:
        raise ArrayError(
            'bf16 arrays need the package ml_dtypes: `pip install "tilec[all]"` or `pip install ml_dtypes`'
        ) from None
    return np.dtype(ml_dtypes.bfloat16)


def numpy_dtype(dtype: DType) -> np.dtype:
    """NumPy's dtype of a storage type. Raises ArrayError for bf16 where the package ml_dtypes is missing."""
    return _bfloat16() if dtype is DType.BF16 else _PLAIN[dtype]


def storage_dtype(array: np.ndarray) -> DType | None:
    """The storage type that is the array's own dtype (in any byte order), or None."""
    return _BY_NAME.get(array.dtype.name)


def dtype_named(given: object, what: str = "dtype") -> DType:
    """A storage type from what a user calls it: `"f16"`, `"float16"`, `np.float16`, `torch.bfloat16`, a DType."""
    if isinstance(given, DType):
        return given
    text = str(given).removeprefix("torch.")
    if text in DTYPES:
        return DTYPES[text]
    try:
        name = np.dtype(cast("Any", given)).name
    except TypeError:
        name = text
    found = _BY_NAME.get(name)
    if found is None:
        raise ArrayError(f"{what}: no storage type is called {given!r}; there are {', '.join(DTYPES)}")
    return found


# --- host arrays ---------------------------------------------------------------------------------------------


def to_host(value: Any, name: str) -> np.ndarray:
    """A NumPy array (often a view) of anything array-like. Raises ArrayError that names the parameter."""
    if isinstance(value, np.ma.MaskedArray):
        raise ArrayError(f"{name}: a masked array has no value where it is masked; pass {name}.filled(0)")
    if isinstance(value, np.ndarray):
        # A subclass may give slices and reshapes a meaning of its own (np.matrix).
        return _checked(np.asarray(value), value, name)
    if type(value).__module__.partition(".")[0] == "torch":
        return _from_torch(value, name)
    try:
        if hasattr(value, "__array__") or not hasattr(value, "__dlpack__"):
            array = np.asarray(value)
        else:
            array = np.from_dlpack(value)
    except MemoryError:
        raise
    except Exception as error:  # the value's own methods may raise anything
        if isinstance(value, (list, tuple)):
            raise ArrayError(f"{name}: {_kind(value)} whose rows differ in length is not an array") from None
        raise ArrayError(f"{name}: {_kind(value)} is not an array: {error}") from None
    return _checked(array, value, name)


def _checked(array: np.ndarray, value: object, name: str) -> np.ndarray:
    if array.dtype.kind == "O" or (array.dtype.kind in "USmMV" and array.dtype.name not in _BY_NAME):
        what = _kind(value)
        if array.ndim:
            held = {"O": "objects", "U": "strings", "S": "bytes", "m": "times", "M": "dates"}.get(array.dtype.kind)
            what = f"{what} of {held or 'records'}"
        raise ArrayError(f"{name}: {what} is not an array of numbers")
    return array


def with_article(noun: str) -> str:
    """`a float64`, `an int64`."""
    return f"an {noun}" if noun[:1].lower() in "aeio" else f"a {noun}"


def _kind(value: object) -> str:
    """What a value is, in words."""
    if value is None:
        return "None"
    names = {"str": "string", "ndarray": "array", "bytes": "bytes object"}
    return with_article(names.get(type(value).__name__, type(value).__name__))


def _from_torch(value: Any, name: str) -> np.ndarray:
    """The array of a torch tensor, sharing its memory."""
    if not hasattr(value, "detach"):
        raise ArrayError(f"{name}: {_kind(value)} is not a tensor")
    if value.device.type != "cpu":
        raise ArrayError(f"{name}: the tensor is on {value.device}; pass {name}.cpu()")
    try:
        tensor = value.detach().resolve_conj().resolve_neg()
        if str(tensor.dtype) == "torch.bfloat16":
            # Whoever made the tensor imported torch; only tilec.torch does so by itself.
            torch = sys.modules["torch"]
            return tensor.contiguous().view(torch.int16).numpy().view(_bfloat16())
        return tensor.numpy()
    except (TypeError, RuntimeError) as error:
        raise ArrayError(f"{name}: the tensor gives no array: {error}") from None


def choose_dtype(array: np.ndarray, alternatives: Sequence[DType]) -> DType:
    """The alternative that an array of this dtype is passed as; whether its values fit is checked by `convert`.

    The choice depends on the dtype alone, so that the same program does not change its types with its data.
    """
    own = storage_dtype(array)
    if own is not None and own in alternatives:
        return own
    for wider in _WIDER.get(own, ()) if own is not None else ():
        if wider in alternatives:
            return wider
    kind = "f" if own is DType.BF16 else array.dtype.kind
    for candidate in _FALLBACK.get(kind, ()):
        if candidate in alternatives:
            return candidate
    return alternatives[0]


def convert(array: np.ndarray, dtype: DType, name: str, given: object = None) -> np.ndarray:
    """The array in a storage type, contiguous and in native byte order; itself where it is that already.

    `given` is what the array was made of, for the fix. Raises ArrayError, with the parameter's name, both dtypes and
    the fix, where a value would change.
    """
    target = numpy_dtype(dtype)
    if array.dtype.kind not in "fiub" and storage_dtype(array) is not DType.BF16:
        raise ArrayError(f"{name}: {with_article(str(array.dtype))} array holds no numbers that {dtype} could hold")
    if array.dtype.newbyteorder("=") == target:
        return np.ascontiguousarray(array, target).reshape(array.shape)
    with np.errstate(all="ignore"):
        result = array.astype(target, order="C")
        if not _is_exact(array, result, dtype):
            raise ArrayError(_inexact(array, dtype, name, array if given is None else given))
    return result.reshape(array.shape)


def _is_exact(array: np.ndarray, result: np.ndarray, dtype: DType) -> bool:
    own = storage_dtype(array)
    if own is not None and dtype in _WIDER.get(own, ()):
        return True
    if array.dtype.kind in "iu" and result.dtype.kind in "iu":
        # Comparing int64 with uint64 goes through float64, which is not exact: compare the ends instead.
        if not array.size:
            return True
        info = np.iinfo(result.dtype)
        return int(array.min()) >= info.min and int(array.max()) <= info.max
    if result.dtype.kind in "iu":
        info = np.iinfo(result.dtype)
        inside = (array >= float(info.min)) & (array < float(info.max) + 1.0)
        return bool(np.all(inside) and np.all(result == array))
    back = result.astype(array.dtype)
    if array.dtype.kind in "iu":
        # The largest integers overflow on their way back.
        return bool(np.all(result.astype(np.float64) == array.astype(np.float64)) and np.all(back == array))
    return bool(np.all((back == array) | ((array != array) & (result != result))))


def _inexact(array: np.ndarray, dtype: DType, name: str, given: object) -> str:
    source = "bf16" if storage_dtype(array) is DType.BF16 else str(array.dtype)
    what = f"{with_article(source)} array"
    if not hasattr(given, "dtype"):
        what = f"{_kind(given)} of {source} numbers"
    elif _module(given) == "torch":
        what = f"{with_article(source)} tensor"
    if not dtype.is_float and array.dtype.kind == "f":
        reason = "holds numbers that are no integers of that type"
    elif not dtype.is_float:
        low, high = array.min(), array.max()
        reason = f"holds {low} to {high}, beyond its range"
    else:
        reason = "holds values that it would round"
    return f"{name}: {what} for {dtype} {reason}; {_fix(array, dtype, name, given)}"


def _fix(array: np.ndarray, dtype: DType, name: str, given: object) -> str:
    """How to convert, in a form that what was given has."""
    if not dtype.is_float and array.dtype.kind != "f":
        return "check its values"
    target = "ml_dtypes.bfloat16" if dtype is DType.BF16 else f"np.{numpy_dtype(dtype).name}"
    if _module(given) == "torch":
        form = f"{name}.to(torch.{'bfloat16' if dtype is DType.BF16 else numpy_dtype(dtype).name})"
    else:
        form = f"{name}.astype({target})" if hasattr(given, "astype") else f"np.asarray({name}, dtype={target})"
    return f"to convert it all the same pass {form}"


def _module(value: object) -> str:
    return type(value).__module__.partition(".")[0]


# --- device arrays -------------------------------------------------------------------------------------------


class DeviceArray:
    """An array in the memory of a device, row-major. Kernels read it there and update it in place.

    `dtype` is a storage type and `shape` a tuple. `numpy()` (or `np.asarray`) copies it back.
    """

    __slots__ = ("__weakref__", "buffer", "device", "dtype", "shape")

    def __init__(self, device: Device, buffer: Buffer, dtype: DType, shape: tuple[int, ...]) -> None:
        self.device = device
        self.buffer = buffer
        self.dtype = dtype
        self.shape = shape

    @property
    def size(self) -> int:
        """How many elements it has."""
        return size_of(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.size

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a device array without axes has no length")
        return self.shape[0]

    def numpy(self) -> np.ndarray:
        """A copy in host memory, once all work submitted before is done."""
        data = self.device.read(self.buffer, self.nbytes)
        return np.frombuffer(data, numpy_dtype(self.dtype), self.size).reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a device array cannot be seen without a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def free(self) -> None:
        """Gives its memory back before the last reference is gone. Any later use is a DeviceError."""
        self.buffer.free()

    def __repr__(self) -> str:
        return f"<DeviceArray {self.dtype}[{', '.join(map(str, self.shape))}] on {self.device.name}>"


def shape_text(shape: Sequence[int]) -> str:
    """A shape as messages show it: `[64, 512]`."""
    return f"[{', '.join(map(str, shape))}]"


def size_of(shape: Sequence[int]) -> int:
    """How many elements an array of that shape has."""
    size = 1
    for extent in shape:
        size *= extent
    return size


def allocate(device: Device, dtype: DType, shape: tuple[int, ...]) -> DeviceArray:
    """An array of zeros on a device. Raises DeviceError beyond the device's limits."""
    return DeviceArray(device, device.create_buffer(size_of(shape) * dtype.size), dtype, shape)


def upload(device: Device, data: Any, dtype: Any = None, name: str = "data") -> DeviceArray:
    """A copy of an array-like in device memory; `dtype` is a storage type, by default the data's own or the nearest."""
    if isinstance(data, DeviceArray):
        data = data.numpy()
    array = to_host(data, name)
    target = choose_dtype(array, tuple(DTYPES.values())) if dtype is None else dtype_named(dtype)
    return upload_array(device, convert(array, target, name), target)


def upload_array(device: Device, array: np.ndarray, dtype: DType) -> DeviceArray:
    """A copy of a contiguous array of the storage type's own dtype."""
    result = allocate(device, dtype, array.shape)
    if array.size:
        device.write(result.buffer, array.reshape(-1).view(np.uint8))
    return result
