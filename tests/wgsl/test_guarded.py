"""Literals that shader compilers would merge or move to where they are rounded away: each result is what the operations
give one after the other. Without `tilec.wgsl.guarded` every device gets some of these wrong."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tilec
from tests.diff.web import WebDevice
from tests.wgsl.programs import LOCAL_INDEX, accepted, store_each
from tilec.loop.ir import Assign, Const, Declare, Expr, Let, Local, Op
from tilec.runtime.device import Device
from tilec.types import DType

SMALL, LARGE = np.float32(1e-9), np.float32(1e30)

# An expression of a and b, their values, and what it is.
CASES: list[tuple[str, float, float, float]] = [
    ("1.0 - a + 1e-9", 1, 0, SMALL),
    ("1e-9 + (1.0 - a)", 1, 0, SMALL),
    ("1e-9 - (a - 1.0)", 1, 0, SMALL),
    ("-(a - 1.0) + 1e-9", 1, 0, SMALL),
    ("(a - b) + 1e-9", 100, 100, SMALL),
    ("(a - b) - 1e-9", 1, 1, -SMALL),
    ("(a - b) * 3.0 + 1e-9", 1, 1, SMALL),
    ("(a - b) / 3.0 + 1e-9", 1, 1, SMALL),
    ("2.0 * (a - 1.0) + 1e-9", 1, 0, SMALL),
    ("b * (a - 1.0) + 1e-9", 1, 3, SMALL),
    ("b * a - b + 1e-9", 1, 1e6, SMALL),
    ("exp(a - b) - 1.0 + 1e-9", 1, 1, SMALL),
    ("(1.0 - a) + (1e-9 - b)", 1, 0, SMALL),
    ("(1.0 - a) - (b - 1e-9)", 1, 0, SMALL),
    ("(1.0 - a) * b + b * 1e-9", 1, 1, SMALL),
    ("b * 1e-9 - (a - 1.0) * b", 1, 1, SMALL),
    ("a * 1e-9 + (1.0 - a)", 1, 0, SMALL),
    ("(a - b * a) + a * 1e-9", 1, 1, SMALL),
    ("(a - 1.0) * 2.0 + (b - 1.0) * 1e-9", 1, 2, SMALL),
    ("where(b > 0.0, a - 1.0, b) + 1e-9", 1, 1, SMALL),
    ("sqrt(a - b) + 1e-9", 1, 1, SMALL),
    ("1e12 * (1.0 - a) - 100.0", 1, 0, -100),
    ("1e12 * (b - a) - 100.0", 1, 1, -100),
    ("log(1.0 - a + 1e-9)", 1, 0, np.log(SMALL)),
    ("0.1 * (a - 0.7)", np.float32(0.7), 0, 0),
    ("(0.7 - a) * 0.3", np.float32(0.7), 0, 0),
    ("(a - 0.7) / 0.3", np.float32(0.7), 0, 0),
    ("a * 1e30 * 1e30", 1e-30, 0, LARGE),
    ("1e30 * -(a * 1e30)", 1e-30, 0, -LARGE),
    ("1e30 * (a * 1e30 + b * 1e30)", 1e-30, 0, LARGE),
    ("a * 1e-30 * 1e-30", 1e30, 0, np.float32(1e-30)),
    ("a / 1e-30 * 1e30", 1e-30, 0, LARGE),
    ("a / 1e30 / 1e30", 1e38, 0, np.float32(1e-22)),
    ("(a * 1e30) * (b * 1e30)", 1e-30, 1e-30, 1),
    ("a * 0.0", np.inf, 0, np.nan),
]


def kernel() -> str:
    lines = []
    for n, (text, *_) in enumerate(CASES):
        for name in "ab":
            text = re.sub(rf"\b{name}\b", f"{name.upper()}[{n}, :]", text)
        lines.append(f"  Out[{n}, :] = {text}")
    parameters = "A: tensor<f32>[K, V], B: tensor<f32>[K, V], Out: tensor<f32>[K, V]"
    return "\n".join([f"kernel run({parameters}) {{", *lines, "}"])


@pytest.fixture(scope="module")
def module() -> tilec.Module:
    return tilec.compile(source=kernel(), name="guarded.ph")


def check(module: tilec.Module, device: Device | str) -> None:
    a, b, right = (np.repeat(np.float32([[case[place]] for case in CASES]), 8, axis=1) for place in (1, 2, 3))
    out = module.kernels["run"](a, b, device=device).Out
    for (text, *_), got, expected in zip(CASES, out, right, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=0, err_msg=text)


def test_literals_stay_where_they_are(module: tilec.Module, device: Device):
    check(module, device)


def test_in_dawn_too(module: tilec.Module, dawn: WebDevice):
    check(module, dawn)


def test_the_interpreter_agrees(module: tilec.Module):
    check(module, "numpy")


# --- text ------------------------------------------------------------------------------------------------------

F32 = DType.F32
X = Op("f32", (LOCAL_INDEX,), F32)


def number(value: float) -> Const:
    return Const(F32, value)


def op(name: str, *operands: Expr) -> Op:
    return Op(name, operands, F32)


def hides(value: Expr, *before: Let | Declare | Assign) -> bool:
    return "hidden(" in accepted(store_each(value, F32, *before)).text


@pytest.mark.parametrize(
    "value",
    [
        op("add", X, number(0.7)),
        op("mul", op("add", X, X), number(0.7)),
        op("add", op("mul", X, X), number(0.7)),
        op("mul", op("sub", X, number(0.7)), number(0.5)),
        op("mul", op("mul", X, number(0.7)), number(1000.0)),
        op("add", op("mul", X, number(0.7)), op("mul", X, number(0.3))),
        op("add", op("exp", op("add", X, X)), number(0.7)),
        op("add", op("add", X, X), number(float("inf"))),
    ],
)
def test_what_loses_nothing_is_left(value: Expr):
    assert not hides(value)


def test_names_hide_nothing():
    """What a local holds counts, and a variable may hold a sum after its loop."""
    local, variable, other = Local("t", F32), Local("v", F32), Local("t", F32)
    assert hides(op("add", local, number(0.7)), Let(local, op("sub", X, X)))
    assert hides(op("add", other, number(0.7)), Let(other, op("neg", op("mul", X, op("sub", X, X)))))
    assert hides(op("add", variable, number(0.7)), Declare(variable, X), Assign(variable, op("sub", X, X)))
    third = Local("t", F32)
    assert not hides(op("add", third, number(0.7)), Let(third, op("mul", X, X)))
