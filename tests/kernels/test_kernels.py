"""Whole kernels, as users write them, against their float64 twins on every execution."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import ml_dtypes
import numpy as np
import pytest

import tilec
from tests.kernels.cases_tensors import CASES, Case
from tests.reference.execution import DTYPES, EXECUTIONS, assert_within, bits

HERE = Path(__file__).parent
# What the tests of conversions run, beside the table
CONVERSIONS = {"cast_float", "cast_integer", "round_to_integer", "narrow"}
INTEGERS = {"i32": np.int32, "u32": np.uint32, "i8": np.int8, "u8": np.uint8}

each_execution = pytest.mark.parametrize("execution", EXECUTIONS)


@cache
def module(file: str) -> Any:
    return tilec.compile(HERE / file)


def _launches() -> list:
    launches = []
    for case in CASES:
        for dtype in case.dtypes:
            for number, scalars in enumerate(case.scalars):
                for sizes in case.sizes:
                    shape = "x".join(str(size) for size in sizes.values())
                    name = f"{case.kernel}{number or ''}-{dtype}-{shape}"
                    launches += [
                        pytest.param(case, dtype, scalars, sizes, device, id=f"{name}-{device}")
                        for device in EXECUTIONS
                    ]
    return launches


@pytest.mark.parametrize(("case", "dtype", "scalars", "sizes", "execution"), _launches())
def test_kernel_agrees_with_its_twin(case: Case, dtype: str, scalars: dict, sizes: dict, execution: str):
    rng = np.random.default_rng([crc32(case.kernel.encode()), *sizes.values()])
    given = {**case.draw(rng, sizes, dtype), **scalars}
    before = {name: np.copy(value) for name, value in given.items()}
    result = module(case.file)[case.kernel](**given, device=execution)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = case.twin(given)
    for name, (value, error) in expected.items():
        assert_within(result[name], value, error, f"{case.kernel}: {name}")
    for name, value in before.items():
        assert np.asarray(given[name]).tobytes() == value.tobytes(), f"{name} was modified"


def special_floats(dtype: str) -> np.ndarray:
    """Numbers at which a conversion may go wrong: halfway cases, subnormals of 16 bits, overflow, infinities, NaN."""
    rng = np.random.default_rng(3)
    near = rng.standard_normal(600) * 2.0 ** rng.integers(-30, 18, 600)
    halves = (1 + np.arange(-40, 40) / 2.0**12) * 2.0 ** rng.integers(-12, 12, 80)
    limits = [0.0, -0.0, 65504.0, 65519.0, 65520.0, 70000.0, -65520.0, 3.38e38, 3.4e38, -3.4e38]
    tiny = [2.0**-24, 2.0**-25, 1.5 * 2.0**-25, 2.0**-26, 6e-8, -6e-8, 2.0**-14, 2.0**-126]
    special = [np.inf, -np.inf, np.nan]
    with np.errstate(over="ignore"):
        return np.concatenate([near, halves, limits, tiny, special]).astype(np.float32).astype(DTYPES[dtype])


@each_execution
@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
def test_float_conversions_round_to_nearest_even(source: str, target: str, execution: str):
    values = special_floats(source)
    got = module("storage.ph").cast_float(values, dtypes={"B": target}, device=execution).B
    with np.errstate(over="ignore"):
        expected = values.astype(np.float32).astype(DTYPES[target])
    assert got.dtype == expected.dtype
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(got), ~number)
    np.testing.assert_array_equal(bits(got)[number], bits(expected)[number])


@each_execution
@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integers_keep_their_low_bits(source: str, target: str, execution: str):
    edges = np.array([0, 1, -1, 127, 128, 255, 256, -128, -129, 2**31 - 1, -(2**31), 12345678, -7], np.int64)
    values = np.concatenate([edges, np.random.default_rng(1).integers(-(2**31), 2**31, 1000)])
    got = module("storage.ph").cast_integer(values.astype(INTEGERS[source]), dtypes={"B": target}, device=execution).B
    np.testing.assert_array_equal(got, values.astype(INTEGERS[source]).astype(INTEGERS[target]))


@each_execution
@pytest.mark.parametrize("target", ["i32", "i8", "u8"])
def test_floats_to_integers(target: str, execution: str):
    values = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1e10, -1e10, np.inf, -np.inf, np.nan, 3.49, 200.2], np.float32)
    got = module("storage.ph").round_to_integer(values, dtypes={"B": target}, device=execution).B
    whole = np.array([0, 2, 2, 0, -2, 2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 0, 3, 200], np.int64)
    np.testing.assert_array_equal(got, whole.astype(INTEGERS[target]))


@each_execution
def test_wide_integers_saturate(execution: str):
    values = np.array([0, -1, 5, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**40, -(2**63), 2**63 - 1], np.int64)
    result = module("storage.ph").narrow(values, device=execution)
    np.testing.assert_array_equal(result.B, np.clip(values, -(2**31), 2**31 - 1).astype(np.int32))
    np.testing.assert_array_equal(result.Negative, values < 0)


@each_execution
def test_copy_of_a_step_is_the_rounded_weight(execution: str):
    case = next(case for case in CASES if case.kernel == "adamw")
    given = {**case.draw(np.random.default_rng(0), {"N": 2000}, "f32"), **case.scalars[0]}
    result = module(case.file).adamw(**given, device=execution)
    np.testing.assert_array_equal(bits(result.Copy), bits(result.P.astype(ml_dtypes.bfloat16)))


def test_every_kernel_is_in_the_table():
    names = set()
    for path in HERE.glob("*.ph"):
        names |= set(re.findall(r"^kernel (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    assert names == {case.kernel for case in CASES} | CONVERSIONS
