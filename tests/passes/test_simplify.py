from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.passes.checks import assert_same, count, floats, outcome
from tests.passes.kernels import row_kernel
from tests.tile.build import SPAN, Builder, dim
from tilec.tile import ir
from tilec.tile.passes.drop_dead import drop_dead
from tilec.tile.passes.simplify import simplify
from tilec.types import DType, TileType, stretch

DIMS = {"M": 5, "V": 3}


def operations(kernel):
    return [value.op for value in kernel.body.body if isinstance(value, ir.Pointwise) and value.type.rank]


def integers(b, x):
    return b.op("i32", b.op("clamp", x, -50.0, 50.0))


LAWS = {
    "x + -0.0": (lambda b, x: b.op("add", x, -0.0), []),
    "-0.0 + x": (lambda b, x: b.op("add", -0.0, x), []),
    "x - 0.0": (lambda b, x: b.op("sub", x, 0.0), []),
    "x * 1.0": (lambda b, x: b.op("mul", x, 1.0), []),
    "1.0 * x": (lambda b, x: b.op("mul", 1.0, x), []),
    "x / 1.0": (lambda b, x: b.op("div_f32", x, 1.0), []),
    "integers": (
        lambda b, x: b.op("f32", b.op("ceildiv", b.op("div", b.op("mul", b.op("add", integers(b, x), 0), 1), 1), 1)),
        ["clamp", "i32", "f32"],
    ),
    "-(-x)": (lambda b, x: b.op("neg", b.op("neg", x)), []),
    "!!c": (lambda b, x: b.op("f32", b.op("not", b.op("not", b.op("gt", x, 0.0)))), ["gt", "f32"]),
    "f16(f16(x))": (lambda b, x: b.op("f16", b.op("f16", x)), ["f16"]),
    "abs(abs(x))": (lambda b, x: b.op("abs", b.op("abs", x)), ["abs"]),
    "max(x, x)": (lambda b, x: b.op("max", x, x), []),
    "c && true": (lambda b, x: b.op("f32", b.op("and", True, b.op("lt", x, 0.0))), ["lt", "f32"]),
    "c || false": (lambda b, x: b.op("f32", b.op("or", b.op("lt", x, 0.0), False)), ["lt", "f32"]),
    "c && c": (
        lambda b, x: (lambda c: b.op("f32", b.op("and", c, c)))(b.op("lt", x, 0.0)),
        ["lt", "f32"],
    ),
    "f32(x)": (lambda b, x: b.op("f32", x), []),
    "where(true, x, 1.0)": (lambda b, x: b.op("where", True, x, 1.0), []),
    "where(false, 1.0, x)": (lambda b, x: b.op("where", False, 1.0, x), []),
    "where(c, x, x)": (lambda b, x: b.op("where", b.op("gt", x, 1.0), x, x), []),
    "where(!c, x, 1.0)": (
        lambda b, x: b.op("where", b.op("not", b.op("gt", x, 1.0)), x, 1.0),
        ["gt", "where"],
    ),
    "Update": (lambda b, x: b.update(b.op("exp", x), b.op("sin", x)), ["sin"]),
    "Broadcast": (lambda b, x: b.broadcast(x, x.type.shape), []),
    "View": (lambda b, x: b.view(x, (0, 1)), []),
    "View of View": (lambda b, x: b.view(b.view(x, (0, None, 1)), (0, 2)), []),
}


@pytest.mark.parametrize("columns", [None, 7])
@pytest.mark.parametrize("law", LAWS)
@given(x=floats(5, 3))
def test_law(law, columns, x):
    build, left = LAWS[law]
    before = row_kernel(build, wide=True, columns=columns)
    after = drop_dead(simplify(before))
    assert operations(after) == left
    assert count(after, ir.View) == count(after, ir.Broadcast) == count(after, ir.Update) == 0
    assert_same(before, after, {"X": x}, DIMS)
    assert simplify(after) is after


NO_LAW = {
    "x + 0.0": lambda b, x: b.op("add", x, 0.0),
    "0.0 - x": lambda b, x: b.op("sub", 0.0, x),
    "x - -0.0": lambda b, x: b.op("sub", x, -0.0),
    "x * 0.0": lambda b, x: b.op("mul", x, 0.0),
    "x * -1.0": lambda b, x: b.op("mul", x, -1.0),
    "1.0 / x": lambda b, x: b.op("div_f32", 1.0, x),
    "x - x": lambda b, x: b.op("sub", x, x),
    "x / x": lambda b, x: b.op("div_f32", x, x),
    "-|x|": lambda b, x: b.op("neg", b.op("abs", x)),
    "f16(bf16(x))": lambda b, x: b.op("f16", b.op("bf16", x)),
    "i32(x)": lambda b, x: b.op("f32", b.op("i32", x)),
    "min(x, 1.0)": lambda b, x: b.op("min", x, 1.0),
    "where(true, 1.0, x), active where x is": lambda b, x: b.op("where", True, 1.0, x),
    "where(true, row, x)": lambda b, x: b.op("where", True, b.reduce("max", x), x),
    "an update of some lanes": lambda b, x: b.update(b.broadcast(b.const(7.0), x.type.shape), x),
    "pad": lambda b, x: b.pad(x, 2.0),
    "exp(exp(x))": lambda b, x: b.op("exp", b.op("exp", x)),
}


@pytest.mark.parametrize("form", NO_LAW)
@given(x=floats(5, 3))
def test_what_is_no_law(form, x):
    before = row_kernel(NO_LAW[form], wide=True)
    after = simplify(before)
    assert after is before
    assert_same(before, after, {"X": x}, DIMS)


def test_a_view_that_drops_an_axis_with_bounds():
    """The bounds of a row that may not exist go to the columns, and a view of the view would leave them at the row: a
    sum over no column is 0, and a sum of a row that does not exist is not stored."""
    b = Builder()
    b.tensor("X", DType.F32, ["M", "V"])
    b.tensor("Out", DType.F32, [1, 1], access="out")
    x = b.load("X", b.span(5, 1), b.span(0, dim("V")), starts=[5])
    columns = TileType(DType.F32, (dim("V"),), (stretch(x.type.active[0]),))
    dropped = b.add(ir.View(columns, SPAN, x, (1,)))
    b.store("Out", b.reduce("sum", b.view(dropped, (None, 0))), b.span(0, 1), b.span(0, 1))
    before = b.kernel()
    after = drop_dead(simplify(before))
    for rows, total in ((4, 0.0), (6, 3.0)):
        tensors = {"X": np.ones((rows, 3), np.float32), "Out": np.full((1, 1), 7.0, np.float32)}
        sizes = {"M": rows, "V": 3}
        assert outcome(before, tensors, sizes)["Out"] == total
        assert_same(before, after, tensors, sizes)
