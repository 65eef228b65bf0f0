"""Rows and helper functions on every WGSL implementation at hand, against their NumPy meaning and error bound."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.diff import backends
from tests.diff.web import dawn_device
from tests.ops.device_ops import run_expression, run_row
from tilec.ops import POINTWISE, Operand, TypeRuleError, apply_rule
from tilec.ops.reference import NUMPY_DTYPES, bf16_bits, bf16_from_bits, evaluate
from tilec.types import DType

F32, I32, U32, BOOL = COMPUTE = (DType.F32, DType.I32, DType.U32, DType.BOOL)

SPECIAL = {
    F32: [
        0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -3.0, 1.1754944e-38, 3.4028235e38, -3.4028235e38, np.inf, -np.inf,
        np.nan, 88.7, 88.73, -87.0, -104.0, 127.9, 128.0, -150.0, 65519.0, 65520.0, 2147483648.0, -2147483648.0,
        4294967296.0, 16777217.0, 0.1, 2.5,
    ],
    I32: [0, 1, -1, 2, -2, 7, -7, 64, 2**31 - 1, -(2**31), -(2**31) + 1, 65536, 46341],
    U32: [0, 1, 2, 7, 2**31 - 1, 2**31, 2**32 - 1, 65536],
    BOOL: [False, True],
}  # fmt: skip

CASES = []
for _row in POINTWISE.values():
    for _dtypes in itertools.product(COMPUTE, repeat=_row.arity):
        try:
            _signature = apply_rule(_row.rule, [Operand(dtype) for dtype in _dtypes])
        except TypeRuleError:
            continue
        if _signature.operands == _dtypes:
            CASES.append(pytest.param(_row, _signature, id=f"{_row.name}-{'-'.join(map(str, _dtypes))}"))


@pytest.fixture(scope="module", params=[*backends.DEVICE_NAMES, "dawn"])
def device(request):
    """naga on each driver, and Tint's code on one."""
    if request.param == "dawn":
        return dawn_device(backends.DEVICE_NAMES[0])
    return backends.open_device(request.param)


def ulps_of(reference):
    """The size of a unit in the last place of each, normal numbers' at least."""
    return np.maximum(np.spacing(np.abs(reference)).astype(np.float64), 2.0**-149)


def flushed(array):
    """Subnormals as 0, which WGSL allows."""
    if array.dtype != np.float32:
        return array
    return np.where(np.abs(array) < np.finfo(np.float32).tiny, np.float32(0), array)


def assert_within(row, operands, actual, reference):
    """Equal, or within the row's bound of the exact result (the reference is off by at most half a unit)."""
    assert actual.dtype == reference.dtype
    if reference.dtype != np.float32:
        np.testing.assert_array_equal(actual, reference)
        return
    with np.errstate(all="ignore"):
        bound = row.bound
        names = dict(zip("xyz", (each.astype(np.float64) for each in operands), strict=False))
        names |= {"r": reference.astype(np.float64), "abs": np.abs, "min": np.minimum, "log2": np.log2}
        growth = bound.growth * eval(bound.growth_of, {"__builtins__": {}}, names) if bound.growth else 0.0
        is_exact = not (bound.ulps or bound.absolute or bound.growth)
        ulps = bound.ulps + growth + (0.0 if is_exact else 0.5)
        allowed = np.maximum(np.nan_to_num(ulps, nan=np.inf) * ulps_of(reference), bound.absolute)
        allowed = np.maximum(allowed, 0.0 if is_exact else 1.2e-38)
        error = np.abs(actual.astype(np.float64) - reference.astype(np.float64))
        same = (actual == reference) | (np.isnan(actual) & np.isnan(reference))
        close = np.isfinite(actual) & np.isfinite(reference) & (error <= allowed)
        subnormal = (flushed(actual) == 0) & (flushed(reference) == 0)
        wrong = ~(same | close | subnormal)
    where = np.flatnonzero(wrong)
    shown = [(tuple(each[i] for each in operands), actual[i], reference[i]) for i in where[:5]]
    assert not len(where), f"{row.name}: {len(where)} lanes are off: {shown}"


def spread(domain, rng, count):
    """Half of the numbers even over the domain, half even over its magnitudes."""
    even = rng.uniform(domain.low, domain.high, count)
    least = np.log(max(domain.low, 1e-30))
    sizes = np.exp(rng.uniform(least, np.log(max(abs(domain.low), abs(domain.high))), count))
    if domain.low <= 0:
        sizes *= rng.choice([-1, 1], count)
    return np.clip(np.where(rng.random(count) < 0.5, even, sizes), domain.low, domain.high).astype(np.float32)


def drawn(row, dtypes, rng, count):
    operands = []
    for dtype, domain in zip(dtypes, row.domain, strict=True):
        if dtype is F32:
            operands.append(spread(domain, rng, count))
        elif dtype is BOOL:
            operands.append(rng.random(count) < 0.5)
        else:
            limits = np.iinfo(NUMPY_DTYPES[dtype])
            wide = rng.integers(limits.min, limits.max, count, NUMPY_DTYPES[dtype], endpoint=True)
            small = rng.integers(0, 20, count).astype(NUMPY_DTYPES[dtype])
            operands.append(np.where(rng.random(count) < 0.5, wide, small))
    return operands


def grid(dtypes):
    """Every combination of special values."""
    lists = [np.array(SPECIAL[dtype], NUMPY_DTYPES[dtype]) for dtype in dtypes]
    if len(dtypes) == 3:
        lists = [each[:15] for each in lists]
    return [each.ravel() for each in np.meshgrid(*lists)]


@pytest.mark.parametrize(("row", "signature"), CASES)
def test_values_are_within_the_bound(device, row, signature):
    rng = np.random.default_rng(len(row.name))
    operands = drawn(row, signature.operands, rng, 20_000)
    actual = run_row(device, row, operands, signature.operands, signature.result)
    assert_within(row, operands, actual, evaluate(row.name, *operands))


@pytest.mark.parametrize(
    ("row", "signature"), [case for case in CASES if case.values[0].special == "guarded"]
)
def test_special_values_are_numpys(device, row, signature):
    operands = grid(signature.operands)
    actual = run_row(device, row, operands, signature.operands, signature.result)
    reference = evaluate(row.name, *operands)
    if reference.dtype == np.float32:
        # Beyond the domain the error may grow, but what is special must be, and nothing else.
        with np.errstate(all="ignore"):
            is_close = np.isclose(actual, reference, rtol=1e-4, atol=1.2e-38, equal_nan=True)
    else:
        is_close = actual == reference
    wrong = np.flatnonzero(~is_close)
    assert not len(wrong), [(tuple(each[i] for each in operands), actual[i], reference[i]) for i in wrong[:5]]


FLOATS = st.floats(width=32, allow_subnormal=False)
GUARDED_FLOATS = [row.name for row in POINTWISE.values() if row.special == "guarded" and F32 in row.wgsl]


@settings(max_examples=20)
@given(data=st.data())
@pytest.mark.parametrize("name", GUARDED_FLOATS)
def test_any_floats(devices, name, data):
    row = POINTWISE[name]
    dtypes = [BOOL if row.rule == "where" and place == 0 else F32 for place in range(row.arity)]
    signature = apply_rule(row.rule, [Operand(dtype) for dtype in dtypes])
    operands = []
    for dtype in signature.operands:
        values = st.booleans() if dtype is BOOL else FLOATS
        operands.append(np.array(data.draw(st.lists(values, min_size=8, max_size=8)), NUMPY_DTYPES[dtype]))
    reference = evaluate(name, *operands)
    for each in devices:
        actual = run_row(each, row, operands, signature.operands, signature.result)
        if reference.dtype == np.float32:
            np.testing.assert_array_equal(np.isnan(actual), np.isnan(reference), str(operands))
            if row.bound.growth == 0:
                assert_within(row, operands, actual, reference)
        else:
            np.testing.assert_array_equal(actual, reference, str(operands))


# --- packing -------------------------------------------------------------------------------------------------

ALL_16 = np.arange(65536, dtype=np.uint32)


def test_every_f16_is_widened_exactly(device):
    actual = run_expression(device, "bitcast<u32>(f16_to_f32(x))", ["f16_to_f32"], [ALL_16], [U32], U32)
    expected = ALL_16.astype(np.uint16).view(np.float16).astype(np.float32)
    is_nan = np.isnan(expected)
    np.testing.assert_array_equal(actual[~is_nan], expected.view(np.uint32)[~is_nan])
    assert np.isnan(actual[is_nan].view(np.float32)).all()


def test_every_bf16_is_widened_exactly(device):
    actual = run_expression(device, "bitcast<u32>(bf16_to_f32(x))", ["bf16_to_f32"], [ALL_16], [U32], U32)
    expected = bf16_from_bits(ALL_16.astype(np.uint16))
    # A subnormal may be flushed on its way through a float.
    is_plain = np.isfinite(expected) & (np.abs(expected) >= np.finfo(np.float32).tiny)
    np.testing.assert_array_equal(actual[is_plain], expected.view(np.uint32)[is_plain])
    assert (np.isnan(actual.view(np.float32)) == np.isnan(expected)).all()


def around(widened):
    """Every number, the midpoints to its neighbours and the floats just beside both, either sign."""
    numbers = np.sort(widened[np.isfinite(widened) & (widened >= 0)]).astype(np.float64)
    middles = ((numbers[:-1] + numbers[1:]) / 2).astype(np.float32)
    more = np.array([65519.996, 65520, 1e6, np.inf], np.float32)
    points = np.concatenate([numbers.astype(np.float32), middles, more])
    near = np.concatenate([points, np.nextafter(points, np.float32(np.inf)), np.nextafter(points, np.float32(0))])
    return np.concatenate([near, -near, np.array([np.nan], np.float32)]).astype(np.float32)


@pytest.mark.parametrize("name", ["f16_high", "bf16_high"])
def test_of_two_halves_the_high_one_is_widened(device, name):
    """Whatever the low half holds, none of it shows."""
    numbers = np.array([1.0, -2.5, 0.15625, -1.9921875], np.float32)
    halves = numbers.astype(np.float16).view(np.uint16) if name == "f16_high" else numbers.view(np.uint32) >> 16
    words = (halves.astype(np.uint32)[:, None] << 16 | np.arange(1, 65536, 257, dtype=np.uint32)).ravel()
    actual = run_expression(device, f"{name}(x)", [name], [words], [U32], F32)
    np.testing.assert_array_equal(actual, np.repeat(numbers, len(words) // 4))


@pytest.mark.parametrize("name", ["pack_f16", "pack_bf16", "pack_bf16_numbers"])
def test_two_numbers_are_rounded_into_their_halves(device, name):
    """Ties, numbers just beside them and, where they may come, NaNs: each in both halves beside each."""
    base = np.array([1.0, -1.0, 1e-3, 300.0], np.float32).view(np.uint32)[:, None] & 0xFFFF0000
    ends = np.array([0, 0x1000, 0x3000, 0x7FFF, 0x8000, 0x8001, 0x18000, 0xFFFF], np.uint32)
    numbers = (base + ends).ravel().view(np.float32)
    if name != "pack_bf16_numbers":
        numbers = np.concatenate([numbers, np.array([0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)])
    low, high = (each.ravel() for each in np.meshgrid(numbers, numbers))
    words = run_expression(device, f"{name}(x, y)", [name], [low, high], [F32, F32], U32)
    for half, number in ((words & 0xFFFF, low), (words >> 16, high)):
        is_nan = np.isnan(number)
        if name == "pack_f16":
            got, expected = half.astype(np.uint16).view(np.float16), number.astype(np.float16)
        else:
            got, expected = bf16_from_bits(half.astype(np.uint16)), bf16_from_bits(bf16_bits(number))
        np.testing.assert_array_equal(got[~is_nan], expected[~is_nan])
        assert np.isnan(got[is_nan]).all()


def test_every_midpoint_is_rounded_to_even_f16(device):
    points = around(ALL_16.astype(np.uint16).view(np.float16).astype(np.float32))
    points = points[~((flushed(points) == 0) & (points != 0))]
    actual = run_expression(device, "f32_to_f16(x)", ["f32_to_f16"], [points], [F32], U32)
    with np.errstate(over="ignore"):
        expected = points.astype(np.float16)
    is_nan = np.isnan(points)
    np.testing.assert_array_equal(actual[~is_nan], expected.view(np.uint16)[~is_nan])
    assert np.isnan(actual[is_nan].astype(np.uint16).view(np.float16)).all()
    assert (actual < 65536).all()


def test_every_midpoint_is_rounded_to_even_bf16(device):
    points = around(bf16_from_bits(ALL_16.astype(np.uint16)))
    points = points[~((flushed(points) == 0) & (points != 0))]
    actual = run_expression(device, "f32_to_bf16(x)", ["f32_to_bf16"], [points], [F32], U32)
    is_nan = np.isnan(points)
    np.testing.assert_array_equal(actual[~is_nan], bf16_bits(points)[~is_nan])
    assert np.isnan(bf16_from_bits(actual[is_nan].astype(np.uint16))).all()
    assert (actual < 65536).all()


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_every_midpoint_is_rounded_to_even_and_widened(device, name):
    every = ALL_16.astype(np.uint16)
    points = around(every.view(np.float16).astype(np.float32) if name == "f16" else bf16_from_bits(every))
    points = points[~((flushed(points) == 0) & (points != 0)) & ~np.isnan(points)]
    actual = run_expression(device, f"round_{name}(x)", [f"round_{name}"], [points], [F32], F32)
    with np.errstate(over="ignore"):
        expected = points.astype(np.float16).astype(np.float32) if name == "f16" else bf16_from_bits(bf16_bits(points))
    np.testing.assert_array_equal(actual, expected)


def test_bf16_rounding_is_that_of_ml_dtypes():
    from ml_dtypes import bfloat16

    points = around(bf16_from_bits(ALL_16.astype(np.uint16)))
    points = points[~np.isnan(points)]
    np.testing.assert_array_equal(bf16_bits(points), points.astype(bfloat16).view(np.uint16))


def test_i64_saturates(device):
    edges = [0, 1, -1, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**32, -(2**32), 2**63 - 1, -(2**63)]
    values = np.concatenate([np.array(edges, np.int64), np.random.default_rng(0).integers(-(2**34), 2**34, 4000)])
    words = values.view(np.uint32).reshape(-1, 2)
    low, high = np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1])
    actual = run_expression(device, "i64_to_i32(x, y)", ["i64_to_i32"], [low, high], [U32, U32], I32)
    np.testing.assert_array_equal(actual, np.clip(values, -(2**31), 2**31 - 1))


def test_i8_keeps_its_sign(device):
    words = np.arange(65536, dtype=np.uint32)
    actual = run_expression(device, "i8_to_i32(x)", ["i8_to_i32"], [words], [U32], I32)
    np.testing.assert_array_equal(actual, words.astype(np.uint8).view(np.int8).astype(np.int32))


@pytest.mark.parametrize(("name", "tolerance"), [("sin", 4e-7), ("cos", 4e-7)])
def test_trigonometry_of_any_size(device, name, tolerance):
    rng = np.random.default_rng(3)
    sizes = rng.uniform(1, 2, 50_000) * 2.0 ** rng.integers(-20, 127, 50_000)
    x = (sizes * rng.choice([-1, 1], 50_000)).astype(np.float32)
    actual = run_row(device, POINTWISE[name], [x], [F32], F32)
    np.testing.assert_allclose(actual, evaluate(name, x), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("name", "function"), [("log", np.log), ("log2", np.log2)])
def test_logarithms_of_subnormal_numbers_are_right_or_those_of_0(device, name, function):
    words = np.array([1, 2, 0x1234, 0x3FFFFF, 0x400000, 0x600000, 0x7FFFFF, 0x800000], np.uint32)
    actual = run_expression(device, f"{name}_f32(bitcast<f32>(x))", [f"{name}_f32"], [words], [U32], F32)
    expected = function(words.astype(np.float64) * 2.0**-149)
    assert (np.isclose(actual, expected, rtol=3e-7, atol=0) | ((words < 0x800000) & (actual == -np.inf))).all(), actual


def test_expm1_of_the_least_normal_numbers_is_the_number(device):
    """Half of one is subnormal, and may be flushed to 0: no step may go by it."""
    x = np.array([1.1754944e-38, 1.5e-38, -2.2e-38, 2.4e-38], np.float32)
    np.testing.assert_allclose(run_row(device, POINTWISE["expm1"], [x], [F32], F32), x, rtol=4e-7)
