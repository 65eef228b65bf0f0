from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.passes.checks import SPECIALS, assert_same, count
from tests.tile.build import Builder, dim
from tilec.ops import POINTWISE, Operand, TypeRuleError, apply_rule, reference
from tilec.ops.fold import fold, round_bf16, round_f16, round_f32
from tilec.tile import ir
from tilec.tile.passes.drop_dead import drop_dead
from tilec.tile.passes.fold_constants import fold_constants
from tilec.types import DType

F32, I32, U32, BOOL = DType.F32, DType.I32, DType.U32, DType.BOOL
NUMBERS = {
    F32: st.floats(width=32) | st.sampled_from([round_f32(each) for each in SPECIALS]),
    I32: st.integers(-(2**31), 2**31 - 1) | st.integers(-5, 5) | st.sampled_from([-(2**31), 2**31 - 1]),
    U32: st.integers(0, 2**32 - 1) | st.integers(0, 5),
    BOOL: st.booleans(),
}
EXACT = {"sin", "cos", "tanh", "erf", "exp", "expm1", "log", "log2", "log1p"}


def signatures():
    for name, row in POINTWISE.items():
        for dtype in NUMBERS:
            operands = (BOOL, dtype, dtype) if name == "where" else (dtype,) * row.arity
            try:
                signature = apply_rule(row.rule, [Operand(each) for each in operands])
            except TypeRuleError:
                continue
            if signature.operands == operands:
                yield pytest.param(name, operands, signature.result, id=f"{name} of {dtype}")


@pytest.mark.parametrize(("name", "operands", "result"), list(signatures()))
@given(data=st.data())
def test_as_the_reference_says(name, operands, result, data):
    numbers = tuple(data.draw(NUMBERS[dtype]) for dtype in operands)
    folded = fold(name, numbers, operands[-1])
    if folded is None:
        return
    arrays = [
        np.array([number]).astype(reference.NUMPY_DTYPES[dtype])
        for number, dtype in zip(numbers, operands, strict=True)
    ]
    expected = reference.evaluate(name, *arrays)[0].item()
    assert type(folded) is {F32: float, I32: int, U32: int, BOOL: bool}[result]
    if isinstance(expected, float) and math.isnan(expected):
        assert math.isnan(folded)
    elif name in EXACT:
        assert folded == pytest.approx(expected, rel=2e-7, abs=1e-45)
    else:
        assert repr(folded) == repr(expected) or (name in ("min", "max", "clamp") and folded == expected)


@given(st.floats(width=32))
def test_rounding_to_storage(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    if not math.isnan(x):
        with np.errstate(over="ignore"):
            half = np.float32(x).astype(np.float16)
        assert repr(round_f16(x)) == repr(float(half))
        assert round_bf16(x) == reference.evaluate("bf16", np.array([bits], np.uint32).view(np.float32))[0]
    else:
        assert math.isnan(round_f16(x))
        assert math.isnan(round_bf16(x))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("op", ["f16", "bf16"])
def test_ties_go_to_the_even_neighbour(op, sign):
    step = 2.0 ** (-10 if op == "f16" else -7)
    for units in (0, 1, 2, 3):
        low, high = 1.0 + units * step, 1.0 + (units + 1) * step
        middle = (low + high) / 2
        nearest = {low: low, low + step / 4: low, middle: high if units % 2 else low, high - step / 4: high}
        for value, expected in nearest.items():
            assert fold(op, (sign * value,), F32) == sign * expected
            assert reference.evaluate(op, np.array([sign * value], np.float32)).tolist() == [sign * expected]


@pytest.mark.parametrize("value", [3.4028235677973366e38, 3.4028235677973362e38, -1e300, 1e-50])
def test_rounding_at_the_ends_of_the_range(value):
    with np.errstate(over="ignore"):
        assert round_f32(value) == float(np.float64(value).astype(np.float32))


def start():
    b = Builder()
    b.tensor("X", F32, ["N"])
    b.tensor("Out", F32, ["N"], access="out")
    return b, b.load("X", b.span(0, dim("N")))


def finish(b, value):
    b.store("Out", value, b.span(0, dim("N")))
    before = b.kernel()
    after = drop_dead(fold_constants(before))
    assert_same(before, after, {"X": np.arange(5, dtype=np.float32)}, {"N": 5})
    return after


def test_a_chain_of_constants():
    b, x = start()
    after = finish(b, b.op("mul", x, b.op("add", b.op("mul", 2.0, 3.0), b.op("f32", b.op("gt", 2, 1)))))
    assert count(after, ir.Pointwise) == 1
    assert 7.0 in [value.value for value in after.body.body if isinstance(value, ir.Const)]
    assert fold_constants(after) is after


@pytest.mark.parametrize("condition", [True, False])
def test_a_branch_on_a_constant(condition):
    b, x = start()

    def then():
        (inner,) = b.branch(b.op("not", condition), lambda: [b.op("exp", x)], lambda: [b.op("sin", x)])
        return [b.op("add", inner, 1.0)]

    (result,) = b.branch(b.op("and", condition, True), then, lambda: [b.op("cos", x)])
    after = finish(b, b.op("neg", result))
    assert count(after, ir.If) == count(after, ir.Result) == 0
    assert [value.op for value in after.body.body if isinstance(value, ir.Pointwise)] == (
        ["sin", "add", "neg"] if condition else ["cos", "neg"]
    )


def test_a_loop_of_no_round():
    b, x = start()
    (result,) = b.loop(3, b.op("sub", 4, 2), 1, [x], lambda i, a: [b.op("exp", a)])
    after = finish(b, result)
    assert count(after, ir.For) == 0


def test_a_loop_of_one_round_stays():
    b, x = start()
    (result,) = b.loop(3, 4, 1, [x], lambda i, a: [b.op("exp", a)])
    after = finish(b, result)
    assert count(after, ir.For) == 1


def test_a_branch_inside_a_loop():
    b, x = start()

    def body(index, total):
        (part,) = b.branch(b.const(True), lambda: [b.op("add", total, b.op("f32", index))], lambda: [total])
        return [part]

    (result,) = b.loop(0, 3, 1, [x], body)
    after = finish(b, result)
    assert count(after, ir.If) == 0
    assert count(after, ir.For) == 1


def test_what_stays():
    b, x = start()
    b.scalar("alpha", F32, 2.0)
    alpha = next(value for value in b.stack[0] if isinstance(value, ir.Scalar))
    value = b.op("add", b.op("mul", x, alpha), b.op("log", b.const(0.0)))
    b.store("Out", value, b.span(0, dim("N")))
    before = b.kernel()
    assert fold_constants(before) is before
