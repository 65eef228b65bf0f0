"""Operators beside each other, and expressions of any size: what is printed is what is meant."""

from __future__ import annotations

import numpy as np
import pytest

from tests.wgsl.programs import (
    LOCAL_INDEX,
    THREADS,
    accepted,
    evaluate,
    i32,
    out_buffer,
    program,
    run,
    store_each,
)
from tilec.loop.ir import (
    Bits,
    Const,
    Expr,
    Op,
    Select,
    StoreElement,
    Uniform,
    UniformField,
)
from tilec.types import DType
from tilec.wgsl.emit import emit

F32, I32, U32, BOOL = DType.F32, DType.I32, DType.U32, DType.BOOL


def const(dtype: DType, value: float) -> Const:
    return Const(dtype, value)


# --- grammar ---------------------------------------------------------------------------------------------------

_I32_INFIX = ["add", "sub", "mul", "div", "rem"]
_BITS = ["and", "or", "xor", "shl", "shr"]
_RELATIONS = ["eq", "ne", "lt", "le", "gt", "ge"]


def test_every_pair_of_operators_parses_and_keeps_its_meaning(lavapipe):
    """Each operator inside each other one, on both sides: WGSL's grammar has pairs without any precedence."""
    x, y, z = (Bits("and", (i32(LOCAL_INDEX), const(I32, mask)), I32) for mask in (7, 13, 21))

    def binary(name: str, a: Expr, b: Expr) -> Expr:
        if name in _BITS:
            b = Bits("bitcast", (Bits("and", (b, const(I32, 3)), I32),), U32) if name in ("shl", "shr") else b
            return Bits(name, (a, b), I32)
        if name in _RELATIONS:
            return Select(Op(name, (a, b), BOOL), const(I32, 1), const(I32, 0))
        return Op(name, (a, b), I32)

    names = [*_I32_INFIX, *_BITS, *_RELATIONS]
    out = out_buffer(I32)
    body, expected = [], []
    values = [np.arange(THREADS, dtype=np.int64) & mask for mask in (7, 13, 21)]
    for outer in names:
        for inner in names:
            for is_left in (True, False):
                part = binary(inner, x, y)
                whole = binary(outer, part, z) if is_left else binary(outer, z, part)
                place = Op("add", (i32(LOCAL_INDEX), const(I32, THREADS * len(expected))), I32)
                body.append(StoreElement(out, place, whole))
                inside = _meaning(inner, values[0], values[1])
                pair = (inside, values[2]) if is_left else (values[2], inside)
                expected.append(_meaning(outer, *pair))
    got = run(lavapipe, program(body, [out]), {"Out": np.zeros(THREADS * len(expected), np.int32)})["Out"]
    np.testing.assert_array_equal(got, np.concatenate(expected).astype(np.int32))


def _meaning(name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    safe = np.where(b == 0, 1, b)
    quotient = np.where(b == 0, a, np.sign(a) * np.sign(safe) * (np.abs(a) // np.abs(safe)))
    match name:
        case "add" | "sub" | "mul":
            result = {"add": a + b, "sub": a - b, "mul": a * b}[name]
        case "div":
            result = quotient
        case "rem":
            result = np.where(b == 0, 0, a - b * quotient)
        case "and" | "or" | "xor":
            result = {"and": a & b, "or": a | b, "xor": a ^ b}[name]
        case "shl" | "shr":
            result = a << (b & 3) if name == "shl" else a >> (b & 3)
        case _:
            compare = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}
            result = compare[name].astype(np.int64)
    return result.astype(np.int32).astype(np.int64)


def test_logical_chains_mix_only_with_parentheses(lavapipe):
    a = Op("lt", (LOCAL_INDEX, const(U32, 32)), BOOL)
    b = Op("gt", (LOCAL_INDEX, const(U32, 16)), BOOL)
    c = Op("eq", (Bits("and", (LOCAL_INDEX, const(U32, 1)), U32), const(U32, 0)), BOOL)
    value = Op("or", (Op("and", (Op("and", (a, b), BOOL), c), BOOL), Op("not", (Op("or", (a, c), BOOL),), BOOL)), BOOL)
    i = np.arange(THREADS)
    expected = ((i < 32) & (i > 16) & (i % 2 == 0)) | ~((i < 32) | (i % 2 == 0))
    np.testing.assert_array_equal(evaluate(lavapipe, value, BOOL), expected)


def test_comparisons_as_arguments_are_no_templates():
    """`f(a < b, c > d)` would be read as `f(a<b, c>(d))`."""
    less = Op("lt", (LOCAL_INDEX, const(U32, 3)), BOOL)
    more = Op("gt", (LOCAL_INDEX, const(U32, 5)), BOOL)
    shift = Op("lt", (LOCAL_INDEX, Bits("shr", (LOCAL_INDEX, const(U32, 1)), U32)), BOOL)
    accepted(store_each(Select(less, Op("u32", (more,), U32), Op("u32", (shift,), U32)), U32))
    accepted(store_each(Select(Op("and", (less, more), BOOL), more, shift), BOOL))
    accepted(store_each(Op("where", (more, less, shift), BOOL), BOOL))
    accepted(store_each(Op("where", (less, more, shift), BOOL), BOOL))


def test_a_choice_is_of_the_type_of_what_is_chosen(lavapipe):
    less = Op("lt", (LOCAL_INDEX, const(U32, 3)), BOOL)
    chosen = Op("where", (less, i32(LOCAL_INDEX), const(I32, -7)), I32)
    assert evaluate(lavapipe, chosen, I32).tolist() == [0, 1, 2] + [-7] * (THREADS - 3)


def test_remainders_of_unsigned_sums_and_products(lavapipe):
    """Of u32 alone the remainder is an operator."""
    i, lanes = LOCAL_INDEX, np.arange(THREADS, dtype=np.uint32)

    def remainder(a: Expr, b: Expr) -> Expr:
        return Op("rem", (a, b), U32)

    five, seven = const(U32, 5), const(U32, 7)
    for value, expected in (
        (remainder(Op("add", (i, five), U32), seven), (lanes + 5) % 7),
        (remainder(Op("mul", (i, five), U32), seven), lanes * 5 % 7),
        (Op("mul", (five, remainder(i, seven)), U32), 5 * (lanes % 7)),
        (remainder(seven, Op("add", (i, five), U32)), 7 % (lanes + 5)),
        (remainder(const(U32, 60), remainder(i, seven)), np.where(lanes % 7 == 0, 0, 60 % np.maximum(lanes % 7, 1))),
        (Op("sub", (remainder(i, seven), remainder(i, five)), U32), lanes % 7 - lanes % 5),
    ):
        np.testing.assert_array_equal(evaluate(lavapipe, value, U32), expected)


def test_the_sign_of_a_quotient_is_not_that_of_its_dividend(lavapipe):
    """The lowest integer is its own negative: `-x / 2` of it is negative, `-(x / 2)` is not."""
    x = i32(Op("add", (LOCAL_INDEX, const(U32, 2**31)), U32))
    value = Op("neg", (Op("div", (x, const(I32, 2)), I32),), I32)
    expected = -np.trunc((np.arange(THREADS) - 2.0**31) / 2)
    np.testing.assert_array_equal(evaluate(lavapipe, value, I32), expected)


@pytest.mark.parametrize("flag", [False, True])
def test_a_flag_is_an_operand_as_any_other_bool(lavapipe, flag):
    """It is a number in memory, so that its text is a comparison."""
    field = UniformField("flag", BOOL, scalar="flag")
    is_low = Op("lt", (LOCAL_INDEX, const(U32, 3)), BOOL)
    low = np.arange(THREADS) < 3
    for value, expected in (
        (Op("not", (Uniform(field),), BOOL), np.full(THREADS, not flag)),
        (Op("eq", (Uniform(field), is_low), BOOL), low == flag),
        (Op("ne", (is_low, Uniform(field)), BOOL), low != flag),
        (Op("and", (Uniform(field), is_low), BOOL), low & flag),
        (Op("or", (is_low, Op("not", (Uniform(field),), BOOL)), BOOL), low | (not flag)),
    ):
        start = {"Out": np.zeros(THREADS, np.uint32)}
        got = run(lavapipe, store_each(value, BOOL, uniforms=[field]), start, scalars={"flag": flag})["Out"]
        np.testing.assert_array_equal(got, expected)


# --- size ------------------------------------------------------------------------------------------------------


def test_deep_expressions_are_cut(lavapipe):
    value: Expr = LOCAL_INDEX
    for _ in range(5000):
        value = Op("add", (const(U32, 1), value), U32)
    np.testing.assert_array_equal(evaluate(lavapipe, value, U32), np.arange(THREADS) + 5000)


def test_shared_parts_are_written_once(lavapipe):
    value: Expr = LOCAL_INDEX
    for _ in range(200):
        value = Op("add", (value, value), U32)
    text = emit(store_each(value, U32))
    assert len(text) < 20_000
    np.testing.assert_array_equal(evaluate(lavapipe, value, U32), np.zeros(THREADS))
