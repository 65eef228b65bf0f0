"""Stores of whole words, and vectors of words, by the lane that owns them."""

from __future__ import annotations

from tilec.loop import ir
from tilec.loop.lower.arith import const
from tilec.loop.lower.frame import Frame
from tilec.loop.lower.memory import element_number, to_bits, vector_number
from tilec.loop.lower.states import tree
from tilec.source import Span
from tilec.tile import ir as tile
from tilec.types import DType

_U32 = DType.U32


def store_granule(
    frame: Frame,
    parameter: tile.TensorParameter,
    coordinates: list[list[ir.Expr]],
    parts: list[tuple[ir.Expr | None, ir.Expr]],
    span: Span,
) -> None:
    """Writes consecutive elements (the first at a word's start), a word at a time.

    `parts` are (condition, value) an element. A word of which some elements may be inactive keeps their old bits.
    """
    elements = parameter.dtype.elements_per_word
    for first in range(0, len(parts), elements):
        _store_word(frame, parameter, coordinates[first], parts[first : first + elements], span)


def _store_word(
    frame: Frame,
    parameter: tile.TensorParameter,
    coordinates: list[ir.Expr],
    parts: list[tuple[ir.Expr | None, ir.Expr]],
    span: Span,
) -> None:
    code, dtype = frame.code, parameter.dtype
    buffer = frame.tensor_buffer(parameter.name)
    width = dtype.size * 8
    if all(condition is None for condition, _ in parts):
        word = _word(dtype, [value for _, value in parts])
        code.emit(ir.StoreElement(buffer, _word_number(frame, parameter, coordinates), word, True, span))
        return
    any_active: ir.Expr | None = None
    for condition, _ in parts:
        if condition is None:
            any_active = None
            break
        any_active = condition if any_active is None else ir.Op("or", (any_active, condition), DType.BOOL)
    with code.when(any_active):
        number = _word_number(frame, parameter, coordinates)
        word = code.declare("word", ir.Load(buffer, number, True))
        for place, (condition, value) in enumerate(parts):
            mask = const(((1 << width) - 1) << (place * width) ^ 0xFFFFFFFF, _U32)
            with code.when(condition):
                bits = ir.Bits("shl", (to_bits(dtype, value), const(place * width, _U32)), _U32)
                code.assign(word, ir.Bits("or", (ir.Bits("and", (word, mask), _U32), bits), _U32))
        code.emit(ir.StoreElement(buffer, number, word, True, span))


def store_vectors(
    frame: Frame, parameter: tile.TensorParameter, coordinates: list[ir.Expr], values: list[ir.Expr], span: Span
) -> None:
    """Writes a granule of consecutive elements, the first at `coordinates`, as whole vectors of four words."""
    dtype = parameter.dtype
    first = element_number(frame, parameter, coordinates)
    words = _words(frame, dtype, values)
    for place in range(0, len(words), 4):
        number = vector_number(frame, dtype, first, place // 4)
        x, y, z, w = words[place : place + 4]
        vector = ir.Vector((x, y, z, w))
        frame.code.emit(ir.StoreElement(frame.tensor_buffer(parameter.name), number, vector, True, span))


def _words(frame: Frame, dtype: DType, values: list[ir.Expr]) -> list[ir.Expr]:
    """The words that hold the values. A bf16 is rounded by arithmetic on its bits, from which NaNs need an exemption:
    one test for all values, by a sum that any of them makes NaN, is less work than one for each."""
    code, per_word = frame.code, dtype.elements_per_word
    several = [values[place : place + per_word] for place in range(0, len(values), per_word)]
    if dtype is not DType.BF16 or not frame.plan.skips_branches or all(isinstance(v, ir.Const) for v in values):
        return [_word(dtype, each) for each in several]
    words = [code.declare("word", const(0, _U32)) for _ in several]
    branches: list[tuple[ir.Statement, ...]] = []
    for helper in ("pack_bf16", "pack_bf16_numbers"):
        with code.block() as body:
            for word, each in zip(words, several, strict=True):
                code.assign(word, ir.Bits(f"helper:{helper}", tuple(each), _U32))
        branches.append(tuple(body))
    may_be_nan = code.let("may_be_nan", ir.Op("isnan", (tree(code, "add", values),), DType.BOOL))
    code.emit(ir.If(may_be_nan, branches[0], branches[1]))
    return list(words)


def store_end(
    frame: Frame,
    parameter: tile.TensorParameter,
    coordinates: list[ir.Expr],
    parts: list[tuple[ir.Expr | None, ir.Expr]],
    span: Span,
) -> None:
    """Writes the active ones of a granule's elements; the others of their vectors keep their bits."""
    code, dtype = frame.code, parameter.dtype
    buffer, per_word = frame.tensor_buffer(parameter.name), dtype.elements_per_word
    first, width = element_number(frame, parameter, coordinates), 32 // per_word
    for start in range(0, len(parts), 4 * per_word):
        several = parts[start : start + 4 * per_word]
        conditions = [condition for condition, _ in several if condition is not None]
        any_active = conditions[0]
        for condition in conditions[1:]:
            any_active = ir.Op("or", (any_active, condition), DType.BOOL)
        with code.when(any_active):
            number = vector_number(frame, dtype, first, start // (4 * per_word))
            old = code.let("old", ir.Load(buffer, number, True))
            words = [code.declare("word", ir.Component(old, index)) for index in range(4)]
            for place, (condition, value) in enumerate(several):
                word, shift = words[place // per_word], place % per_word * width
                with code.when(condition):
                    if per_word == 1:
                        code.assign(word, value)
                        continue
                    mask = const(((1 << width) - 1) << shift ^ 0xFFFFFFFF, _U32)
                    bits = ir.Bits("shl", (to_bits(dtype, value), const(shift, _U32)), _U32)
                    code.assign(word, ir.Bits("or", (ir.Bits("and", (word, mask), _U32), bits), _U32))
            x, y, z, w = words
            code.emit(ir.StoreElement(buffer, number, ir.Vector((x, y, z, w)), True, span))


def _word_number(frame: Frame, parameter: tile.TensorParameter, coordinates: list[ir.Expr]) -> ir.Expr:
    number = element_number(frame, parameter, coordinates)
    shift = parameter.dtype.elements_per_word.bit_length() - 1
    return frame.code.let("word", ir.Bits("shr", (number, const(shift, _U32)), _U32))


def _word(dtype: DType, values: list[ir.Expr]) -> ir.Expr:
    """The word that holds as many values of the dtype as fit, the first lowest."""
    if dtype.elements_per_word == 1:
        return values[0]
    if dtype in (DType.F16, DType.BF16):
        return ir.Bits(f"helper:pack_{dtype.label}", tuple(values), _U32)
    word = to_bits(dtype, values[0])
    for place, value in enumerate(values[1:], 1):
        bits = ir.Bits("shl", (to_bits(dtype, value), const(place * dtype.size * 8, _U32)), _U32)
        word = ir.Bits("or", (word, bits), _U32)
    return word
