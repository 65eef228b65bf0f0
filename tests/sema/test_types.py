"""Element types, broadcasting, reductions, numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.sema.support import attempt, build, codes, load, run
from tilec.tile import ir
from tilec.tile.walk import walk

X = np.array([[1, 5, 2], [4, 4, -3]], np.float32)


def value(expression: str, shape: str = "1", *, dtype: str = "f32", **arrays: object) -> np.ndarray:
    """The value of an expression over `x` (`[2, 3]` floats), `i` (`[3]` integers), `b` (`[3]` bools), `n`."""
    renamed = re.sub(r"\b([xib])\b", r"_\1", expression)
    place = ", ".join(":" for _ in shape.split(","))
    text = f"""
kernel k(X: tensor<f32>[R, C], I: tensor<i32>[C], F: tensor<bool>[C], Y: tensor<{dtype}>[{shape}], n: i32) {{
  let _x = X[:, :]
  let _i = I[:]
  let _b = F[:]
  Y[{place}] = {renamed}
}}"""
    given = {"X": X, "I": [3, -1, 2], "F": [True, False, True]}
    return run(text, given | arrays, n=7)["Y"]


@pytest.mark.parametrize(
    ("expression", "shape", "expected"),
    [
        ("rowsum(x)", "R, 1", X.sum(1, keepdims=True)),
        ("rowmean(x)", "R, 1", X.mean(1, keepdims=True)),
        ("rowmax(x)", "R, 1", X.max(1, keepdims=True)),
        ("rowmin(x)", "R, 1", X.min(1, keepdims=True)),
        ("rowprod(x)", "R, 1", X.prod(1, keepdims=True)),
        ("rowvar(x)", "R, 1", X.var(1, keepdims=True)),
        ("f32(rowany(x > 4.0))", "R, 1", [[1], [0]]),
        ("f32(rowall(x > 0.0))", "R, 1", [[1], [0]]),
        ("rowargmax(x)", "R, 1", [[1], [0]]),
        ("rowargmin(x)", "R, 1", [[0], [2]]),
        ("logsumexp(x)", "R, 1", np.log(np.exp(X).sum(1, keepdims=True))),
        ("colsum(x)", "1, C", X.sum(0, keepdims=True)),
        ("colmean(x)", "1, C", X.mean(0, keepdims=True)),
        ("colmax(x)", "1, C", X.max(0, keepdims=True)),
        ("colmin(x)", "1, C", X.min(0, keepdims=True)),
        ("sum(x)", "1", [X.sum()]),
        ("mean(x)", "1", [X.mean()]),
        ("amax(x)", "1", [5]),
        ("amin(x)", "1", [-3]),
        ("var(x)", "1", [X.var()]),
        ("argmax(x)", "1", [1]),
        ("sum(x, axis: 0)", "1, C", X.sum(0, keepdims=True)),
        ("mean(x, axis: 1)", "R, 1", X.mean(1, keepdims=True)),
        ("argmax(x, axis: 0)", "1, C", [[1, 0, 0]]),
        ("var(x, axis: 0)", "1, C", X.var(0, keepdims=True)),
        ("logsumexp(x, axis: 0)", "1, C", np.log(np.exp(X).sum(0, keepdims=True))),
        ("sum(b)", "1", [2]),
        ("mean(i)", "1", [4 / 3]),
        ("sum(n)", "1", [7]),
        ("i + b", "C", [4, -1, 3]),
        ("i * 0.5", "C", [1.5, -0.5, 1]),
        ("1.0 / C", "1", [1 / 3]),
        ("i % 2", "C", [1, -1, 0]),
        ("div(i, 2)", "C", [1, 0, 1]),
        ("ceildiv(n, 2)", "1", [4]),
        ("div(n, 0) + n % 0", "1", [7]),
        ("pow(x, 2)", "R, C", X**2),
        ("pow(x, 3.0)", "R, C", X**3),
        ("pow(x, -1)", "R, C", 1 / X),
        ("pow(x, 1)", "R, C", X),
        ("pow(x, 0)", "R, C", X * 0 + 1),
        ("pow(abs(x), 0.5)", "R, C", np.sqrt(np.abs(X))),
        ("where(b, i, 0.5)", "C", [3, 0.5, 2]),
        ("max(i, 1.5)", "C", [3, 1.5, 2]),
        ("f16(x * 1000.3)", "R, C", (X * np.float32(1000.3)).astype(np.float16)),
        ("i32(2.9) + i32(-2.9) + i32(3e9) + i32(nan)", "1", [2**31]),
        ("f32(isnan(nan)) + f32(isinf(-inf)) * 2.0 + f32(isfinite(1.0)) * 4.0", "1", [7]),
        ("f32(bool(nan)) + f32(bool(0.0)) * 2.0 + f32(bool(-inf)) * 4.0", "1", [5]),
        ("extent(x, 0) * 10 + extent(x, 1)", "1", [23]),
        ("pad(X[0 :+ 2, 1 :+ 4], 9.0)", "2, 4", [[5, 2, 9, 9], [4, -3, 9, 9]]),
        ("x[new, :, :]", "1, R, C", X[None]),
        ("-x * -1", "R, C", X),
        ("f32(!b) + f32(b && i > 2)", "C", [1, 1, 0]),
    ],
)
def test_values(expression: str, shape: str, expected: object):
    np.testing.assert_allclose(value(expression, shape), expected, rtol=2e-6)


@pytest.mark.parametrize(
    ("dtype", "expression", "expected"),
    [
        ("u32", "2147483647 + 2", 2**31 + 1),
        ("u32", "65536 * 65536 - 1", 2**32 - 1),
        ("i32", "(2147483647 + 2) - 9", 2**31 - 8),
        ("f32", "65536 * 65536", 2.0**32),
    ],
)
def test_integers_without_a_type_are_as_large_as_they_are(dtype: str, expression: str, expected: float):
    head = f"const N = {expression}\nkernel k(A: tensor<{dtype}>[1], Y: tensor<{dtype}>[1])"
    for number in (f"({expression})", "N"):
        assert run(f"{head} {{\n  Y[0] = A[0] + {number}\n}}\n", {"A": [0]})["Y"].tolist() == [expected]


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("Y[0] = sum(I[:] + U[:])", "E0301"),
        ("Y[0] = f32(U[0]) + 1 / C", "E0302"),
        ("Y[0] = I[0] / n", "E0302"),
        ("Y[0] = sum(where(I[:], 1.0, 0.0))", "E0304"),
        ("Y[0] = sum(!I[:])", "E0303"),
        ("Y[0] = U[0]", "E0310"),
        ("U[:] = 1.5", "E0310"),
        ("U[:] = -1", "E0325"),
        ("U[:] = U[:] + (2 - 3)", "E0325"),
        ("I[:] = I[:] + (2147483647 + 2)", "E0325"),
        ("I[:] = 2147483648", "E0325"),
        ("Y[0] = exp(U[0])", "E0303"),
        ("Y[0] = sum(-U[:])", "E0303"),
        ("Y[0] = div(1.0, 2)", "E0303"),
        ("Y[0] = sum(X[:, :] + X[:, 0 :+ 2])", "E0312"),
        ("Y[0] = sum(X[:, 1 :] * X[:, : C - 1]) + sum(X[:, : div(C, 2)] * X[:, div(C, 2) :])", "E0308"),
        ("Y[0] = rowsum(n)", "E0313"),
        ("Y[0] = colsum(I[:])", "E0313"),
        ("Y[0] = X[0]", "E0314"),
        ("Y[0] = X[0.5, 0]", "E0315"),
        ("Y[0] = sum(X)", "E0318"),
        ("Y[0] = X[:, :]", "E0309"),
        ("Y[0] = extent(X, 2)", "E0323"),
        ("Y[0] = amax(X[:, :], axis: -1)", "E0323"),
        ("Y[0] = n[0]", "E0317"),
        ("n[0] = Y[0]", "E0317"),
        ("R[0 :+ 4] += 1", "E0317"),
        ("for i in range(0, 4) {\n    i[0] = 1\n  }", "E0317"),
        ("inf[:] = Y[0]", "E0317"),
        ("let i = I[:]\n  Y[0] = sum(i[0 : 1])", "E0316"),
        ("let h: i32 = 0.5\n  Y[0] = h", "E0322"),
        ("let h: tile<f32>[R] = X[0, :]\n  Y[0] = sum(h)", "E0322"),
        ("var a = 0\n  a = 0.5\n  Y[0] = a", "E0321"),
        ("var a = X[0, :]\n  a = X[:, 0]\n  Y[0] = sum(a)", "E0321"),
        ("Y[0] = sum(I[:] else 0.5)", "E0303"),
        ("Y[0] = sum(I[1 :+ 3] else I[:])", "E0332"),
        ("Y[0] = ctx.block", "E0333"),
        ("Y[0] = sum(pick(X[:, :], 0.5))", "E0303"),
        ("Y[0] = sum(pick(X[:, :], I[:]))", "E0312"),
        ("require Y[0] > 0.0, \"no\"", "E0331"),
        ("require 1 > 2, \"no\"", "E0335"),
    ],
)
def test_faults(statement: str, code: str):
    text = f"""
kernel k(X: tensor<f32>[R, C], I: tensor<i32>[C], U: tensor<u32>[C], Y: tensor<f32>[1], n: i32) {{
  {statement}
}}"""
    assert [c for c in codes(text) if c.startswith("E")] == [code]


def test_a_column_meeting_its_vector_is_warned_about():
    text = """
kernel k(X: tensor<f32>[R, C], V: tensor<f32>[R], W: tensor<f32>[C], Y: tensor<f32>[1]) {
  let s = rowsum(X[:, :])
  Y[0] = EXPRESSION
}"""
    assert "W0301" in codes(text.replace("EXPRESSION", "sum(s * V[:])"))
    assert "W0301" not in codes(text.replace("EXPRESSION", "sum(s * W[:])"))
    assert "W0301" not in codes(text.replace("EXPRESSION", "sum(s * V[:, new])"))


def test_a_dim_that_may_be_one_does_not_stretch():
    text = "kernel k(A: tensor<f32>[M, K], B: tensor<f32>[M, V]) {\n  B[:, :] = B[:, :] + A[:, :]\n}"
    assert codes(text) == ["E0312"]
    assert codes(text.replace("[M, K]", "[M, 1]")) == []


def test_type_variables_and_alternatives():
    text = """
kernel k<T: f32|f16|bf16>(A: tensor<T>[N], B: tensor<T>[N], C: tensor<i32|i64>[N]) {
  B[:] = A[:] + f32(C[:])
}"""
    kernel = build(text, dtypes={"T": "f16", "C": "i64"})
    assert [str(tensor.dtype) for tensor in kernel.tensors] == ["f16", "f16", "i64"]
    assert [str(tensor.dtype) for tensor in build(text).tensors] == ["f32", "f32", "i32"]
    assert attempt(text, dtypes={"T": "i8"})[1][0].code == "E0337"


def test_constants_fold_in_f32():
    text = """
const TINY = 1e-10
kernel k(A: tensor<f32>[1], const a: f32 = 1.0) {
  A[0] = (a + TINY) - a + where(a > 0.0, 16777216.0 + 1.0, 0.0)
}"""
    kernel = build(text)
    assert not any(isinstance(each, ir.Pointwise) for each in walk(kernel.body))
    assert run(text, {})["A"] == [16777216]


def test_several_faults_are_found_in_one_run():
    text = """
fn f(x) = x + rowsum(n)
kernel k(A: tensor<f32>[M], B: tensor<f32>[M, 4], n: i32) {
  let a = A[:] + B[:, :] + B[0, :]
  let b = a + 1.0
  A[:] = exp(b, b) + unknown
  B[:, :] = A
  let c = f(A[:])
  A[:] = c
}"""
    kernel, found = attempt(text)
    assert kernel is None
    assert sorted({each.code for each in found if each.severity == "error"}) == ["E0201", "E0207", "E0312", "E0318"]


def test_faults_of_names_do_not_hide_faults_of_types():
    text = """
kernel one(A: tensor<f32>[M], const n: i32) {
  A[:] = nothing + n
}
kernel two(A: tensor<f32>[M], B: tensor<u32>[M]) {
  A[:] = A[:] + B[:]
}"""
    assert [each.code for each in load(text)[1].diagnostics] == ["E0201", "E0301"]


def test_a_fault_through_three_functions_points_at_the_users_line():
    text = """fn one(x, y) = two(x, y)
fn two(x, y) = three(x, y)
fn three(x, y) = x + y
kernel k(A: tensor<f32>[4], B: tensor<f32>[6]) {
  A[:] = one(A[:], B[:])
}"""
    _, found = attempt(text)
    assert [each.code for each in found] == ["E0312"]
    span, depth = found[0].span, 0
    while span.via is not None:
        span, depth = span.via, depth + 1
    assert depth == 3
    assert span.line == 5
