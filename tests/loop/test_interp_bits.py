"""The NumPy twins of bit helpers, against NumPy's own types."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilec.loop.interp_bits import BITS, evaluate_bits
from tilec.loop.interp_errors import InterpreterError
from tilec.types import DType

words = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=40).map(lambda each: np.array(each, np.uint32))


@given(words)
def test_16_bit_floats_round_trip(word):
    low = word & 0xFFFF
    for name, dtype in (("f16", np.float16), ("bf16", ml_dtypes.bfloat16)):
        wide = evaluate_bits(f"helper:{name}_to_f32", [word], DType.F32)
        stored = low.astype(np.uint16).view(dtype)
        np.testing.assert_array_equal(wide, stored.astype(np.float32))
        back = evaluate_bits(f"helper:f32_to_{name}", [wide], DType.U32)
        numbers = ~np.isnan(wide)
        np.testing.assert_array_equal(back[numbers], low[numbers])


@given(words)
def test_16_bit_floats_round_as_their_types(word):
    x = word.view(np.float32)
    numbers = ~np.isnan(x)
    with np.errstate(over="ignore"):
        for name, dtype in (("f16", np.float16), ("bf16", ml_dtypes.bfloat16)):
            bits = evaluate_bits(f"helper:f32_to_{name}", [x], DType.U32)
            np.testing.assert_array_equal(bits[numbers], x.astype(dtype).view(np.uint16)[numbers])


@given(words)
def test_integers(word):
    np.testing.assert_array_equal(
        evaluate_bits("helper:i8_to_i32", [word], DType.I32), word.astype(np.uint8).view(np.int8)
    )
    np.testing.assert_array_equal(evaluate_bits("bitcast", [word], DType.I32), word.view(np.int32))


@pytest.mark.parametrize("wide", [0, 5, -5, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, -(2**63)])
def test_i64_saturates(wide):
    low, high = np.array([wide], np.int64).view(np.uint32).reshape(1, 2).T.copy()
    result = evaluate_bits("helper:i64_to_i32", [low, high], DType.I32)
    assert result.tolist() == [min(max(wide, -(2**31)), 2**31 - 1)]


def test_order_key_orders_floats():
    x = np.array([-np.inf, -3.0, -1e-40, -0.0, 0.0, 1e-40, 2.0, np.inf], np.float32)
    keys = evaluate_bits("helper:order_key", [x], DType.I32).tolist()
    assert keys == sorted(keys)
    assert keys[3] == keys[4] == 0
    assert len(set(keys)) == 7


def test_shifts():
    word, four = np.array([0x80000010], np.uint32), np.array([4], np.uint32)
    assert evaluate_bits("shr", [word, four], DType.U32)[0] == 0x08000001
    assert evaluate_bits("shr", [word.view(np.int32), four], DType.I32)[0] == np.int32(-0x7FFFFFF)
    assert evaluate_bits("shl", [word, four], DType.U32)[0] == 0x100


def test_unknown_helper():
    with pytest.raises(InterpreterError, match="helper:none"):
        evaluate_bits("helper:none", [np.zeros(1)], DType.U32)


def test_every_packing_helper_of_the_emitted_code_has_a_twin():
    from tilec.wgsl.helpers import HELPERS

    packing = {name for name in HELPERS if "_to_" in name}
    assert packing <= {name.removeprefix("helper:") for name in BITS}


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_of_a_pair_the_first_is_the_low_half(kind):
    low, high = np.array([1.5, -0.25], np.float32), np.array([-2.0, 8.0], np.float32)
    words = evaluate_bits(f"helper:pack_{kind}", [low, high], DType.U32)
    assert evaluate_bits(f"helper:{kind}_to_f32", [words], DType.F32).tolist() == low.tolist()
    assert evaluate_bits(f"helper:{kind}_high", [words], DType.F32).tolist() == high.tolist()


def test_shifts_count_modulo_32_as_in_wgsl():
    words, amounts = np.array([3, 3, 3], np.uint32), np.array([1, 33, 32], np.uint32)
    assert evaluate_bits("shl", [words, amounts], DType.U32).tolist() == [6, 6, 3]
    assert evaluate_bits("shr", [words, amounts], DType.U32).tolist() == [1, 1, 3]
