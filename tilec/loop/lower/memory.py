"""Elements of tensors and slots: addresses, packed words, shadows."""

from __future__ import annotations

from tilec.loop import ir
from tilec.loop.lower.arith import add, compare, const, multiply, unsigned
from tilec.loop.lower.frame import Frame
from tilec.plan.ir import Slot
from tilec.source import Span
from tilec.tile import ir as tile
from tilec.types import DType

_U32 = DType.U32


def element_number(frame: Frame, parameter: tile.TensorParameter, coordinates: list[ir.Expr]) -> ir.Expr:
    """The element's number in row-major order, u32."""
    number: ir.Expr = const(0, _U32)
    key: tuple[object, ...] = ("element", parameter.name)
    for dim, coordinate in zip(parameter.dims, coordinates, strict=True):
        number = add(multiply(number, unsigned(frame.bindings.extent(dim))), unsigned(coordinate))
        key = (*key, _key(coordinate))
        found = frame.code.find(key)
        if found is None:
            found = frame.code.let(f"{parameter.name}_at", number)
            frame.code.remember(key, found)
        number = found
    return number


def _key(coordinate: ir.Expr) -> object:
    from tilec.loop.lower.code import atom_key

    return atom_key(coordinate)


def read_element(
    frame: Frame, parameter: tile.TensorParameter, coordinates: list[ir.Expr], version: int
) -> ir.Expr:
    """The element as its compute type (an expression to be bound). `version` is the number of the load."""
    shadow = frame.plan.shadows.get(parameter.name)
    if shadow is not None:
        return read_slot(frame, shadow, tuple(coordinates))
    if parameter.name in frame.vectors:
        return _from_vector(frame, parameter, coordinates, version)
    number = element_number(frame, parameter, coordinates)
    buffer = frame.tensor_buffer(parameter.name)
    return unpacked(frame, parameter.dtype, buffer, number)


def _from_vector(
    frame: Frame, parameter: tile.TensorParameter, coordinates: list[ir.Expr], version: int
) -> ir.Expr:
    """One element of a tensor that is read four words at a time: of a granule's vector, or alone."""
    dtype = parameter.dtype
    last = coordinates[-1]
    base, part = frame.parts.get(last.number, (None, 0)) if isinstance(last, ir.Local) else (None, 0)
    if base is None:
        number = element_number(frame, parameter, coordinates)
        word = _chosen_word(frame, parameter, number, version)
        if dtype.size == 4:
            return word
        return from_bits(frame, dtype, ir.Bits("shr", (word, bit_offset(dtype, number)), _U32))
    elements = 4 * dtype.elements_per_word
    vector = read_vector(frame, parameter, [*coordinates[:-1], base], part // elements, version)
    return lane_of(frame, dtype, vector, part % elements)


def read_vector(
    frame: Frame, parameter: tile.TensorParameter, coordinates: list[ir.Expr], after: int, version: int
) -> ir.Expr:
    """The vector `after` vectors behind the one that starts with the element at `coordinates`."""
    first = element_number(frame, parameter, coordinates)
    return _vector(frame, parameter, vector_number(frame, parameter.dtype, first, after), version)


def lane_of(frame: Frame, dtype: DType, vector: ir.Expr, number: int) -> ir.Expr:
    """Element `number` of those in a vector of words."""
    word = ir.Component(vector, number // dtype.elements_per_word)
    if dtype.size == 4:
        return word
    if number % dtype.elements_per_word:
        return ir.Bits(f"helper:{dtype.label}_high", (word,), DType.F32)
    return from_bits(frame, dtype, word)


def vector_number(frame: Frame, dtype: DType, first: ir.Expr, after: int) -> ir.Expr:
    """The number of the vector `after` vectors behind the one that starts with element `first`."""
    shift = (4 * dtype.elements_per_word).bit_length() - 1
    key = ("vector number", _key(first), shift, after)
    found = frame.code.find(key)
    if found is None:
        number = frame.code.let("vector_at", ir.Bits("shr", (first, const(shift, _U32)), _U32))
        found = frame.code.let("vector_at", add(number, const(after, _U32))) if after else number
        frame.code.remember(key, found)
    return found


def _vector(frame: Frame, parameter: tile.TensorParameter, number: ir.Expr, version: int) -> ir.Expr:
    key = ("vector", version, _key(number))
    found = frame.code.find(key)
    if found is None:
        found = frame.code.let(f"{parameter.name}_vector", ir.Load(frame.tensor_buffer(parameter.name), number))
        frame.code.remember(key, found)
    return found


def _chosen_word(frame: Frame, parameter: tile.TensorParameter, number: ir.Expr, version: int) -> ir.Expr:
    """The word that holds element `number`, of a tensor bound as vectors."""
    let, dtype = frame.code.let, parameter.dtype
    word = ir.Bits("shr", (number, const(dtype.elements_per_word.bit_length() - 1, _U32)), _U32)
    word = let("word", word) if dtype.elements_per_word > 1 else number
    vector = let("vector", ir.Load(frame.tensor_buffer(parameter.name), ir.Bits("shr", (word, const(2, _U32)), _U32)))
    place = let("place", ir.Bits("and", (word, const(3, _U32)), _U32))
    chosen: ir.Expr = ir.Component(vector, 0)
    for index in range(1, 4):
        chosen = ir.Select(compare("eq", place, const(index, _U32)), ir.Component(vector, index), chosen)
    return let("chosen", chosen)


def unpacked(frame: Frame, dtype: DType, buffer: ir.Buffer, number: ir.Expr) -> ir.Expr:
    """Element `number` of a buffer that stores `dtype`, bound as single words."""
    let = frame.code.let
    if dtype.is_compute and dtype is not DType.BOOL:
        return ir.Load(buffer, number)
    if dtype is DType.I64:
        first = let("pair", multiply(number, const(2, _U32)))
        low = let("low", ir.Load(buffer, first))
        high = let("high", ir.Load(buffer, let("second", add(first, const(1, _U32)))))
        return ir.Bits("helper:i64_to_i32", (low, high), DType.I32)
    position = let("word", ir.Bits("shr", (number, const(_SHIFTS[dtype], _U32)), _U32))
    word = let("bits", ir.Load(buffer, position))
    return from_bits(frame, dtype, ir.Bits("shr", (word, bit_offset(dtype, number)), _U32))


_SHIFTS = {DType.F16: 1, DType.BF16: 1, DType.I8: 2, DType.U8: 2, DType.BOOL: 2}


def bit_offset(dtype: DType, number: ir.Expr) -> ir.Expr:
    """How far element `number` is from the low end of its word, in bits."""
    within = ir.Bits("and", (number, const(dtype.elements_per_word - 1, _U32)), _U32)
    return ir.Bits("shl", (within, const(3 if dtype.size == 1 else 4, _U32)), _U32)


def from_bits(frame: Frame, dtype: DType, low: ir.Expr) -> ir.Expr:
    """The value whose pattern is in the low bits of `low`; higher bits are anything."""
    match dtype:
        case DType.F16:
            return ir.Bits("helper:f16_to_f32", (low,), DType.F32)
        case DType.BF16:
            return ir.Bits("helper:bf16_to_f32", (low,), DType.F32)
        case DType.U8:
            return ir.Bits("bitcast", (ir.Bits("and", (low, const(255, _U32)), _U32),), DType.I32)
        case DType.I8:
            high = ir.Bits("bitcast", (ir.Bits("shl", (low, const(24, _U32)), _U32),), DType.I32)
            return ir.Bits("shr", (high, const(24, _U32)), DType.I32)
        case DType.BOOL:
            return compare("ne", ir.Bits("and", (low, const(255, _U32)), _U32), const(0, _U32))
    raise TypeError(f"{dtype} is not packed")


def to_bits(dtype: DType, value: ir.Expr) -> ir.Expr:
    """The low bits of a word that store `value`; higher bits are 0."""
    match dtype:
        case DType.F16:
            return ir.Bits("helper:f32_to_f16", (value,), _U32)
        case DType.BF16:
            return ir.Bits("helper:f32_to_bf16", (value,), _U32)
        case DType.U8 | DType.I8:
            return ir.Bits("and", (ir.Op("u32", (value,), _U32), const(255, _U32)), _U32)
        case DType.BOOL:
            return ir.Select(value, const(1, _U32), const(0, _U32))
    raise TypeError(f"{dtype} is not packed")


def rounded(dtype: DType, value: ir.Expr) -> ir.Expr:
    """What is read back after `value` was stored as `dtype`."""
    match dtype:
        case DType.F16 | DType.BF16:
            return ir.Op(dtype.label, (value,), DType.F32)
        case DType.U8:
            return ir.Bits("and", (value, const(255)), DType.I32)
        case DType.I8:
            high = ir.Bits("shl", (value, const(24, _U32)), DType.I32)
            return ir.Bits("shr", (high, const(24, _U32)), DType.I32)
    return value


def write_element(
    frame: Frame,
    parameter: tile.TensorParameter,
    coordinates: list[ir.Expr],
    value: ir.Expr,
    span: Span,
) -> None:
    """Stores one element of a 32-bit tensor, or of a packed tensor's shadow."""
    shadow = frame.plan.shadows.get(parameter.name)
    if shadow is not None:
        write_slot(frame, shadow, tuple(coordinates), rounded(parameter.dtype, value), span)
        return
    number = element_number(frame, parameter, coordinates)
    frame.code.emit(ir.StoreElement(frame.tensor_buffer(parameter.name), number, value, True, span))


def read_slot(frame: Frame, slot: Slot, indices: tuple[ir.Expr, ...]) -> ir.Expr:
    word = ir.Load(frame.scratch_buffer(), frame.slot_index(slot, indices))
    if slot.dtype is DType.BOOL:
        return compare("ne", word, const(0, _U32))
    return word if slot.dtype is _U32 else ir.Bits("bitcast", (word,), slot.dtype)


def write_slot(
    frame: Frame, slot: Slot, indices: tuple[ir.Expr, ...], value: ir.Expr, span: Span
) -> None:
    if slot.dtype is DType.BOOL:
        word: ir.Expr = ir.Select(value, const(1, _U32), const(0, _U32))
    else:
        word = value if slot.dtype is _U32 else ir.Bits("bitcast", (value,), _U32)
    index = frame.slot_index(slot, indices)
    frame.code.emit(ir.StoreElement(frame.scratch_buffer(), index, word, False, span))
