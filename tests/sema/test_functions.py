"""Function forms: out parameters, defaults, named arguments, overloads, consts, scoping, whole tensors."""

from __future__ import annotations

import numpy as np

from tests.sema.support import build, codes, run

X = np.arange(12, dtype=np.float32).reshape(4, 3) - 5


def test_out_parameter_on_a_span_is_stored_once_and_not_read():
    text = """
fn twice(out, x) {
  out = x
  out = out * 2.0
}
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, V]) {
  let r = ctx.block.x * 3
  twice(B[r :+ 3, :], A[r :+ 3, :])
}"""
    kernel = build(text)
    assert kernel.tensor("B").access == "out"
    np.testing.assert_array_equal(run(text, {"A": X})["B"], X * 2)


def test_out_parameter_read_before_assigned_is_copied_in():
    text = """
fn add(out, x) {
  out = out + x
}
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  add(B[:], A[:])
}"""
    assert build(text).tensor("B").access == "inout"
    np.testing.assert_array_equal(run(text, {"A": [1, 2], "B": [10, 20]})["B"], [11, 22])


def test_out_parameter_on_a_var_and_through_a_caller():
    text = """
fn inner(out, x) {
  out = x * 3.0
}
fn outer(out, x) {
  inner(out, x)
  out += 1.0
}
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  var y = A[:]
  outer(y, y)
  B[:] = y
}"""
    np.testing.assert_array_equal(run(text, {"A": [1, 2]})["B"], [4, 7])


def test_out_parameter_assigned_on_one_path_keeps_the_old_value_on_the_other():
    text = """
fn maybe(out, x, n) {
  if n > 0 {
    return
  }
  out = x
}
kernel k(A: tensor<f32>[M], B: tensor<f32>[M], n: i32) {
  maybe(B[:], A[:], n)
}"""
    arrays = {"A": [1, 2], "B": [10, 20]}
    np.testing.assert_array_equal(run(text, arrays, n=1)["B"], [10, 20])
    np.testing.assert_array_equal(run(text, arrays, n=0)["B"], [1, 2])


def test_out_parameter_assigned_on_both_paths_with_different_activity():
    text = """
fn choose(out, x, n) {
  if n > 0 {
    out = x
  } else {
    out = 7.0
  }
}
kernel k(A: tensor<f32>[M], B: tensor<f32>[N], n: i32) {
  choose(B[0 :+ 4], A[1 :+ 4], n)
}"""
    arrays = {"A": [1, 2, 3], "B": [10, 20, 30, 40, 50]}
    np.testing.assert_array_equal(run(text, arrays, n=1)["B"], [2, 3, 30, 40, 50])
    np.testing.assert_array_equal(run(text, arrays, n=0)["B"], [7, 7, 7, 7, 50])


def test_out_parameter_of_a_point_takes_a_row_reduction():
    text = """
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M]) {
  let r = ctx.block.x
  logsumexp(B[r], A[r, :])
}"""
    np.testing.assert_allclose(run(text, {"A": X})["B"], np.log(np.exp(X).sum(1)), rtol=1e-6)


def test_an_expression_function_may_have_an_out_parameter():
    text = """
fn bump(x) {
  x = x + 1.0
  return x * 10.0
}
kernel k(A: tensor<f32>[2]) {
  var a = 1.0
  A[0] = bump(a)
  A[1] = a
}"""
    np.testing.assert_array_equal(run(text, {})["A"], [20, 2])
    assert "E0217" in codes(text.replace("var a", "let a"))


def test_arguments_are_evaluated_before_the_body():
    text = """
fn swap(a, b, x, y) {
  a = y
  b = x
}
kernel k(A: tensor<f32>[2]) {
  var x = 1.0
  var y = 2.0
  swap(x, y, x, y)
  A[0] = x
  A[1] = y
}"""
    np.testing.assert_array_equal(run(text, {})["A"], [2, 1])


def test_inlining_is_hygienic():
    text = """
fn f(x) {
  let y = x + 1.0
  var z = y
  z = z * 2.0
  return z
}
kernel k(A: tensor<f32>[3]) {
  let y = 10.0
  var z = 20.0
  A[0] = f(y) + f(z)
  A[1] = y
  A[2] = z
}"""
    np.testing.assert_array_equal(run(text, {})["A"], [64, 10, 20])


def test_defaults_named_arguments_and_overloads():
    text = """
const HALF = 0.5
fn blend(x, weight = HALF, y) = weight * x + (1.0 - weight) * y
fn one(x) = x
fn one(x, y) = x + y
kernel k(A: tensor<f32>[4]) {
  A[0] = blend(2.0, y: 4.0)
  A[1] = blend(2.0, 0.25, 4.0)
  A[2] = blend(y: 1.0, x: 3.0)
  A[3] = one(1.0) + one(2.0, 3.0)
}"""
    np.testing.assert_array_equal(run(text, {})["A"], [3, 3.5, 2, 6])


def test_a_users_function_wins_but_std_keeps_its_own():
    text = """
fn square(x) = x * 100.0
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1], C: tensor<f32>[1]) {
  B[:, :] = mse_loss(A[:, :], 0.0 * A[:, :])
  C[0] = square(1.0)
}"""
    got = run(text, {"A": X})
    np.testing.assert_allclose(got["B"], np.square(X).mean(1, keepdims=True), rtol=1e-6)
    assert got["C"] == [100]
    assert codes(text) == ["W0203"]


def test_a_value_may_have_the_name_of_a_function():
    text = """
kernel k(A: tensor<f32>[M], B: tensor<f32>[1]) {
  let mean = mean(A[:])
  let exp = exp(mean)
  B[0] = exp
}"""
    np.testing.assert_allclose(run(text, {"A": [1, 3]})["B"], np.exp([2.0]), rtol=1e-6)


def test_a_whole_tensor_is_passed_where_it_is_only_subscripted():
    text = """
fn row(T, r) = T[r, :] + 0.0 * f32(extent(T, 0))
fn put(T, r, x) {
  T[r, :] = x
}
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, V]) {
  for i in range(0, M) {
    put(B, i, row(A, M - 1 - i) + f32(extent(A, 1)))
  }
}"""
    np.testing.assert_array_equal(run(text, {"A": X})["B"], X[::-1] + 3)


def test_const_parameters_and_constant_branches():
    text = """
kernel k(A: tensor<f32>[2], const n: i32 = 3, alpha: f32 = 1.0) {
  if alpha > 0.0 {
    A[0] = alpha
  } else {
    A[1] = f32(n)
  }
}"""
    assert build(text).constants == {"n": 3}
    kernel = build(text, alpha=0.0, n=8)
    assert kernel.constants == {"n": 8, "alpha": 0.0}
    assert kernel.parameters == ("A",)
    assert [type(value).__name__ for value in kernel.body.body] == ["Const", "Const", "Store"]
    np.testing.assert_array_equal(run(text, {}, constants={"alpha": 0.0, "n": 8})["A"], [0, 8])


def test_functions_that_double_are_stopped_quickly():
    for body in ("g{}(x) + g{}(x)", "g{}(g{}(x))"):
        functions = [f"fn g{i}(x) = {body.format(i + 1, i + 1)}\n" for i in range(20)]
        kernel = "kernel k(A: tensor<f32>[M]) {\n  A[:] = g0(A[:])\n}"
        assert codes("".join(functions) + "fn g20(x) = x\n" + kernel) == ["E0505"]


def test_constants_that_double_are_evaluated_once():
    text = "".join(f"const c{i} = c{i + 1} + c{i + 1}\n" for i in range(20)) + "const c20 = 1\n"
    np.testing.assert_array_equal(run(text + "kernel k(A: tensor<i32>[1]) {\n  A[0] = c0\n}", {})["A"], [2**20])


def test_typed_parameters_name_dims():
    text = """
fn centred(x: tile<f32>[R, C], const half: f32 = 0.5) = (x - rowsum(x) / C) * half + f32(R)
fn rows(T: tensor<f32>[R, C]) = f32(R * 10 + C)
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, V]) {
  B[:, :] = centred(A[:, :]) + rows(A)
}"""
    expected = (X - X.mean(1, keepdims=True)) * 0.5 + 4 + 43
    np.testing.assert_allclose(run(text, {"A": X})["B"], expected, rtol=1e-6)
    assert codes(text.replace("centred(A[:, :])", "centred(A[0, :])")) == ["E0334"]
    assert codes(text.replace("centred(A[:, :])", "centred(A[:, :], A[0, 0])")) == ["E0324"]


def test_recursion_shows_the_cycle():
    text = """
fn f(x, n) = g(x) + n
fn g(x) = f(x, 1.0)
kernel k(A: tensor<f32>[M]) {
  A[:] = g(A[:])
}"""
    assert codes(text) == ["E0213"]
