"""What a call was given, against what the kernel says: dtypes, shapes, dims, scalars. Faults name the parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from tilec.errors import ArrayError
from tilec.ops.reference import NUMPY_DTYPES, evaluate
from tilec.runtime.arrays import (
    DeviceArray,
    choose_dtype,
    convert,
    shape_text,
    storage_dtype,
    to_host,
    with_article,
)
from tilec.runtime.scalars import I32_HIGHEST, Number, integer_value
from tilec.sema.program import KernelSignature, ParameterSignature
from tilec.text import printable
from tilec.tile import ir
from tilec.types import DType, Extent, Symbol

Array: TypeAlias = "np.ndarray | DeviceArray"



# --- element types -------------------------------------------------------------------------------------------


def choose_dtypes(
    signature: KernelSignature, arrays: Mapping[str, Array], asked: Mapping[str, DType]
) -> dict[str, DType]:
    """The storage type of each parameter and type variable that has a choice, for `build_kernel`.

    What was asked for wins, then arrays whose own dtype is an alternative, then the nearest one for the others.
    """
    chosen: dict[str, DType] = {}
    for variable, alternatives in signature.type_variables.items():
        group = [p.name for p in signature.parameters if p.type_variable == variable and p.name in arrays]
        names = [variable, *(p.name for p in signature.parameters if p.type_variable == variable)]
        chosen[variable] = _choose(variable, alternatives, group, arrays, asked, names)
    for parameter in signature.parameters:
        if parameter.kind != "tensor" or parameter.type_variable is not None:
            continue
        group = [parameter.name] if parameter.name in arrays else []
        chosen[parameter.name] = _choose(
            parameter.name, parameter.alternatives, group, arrays, asked, [parameter.name]
        )
    return chosen


def _choose(
    what: str,
    alternatives: Sequence[DType],
    group: Sequence[str],
    arrays: Mapping[str, Array],
    asked: Mapping[str, DType],
    names: Sequence[str],
) -> DType:
    wanted = {name: asked[name] for name in names if name in asked}
    if len(set(wanted.values())) > 1:
        text = " and ".join(f"{dtype} for {name}" for name, dtype in wanted.items())
        raise ArrayError(f"{what} is one type, and dtypes asks for {text}")
    if wanted:
        [dtype] = set(wanted.values())
        if dtype not in alternatives:
            raise ArrayError(f"{what} may be {_listed(alternatives)}, and dtypes asks for {dtype}")
        return dtype
    own: dict[DType, str] = {}
    for name in group:
        dtype = _own_dtype(arrays[name])
        if dtype is not None and dtype in alternatives:
            own.setdefault(dtype, name)
    if len(own) > 1:
        (first, first_name), (second, second_name) = list(own.items())[:2]
        raise ArrayError(
            f"{first_name} is {first} and {second_name} is {second}, but both have the kernel's type {what}: convert "
            f"one of them, or say which with dtypes={{'{what}': '{first}'}}"
        )
    if own:
        return next(iter(own))
    return _nearest(arrays[group[0]], alternatives) if group else alternatives[0]


def _own_dtype(array: Array) -> DType | None:
    return array.dtype if isinstance(array, DeviceArray) else storage_dtype(array)


def _nearest(array: Array, alternatives: Sequence[DType]) -> DType:
    return alternatives[0] if isinstance(array, DeviceArray) else choose_dtype(array, alternatives)


def _listed(dtypes: Sequence[DType]) -> str:
    texts = [str(dtype) for dtype in dtypes]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"


def as_array(value: Any, parameter: ParameterSignature) -> Array:
    """What was given for a tensor: a device array as it is, anything else as a NumPy array."""
    if isinstance(value, DeviceArray):
        return value
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        # NumPy would make an array without axes of it.
        what = "None" if value is None else f"a string, {value!r}," if isinstance(value, str) else f"a number, {value},"
        raise ArrayError(f"{parameter.name}: {what} was given where the kernel takes {_type_text(parameter)}")
    return to_host(value, parameter.name)


def _type_text(parameter: ParameterSignature) -> str:
    """The declared type of a tensor: `tensor<f32|f16>[M, V]`."""
    return f"tensor<{'|'.join(map(str, parameter.alternatives))}>[{', '.join(map(str, parameter.dims))}]"


def fit(array: Array, parameter: ir.TensorParameter, given: Any = None) -> Array:
    """The array, made of what was `given`, in the parameter's storage type. Raises ArrayError where that would change
    a value."""
    if isinstance(array, DeviceArray):
        if array.dtype is not parameter.dtype:
            raise ArrayError(
                f"{parameter.name}: {with_article(str(array.dtype))} device array where the kernel takes "
                f"{_listed(parameter.alternatives)}; upload it as device.array(x, dtype='{parameter.dtype}')"
            )
        return array
    return convert(array, parameter.dtype, parameter.name, given)


# --- dims ----------------------------------------------------------------------------------------------------


def declared_shape(array: Array, parameter: ir.TensorParameter) -> tuple[int, ...]:
    """The array's shape with as many axes as the parameter has: one trailing axis of 1 may come or go."""
    shape, dims = tuple(array.shape), parameter.dims
    if len(shape) == len(dims) + 1 and shape[-1] == 1:
        return shape[:-1]
    if len(shape) == len(dims) - 1 and dims[-1].is_one:
        return (*shape, 1)
    if len(shape) != len(dims):
        axes = "1 axis" if len(shape) == 1 else f"{len(shape)} axes"
        raise ArrayError(
            f"{parameter.name}: an array of shape {shape_text(shape)} has {axes} where the kernel takes "
            f"{len(dims)}: {parameter.name}: tensor<{parameter.dtype}>[{', '.join(map(str, dims))}]"
        )
    return shape


def solve_dims(
    kernel: ir.Kernel, shapes: Mapping[str, tuple[int, ...]], given: Mapping[str, int]
) -> dict[str, int]:
    """The value of every dim, from the shapes of the arrays (with the kernel's number of axes) and those given by name.

    Raises ArrayError, with both parameters, where two disagree, and for one that nothing says.
    """
    dims: dict[str, int] = {}
    said_by: dict[str, str] = {}
    for name, value in given.items():
        dims[name] = integer_value(value, name, "a size", 0, I32_HIGHEST)
        said_by[name] = "as passed by name"
    for tensor in kernel.tensors:
        if tensor.name not in shapes:
            continue
        for axis, dim in enumerate(tensor.dims):
            symbol = _lone_symbol(dim)
            extent = shapes[tensor.name][axis]
            if symbol is None:
                continue
            place = f"by axis {axis} of {tensor.name} {shape_text(shapes[tensor.name])}"
            if dims.setdefault(symbol, extent) != extent:
                raise ArrayError(f"{symbol} is {dims[symbol]} {said_by[symbol]}, but {extent} {place}")
            said_by.setdefault(symbol, place)
    missing = [name for name in kernel.dims if name not in dims]
    if missing:
        raise ArrayError(
            f"{kernel.name}: the size {missing[0]} is in no input's shape: pass it by name, {missing[0]}=..."
        )
    _check_computed(kernel, shapes, dims, said_by)
    return dims


def _check_computed(
    kernel: ir.Kernel, shapes: Mapping[str, tuple[int, ...]], dims: Mapping[str, int], said_by: Mapping[str, str]
) -> None:
    for tensor in kernel.tensors:
        for axis, dim in enumerate(tensor.dims):
            value = dim.evaluate(dims)
            why = "; ".join(f"{name} is {dims[name]} {said_by[name]}" for name in _symbols(dim))
            if value > I32_HIGHEST:
                raise ArrayError(
                    f"{tensor.name}: axis {axis}, {dim}, would have {value:,} elements, and an index is an i32: "
                    f"at most {I32_HIGHEST:,}; {why}"
                )
            if value < 0:
                raise ArrayError(f"{tensor.name}: axis {axis} would have {dim} = {value} elements; {why}")
            if tensor.name not in shapes or shapes[tensor.name][axis] == value:
                continue
            extent = shapes[tensor.name][axis]
            if dim.constant is not None:
                raise ArrayError(
                    f"{tensor.name}: axis {axis} of {shape_text(shapes[tensor.name])} has {extent} elements, and the "
                    f"kernel says {value}"
                )
            raise ArrayError(
                f"{tensor.name}: axis {axis} of {shape_text(shapes[tensor.name])} has {extent} elements, and the "
                f"kernel says {dim} = {value}; {why}"
            )


def _lone_symbol(dim: Extent) -> str | None:
    if len(dim.terms) == 1:
        [(monomial, factor)] = dim.terms
        if factor == 1 and len(monomial) == 1 and isinstance(monomial[0], Symbol):
            return monomial[0].name
    return None


def _symbols(dim: Extent) -> list[str]:
    return sorted(atom.name for atom in dim.atoms if isinstance(atom, Symbol))


# --- requirements --------------------------------------------------------------------------------------------


def check_requirements(kernel: ir.Kernel, dims: Mapping[str, int], scalars: Mapping[str, Number]) -> None:
    """Raises ArrayError with the message of the first `require` that does not hold."""
    for requirement in kernel.requirements:
        if not bool(_host_value(requirement.condition, dims, scalars)[()]):
            message, text = (printable(" ".join(one.split())) for one in (requirement.message, requirement.span.text))
            raise ArrayError(f"{kernel.name}: {message} ({requirement.span.place}: {text})")


def _host_value(root: ir.Value, dims: Mapping[str, int], scalars: Mapping[str, Number]) -> np.ndarray:
    """Each instruction once, and those that it uses before it: a condition may be long, and use a part many times."""
    known: dict[int, np.ndarray] = {}
    stack = [root]
    while stack:
        value = stack[-1]
        operands = value.operands if isinstance(value, ir.Pointwise) else ()
        waiting = [operand for operand in operands if operand.number not in known]
        if waiting:
            stack += waiting
            continue
        known[stack.pop().number] = _value(value, [known[operand.number] for operand in operands], dims, scalars)
    return known[root.number]


def _value(
    value: ir.Value, operands: Sequence[np.ndarray], dims: Mapping[str, int], scalars: Mapping[str, Number]
) -> np.ndarray:
    match value:
        case ir.Const():
            return np.array(value.value).astype(NUMPY_DTYPES[value.type.dtype])
        case ir.Scalar():
            return np.array(scalars[value.parameter]).astype(NUMPY_DTYPES[value.type.dtype])
        case ir.Dim():
            number = value.extent.evaluate({**dims, **{k: int(v) for k, v in scalars.items() if isinstance(v, int)}})
            return np.array(number).astype(NUMPY_DTYPES[value.type.dtype])
        case ir.Pointwise():
            with np.errstate(all="ignore"):
                return evaluate(value.op, *operands)
    raise AssertionError(f"{type(value).__name__} in a requirement")
