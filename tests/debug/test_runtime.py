"""What `compile(debug=True)` shows, on a device and interpreted: errors, warnings, lines, unwritten elements."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tilec
from tests.debug.harness import Case, build, told
from tests.diff import backends
from tests.diff.harness import open_device
from tilec.runtime import debug

LAVAPIPE = backends.DEVICE_NAMES[0]


@pytest.fixture(params=["numpy", LAVAPIPE])
def device(request):
    return "numpy" if request.param == "numpy" else open_device(request.param)


def noticed(kernel, *arguments, **named):
    """The result of a call, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = kernel(*arguments, **named)
    return result, [str(one.message) for one in caught if issubclass(one.category, tilec.DebugWarning)]


def test_an_assert_shows_its_line_and_the_values(device, capsys):
    text = """
fn half(x, limit) {
  assert x < limit, "too large to halve"
  return 0.5 * x
}

kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, V]) {
  let r = ctx.block.x * 2
  print("row", r)
  B[r :+ 2, :] = half(A[r :+ 2, :], 4.0)
}
"""
    kernel = tilec.compile(source=text, name="half.ph", debug=True).k
    with pytest.raises(tilec.DebugError) as caught:
        kernel(np.arange(6, dtype=np.float32).reshape(3, 2), device=device)
    assert (
        str(caught.value)
        == """\
error[assert]: k: too large to halve
  --> half.ph:10:18
   |
10 |   B[r :+ 2, :] = half(A[r :+ 2, :], 4.0)
   |                  ^^^^^^^^^^^^^^^^^^^^^^^ in this call
  ::: half.ph:3:3 (in `half`, called there)
   |
 3 |   assert x < limit, "too large to halve"
   |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ does not hold in 2 elements
    [0, 0] in block 1: x = 4, limit = 4
    [0, 1] in block 1: x = 5, limit = 4"""
    )
    assert caught.value.results.B.tolist() == [[0, 0.5], [1, 1.5], [2, 2.5]]
    assert capsys.readouterr().out == "row in block 0 = 0\nrow in block 1 = 2\n"
    result = kernel(np.ones((3, 2), np.float32), device=device)
    assert result.B.tolist() == [[0.5, 0.5]] * 3


def test_where_a_nan_comes_from(device):
    text = """
kernel k(A: tensor<f32>[N], B: tensor<f32>[N], C: tensor<f32>[N]) {
  let a = A[:]
  let hidden = where(a > 0.0, log(a), 0.0)
  let root = sqrt(a - 1.0)
  C[:] = hidden
  B[:] = root + 1.0
}
"""
    kernel = tilec.compile(source=text, name="root.ph", debug=True).k
    _, told_of = noticed(kernel, np.array([2, 0.5, 1], np.float32), device=device)
    assert len(told_of) == 1
    assert "NaN or infinity stored in 1 element of B, the first in B[1]" in told_of[0]
    assert "root.ph:5:14" in told_of[0]
    assert "[1]: root = nan, a - 1.0 = -0.5" in told_of[0]
    _, told_of = noticed(kernel, np.array([0, 2, 1], np.float32), device=device)
    assert "root = nan, a - 1.0 = -1" in told_of[0]
    assert noticed(kernel, np.array([1, 2], np.float32), device=device)[1] == []
    _, told_of = noticed(kernel, np.array([np.inf, 2], np.float32), device=device)
    assert "it was in the arguments" in told_of[0]
    assert "1 element of C" in told_of[0]


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i32", "u32", "i8", "u8", "bool"])
def test_elements_that_nothing_wrote(device, dtype):
    number = "true" if dtype == "bool" else "1.0" if dtype in ("f32", "f16", "bf16") else "i32(ctx.block.x) + 90"
    text = f"""
kernel k(A: tensor<f32>[M], B: tensor<{dtype}>[M, V], V2: tensor<f32>[V]) {{
  let r = ctx.block.x * 2
  B[r :+ 1, 1 :] = {number} + 0 * i32(A[r])
}}
"""
    if dtype in ("f32", "f16", "bf16"):
        text = text.replace("+ 0 * i32(A[r])", "+ 0.0 * A[r]")
    if dtype == "bool":
        text = text.replace("true + 0 * i32(A[r])", "A[r] < 1.0")
    kernel = tilec.compile(source=text, debug=True).k
    result, told_of = noticed(kernel, np.zeros(4, np.float32), np.zeros(3, np.float32), device=device)
    assert told_of == ["k: 8 elements of 12 of B never written, and 0: [0, 0], [1, 0], [1, 1], [1, 2] ..."]
    expected = np.zeros((4, 3), np.float64)
    expected[::2, 1:] = [[1], [1]] if dtype in ("f32", "f16", "bf16", "bool") else [[90], [91]]
    np.testing.assert_array_equal(result.B.astype(np.float64), expected)


def test_the_poison_itself_may_be_what_is_written(device):
    """Bytes of 0xA5, as a u8 of 165 is, are told from what was there before."""
    text = "kernel k(A: tensor<u8>[N], B: tensor<u8>[N]) { B[:] = A[:] }"
    kernel = tilec.compile(source=text, debug=True).k
    values = np.arange(256, dtype=np.uint8)
    result, told_of = noticed(kernel, values, device=device)
    assert told_of == []
    np.testing.assert_array_equal(result.B, values)


def test_updates_happen_once(device):
    """A launch that is repeated starts from the same values, on device arrays too."""
    text = """
kernel k(A: tensor<f32>[N], B: tensor<f32>[N]) {
  A[:] += 1.0
  B[0 :+ 1] = 5.0
}
"""
    kernel = tilec.compile(source=text, debug=True).k
    given = np.zeros(3, np.float32)
    if device != "numpy":
        given = device.array(given)
    result, told_of = noticed(kernel, given, device=device)
    assert np.asarray(result.A).tolist() == [1, 1, 1]
    assert np.asarray(result.B).tolist() == [5, 0, 0]
    assert len(told_of) == 1
    if device != "numpy":
        assert result.A is given


OVERFLOW = """
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M]) {
  let r = ctx.block.x * 2
  let x = A[r :+ 2, :]
  assert x < 2.0, "small"
  print("r", r)
  B[r :+ 2, new] = rowsum(x)
}
"""


def test_a_log_that_overflows_has_the_first_records(monkeypatch):
    """Room for 20 records: the asserts of block 0 alone fit, all prints do."""
    arrays = {"A": np.repeat(np.array([0, 2, 3, 4, 5, 6], np.float32)[:, None], 9, axis=1)}
    case = Case(build(OVERFLOW), arrays)
    layout_words = 20 * 4 * 8
    monkeypatch.setattr(debug, "LOG_WORDS", layout_words)
    log = case.on_device(LAVAPIPE)
    expected = case.interpreted()
    assert log.lanes == expected.lanes
    assert sum(log.lanes.values()) == 5 * 9 + 3
    assert told(log, "print") == told(expected, "print")
    asserts = told(log, "assert")
    assert asserts == told(expected, "assert")[: len(asserts)]
    assert len(asserts) >= 9


def test_many_lanes(device, capsys):
    text = """
kernel k(A: tensor<f32>[N], B: tensor<f32>[N]) {
  let i = ctx.block.x * 100
  let x = A[i :+ 100]
  print("x", x)
  assert x < 0.0, "negative"
  B[i :+ 100] = x
}
"""
    kernel = tilec.compile(source=text, debug=True).k
    with pytest.raises(tilec.DebugError, match="does not hold in 2,050 elements") as caught:
        kernel(np.arange(2050, dtype=np.float32), device=device)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 513
    assert lines[0] == "x[0] in block 0 = 0"
    assert lines[511] == "x[11] in block 5 = 511"
    assert lines[512] == "x: 1,538 more"
    assert str(caught.value).endswith("    [7] in block 0: x = 7\n    and 2,042 more")


def test_specialised_and_derived_kernels_are_debug_builds(device, capsys):
    text = """
kernel k(A: tensor<f32>[M, V], L: tensor<f32>[M], const limit: f32) {
  let r = ctx.block.x * 2
  let x = A[r :+ 2, :]
  assert x < limit, "limit"
  print("x", rowsum(x))
  L[r :+ 2, new] = rowsum(square(x))
}
"""
    kernel = tilec.compile(source=text, debug=True).k
    x = np.ones((2, 2), np.float32)
    for one in (kernel.specialize(limit=0.5), kernel.specialize(limit=0.5).grad("A", upstream=1.0)):
        with pytest.raises(tilec.DebugError, match="limit") as caught:
            one(x, device=device)
        assert caught.value.results.L.tolist() == [2, 2]
        assert capsys.readouterr().out.count("x[") == 2
    assert caught.value.results.DA.tolist() == [[2, 2], [2, 2]]


def test_other_builds_have_nothing_of_it():
    text = OVERFLOW.replace('assert x < 2.0, "small"', 'assert x < rowsum(exp(x)), "small"')
    plain = "\n".join(line for line in text.split("\n") if "assert" not in line and "print" not in line)
    first, second = (tilec.compile(source=one).k for one in (text, plain))
    assert first.wgsl() == second.wgsl()
    assert first.wgsl(dims={"V": 64}) == second.wgsl(dims={"V": 64})


def test_texts_of_the_source_reach_neither_the_shader_nor_a_terminal(device, capsys):
    text = """
kernel k(A: tensor<f32>[N], B: tensor<f32>[N]) {
  print("*/ }\x1b[31m", sum(A[:]))
  assert A[:] < 1.0, "*/ }\x1b[31m"
  B[:] = A[:]
}
"""
    kernel = tilec.compile(source=text, debug=True).k
    assert "*/" not in kernel.wgsl()
    assert "\x1b" not in kernel.wgsl()
    with pytest.raises(tilec.DebugError) as caught:
        kernel([2.0], device=device)
    assert "\x1b" not in str(caught.value)
    assert capsys.readouterr().out == "*/ }\ufffd[31m = 2\n"


def test_a_debug_build_is_called_and_not_bound():
    kernel = tilec.compile(source=OVERFLOW, debug=True).k
    with pytest.raises(tilec.ArrayError, match="debug build"):
        kernel.bind(np.ones((2, 2), np.float32))
