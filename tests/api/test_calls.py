"""Calling kernels from Python: how arguments are given and what comes back, in the interpreter."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tilec

SOURCE = """
/// Twice `A`, plus `shift`.
kernel double(A: tensor<f32|f16|bf16>[M, N], B: tensor<f32|f16>[M, N], shift: f32 = 0.0) {
  let r = ctx.block.x * 4
  B[r :+ 4, :] = 2.0 * A[r :+ 4, :] + shift
}

kernel scale<T: f32|f16|bf16>(X: tensor<T>[M, N], W: tensor<T>[N], factor: f32) {
  let r = ctx.block.x * 4
  X[r :+ 4, :] = X[r :+ 4, :] * W[new, :] * factor
}

kernel classes(T: tensor<i32>[M], Out: tensor<i32>[M, 1]) {
  let r = ctx.block.x * 8
  Out[r :+ 8, :] = T[r :+ 8, new] + 1
}

kernel spread(A: tensor<f32>[M], Out: tensor<f32>[M, K]) {
  let r = ctx.block.x * 8
  Out[r :+ 8, :] = A[r :+ 8, new] + f32(iota(1, K))
}

kernel halves(A: tensor<f32>[M], Out: tensor<f32>[ceildiv(M, 2)], Same: tensor<f32>[2 * M]) {
  let r = ctx.block.x * 8
  require M % 2 == 0, "an even number of elements is needed"
  Out[r :+ 8] = A[r :+ 8] + Same[r :+ 8]
}

kernel awkward(device: tensor<f32>[M], Out: tensor<f32>[M], dtypes: f32 = 1.0) {
  Out[:] = device[:] * dtypes
}

kernel pair(A: tensor<f32>[M, N], B: tensor<f32>[M, K], Out: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  Out[r :+ 8, :] = rowsum(A[r :+ 8, :]) + rowsum(B[r :+ 8, :])
}

kernel fixed(A: tensor<f32>[M], Out: tensor<f32>[M], const power: i32, flag: bool = true, n: u32 = 3) {
  Out[:] = A[:] * f32(power) + f32(n) + f32(flag)
}
"""


@pytest.fixture(scope="module")
def m() -> tilec.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tilec.CompileWarning)
        return tilec.compile(source=SOURCE, name="calls.ph")


def x(*shape: int, dtype: object = np.float32) -> np.ndarray:
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


def error(function, *arguments, **named) -> str:
    with pytest.raises(tilec.ArrayError) as caught:
        function(*arguments, **{"device": "numpy", **named})
    return str(caught.value)


# --- modules and results ---------------------------------------------------------------------------------------


def test_a_module_gives_its_kernels(m):
    assert list(m.kernels) == ["double", "scale", "classes", "spread", "halves", "awkward", "pair", "fixed"]
    assert m.double is m["double"] is m.kernels["double"]
    assert m.double.__doc__.strip() == "Twice `A`, plus `shift`."
    assert "double" in dir(m)
    assert "double" in repr(m)
    assert repr(m.double) == (
        "<tilec.Kernel double(A: tensor<f32|f16|bf16>[M, N], B: tensor<f32|f16>[M, N], shift: f32 = 0.0)>"
    )
    with pytest.raises(AttributeError, match="did you mean double"):
        m.doubel  # noqa: B018
    with pytest.raises(KeyError, match="did you mean double"):
        m["doubel"]


def test_a_file_is_compiled_by_its_path(tmp_path):
    path = tmp_path / "k.ph"
    path.write_text(SOURCE)
    assert list(tilec.compile(path).kernels) == list(tilec.compile(str(path)).kernels)


def test_compile_wants_one_source():
    for arguments in ({}, {"path": "a.ph", "source": ""}, {"source": b"kernel"}):
        with pytest.raises(tilec.CompileError):
            tilec.compile(**arguments)


def test_a_missing_file_is_a_diagnosed_error():
    with pytest.raises(tilec.CompileError, match=r"nowhere\.ph"):
        tilec.compile("nowhere.ph")


def test_errors_of_all_kernels_come_at_once():
    text = "kernel a(A: tensor<f32>[M]) {\n  A[:] = wrong\n}\nkernel b(A: tensor<f32>[M]) {\n  A[:] = worse\n}\n"
    with pytest.raises(tilec.CompileError) as caught:
        tilec.compile(source=text)
    assert "wrong" in str(caught.value)
    assert "worse" in str(caught.value)
    assert len(caught.value.diagnostics) == 2


def test_warnings_are_python_warnings():
    with pytest.warns(tilec.CompileWarning, match="unused"):
        module = tilec.compile(source="kernel k(A: tensor<f32>[M]) {\n  let unused = 1.0\n  A[:] = 2.0\n}\n")
    assert module.warnings


def test_results_by_name_index_and_iteration(m):
    r = m.double(x(3, 5), device="numpy")
    assert isinstance(r, tilec.Result)
    assert r.B is r["B"] is r[0]
    [only] = r
    assert only is r.B
    assert len(r) == 1
    assert "B" in r
    assert r._asdict() == {"B": r.B}
    assert r.B.dtype == np.float32
    assert "B=float32[3, 5]" in repr(r)
    np.testing.assert_array_equal(r.B, 2 * x(3, 5))
    with pytest.raises(AttributeError, match="there is B"):
        r.C  # noqa: B018


# --- giving arguments ------------------------------------------------------------------------------------------


def test_by_position_by_name_and_in_args(m):
    expected = 2 * x(3, 5) + 1
    for arguments, named in (
        ((x(3, 5), 1.0), {}),
        ((x(3, 5),), {"shift": 1}),
        ((), {"A": x(3, 5), "shift": np.float32(1)}),
        ((), {"args": {"A": x(3, 5), "shift": np.array([1.0])}}),
    ):
        np.testing.assert_array_equal(m.double(*arguments, device="numpy", **named).B, expected)


def test_names_that_clash_with_options(m):
    r = m.awkward(args={"device": x(4), "dtypes": 3.0}, device="numpy")
    np.testing.assert_array_equal(r.Out, 3 * x(4))
    assert "given twice" in error(m.double, A=x(2, 2), args={"A": x(2, 2)})


def test_missing_unknown_and_too_many(m):
    assert "the tensor A is missing: double(A, shift=0.0)" in error(m.double)
    assert "the scalar factor is missing" in error(m.scale, x(2, 3), x(3))
    assert "did you mean shift" in error(m.double, x(2, 2), shfit=1.0)
    assert "at most 2 arguments by position: A, shift (B by name)" in error(m.double, x(2, 2), 1.0, 2.0)
    assert "given twice" in error(m.double, x(2, 2), A=x(2, 2))


def test_outputs_are_not_given_as_host_arrays(m):
    assert "B is an output" in error(m.double, x(2, 2), B=x(2, 2))


# --- element types ---------------------------------------------------------------------------------------------


def test_host_arrays_are_never_modified(m):
    given, weights = x(5, 3), x(3)
    r = m.scale(given, weights, 2.0, device="numpy")
    np.testing.assert_array_equal(given, x(5, 3))
    np.testing.assert_array_equal(r.X, x(5, 3) * x(3) * 2)
    frozen = x(5, 3)
    frozen.setflags(write=False)
    np.testing.assert_array_equal(m.scale(frozen, weights, 2.0, device="numpy").X, r.X)


def test_the_array_chooses_the_type(m):
    import ml_dtypes

    for dtype in (np.float16, ml_dtypes.bfloat16):
        r = m.scale(x(4, 3, dtype=dtype), x(3, dtype=dtype), 2.0, device="numpy")
        assert r.X.dtype == dtype
        np.testing.assert_array_equal(r.X.astype(np.float32), x(4, 3) * x(3) * 2)


def test_dtypes_asks_for_types(m):
    r = m.double(x(2, 3), dtypes={"B": "f16"}, device="numpy")
    assert r.B.dtype == np.float16
    assert m.double(x(2, 3), dtypes={"B": np.float16}, device="numpy").B.dtype == np.float16
    assert m.scale(x(2, 3), x(3), 1.0, dtypes={"T": "bf16"}, device="numpy").X.dtype.name == "bfloat16"
    assert "B may be f32, f16, and bf16" in error(m.double, x(2, 3), dtypes={"B": "bf16"})
    assert "is no tensor parameter" in error(m.double, x(2, 3), dtypes={"shift": "f32"})
    assert "no storage type is called" in error(m.double, x(2, 3), dtypes={"B": "float99"})


def test_one_type_for_a_type_variable(m):
    text = error(m.scale, x(2, 3), x(3, dtype=np.float16), 1.0)
    for word in ("X is f32", "W is f16", "type T"):
        assert word in text
    # A list has no type of its own.
    assert m.scale(x(2, 3, dtype=np.float16), [1, 2, 3], 1.0, device="numpy").X.dtype == np.float16


@pytest.mark.parametrize(
    "array",
    [
        x(4, 6).astype(np.float64), x(4, 6).astype(">f4"), x(4, 6).astype(np.int64), x(4, 6).astype(np.uint8),
        x(4, 6).tolist(), x(4, 6).T.copy().T, x(8, 12)[::2, ::2] * 0 + x(4, 6), x(4, 6).astype(bool),
    ],
)  # fmt: skip
def test_exact_conversions_are_accepted(m, array):
    expected = 2 * np.asarray(array).astype(np.float32)
    np.testing.assert_array_equal(m.double(array, device="numpy").B, expected)


def test_strided_arrays(m):
    big = x(10, 20)
    np.testing.assert_array_equal(m.double(big[::3, ::-2], device="numpy").B, 2 * big[::3, ::-2])


def test_inexact_conversions_name_parameter_types_and_fix(m):
    text = error(m.double, x(2, 2, dtype=np.float64) + 0.1)
    assert text.startswith("A: a float64 array for f32")
    assert "A.astype(np.float32)" in text
    text = error(m.classes, np.array([2**40]))
    assert "T: an int64 array for i32" in text
    assert "1099511627776" in text
    assert "T: a float64 array for i32" in error(m.classes, np.array([0.5]))


def test_what_is_no_array(m):
    for value in ("text", None, {"a": 1}, [[1], [1, 2]], object(), np.array(["a"]), np.array([1j])):
        assert error(m.double, value).startswith("A: ")


def test_int64_targets_are_range_checked(m):
    r = m.classes(np.array([1, 2, 2**31 - 1]), device="numpy")
    assert r.Out.tolist() == [[2], [3], [-(2**31)]]


def test_other_libraries(m):
    torch = pytest.importorskip("torch")
    tensor = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    np.testing.assert_array_equal(m.double(tensor, device="numpy").B, 2 * x(2, 3))
    np.testing.assert_array_equal(m.double(tensor.T, device="numpy").B, 2 * x(2, 3).T)
    np.testing.assert_array_equal(m.double(tensor.requires_grad_(), device="numpy").B, 2 * x(2, 3))
    low = m.scale(tensor.detach().bfloat16(), torch.ones(3).bfloat16(), 2.0, device="numpy")
    assert low.X.dtype.name == "bfloat16"
    np.testing.assert_array_equal(low.X.astype(np.float32), 2 * x(2, 3))
    np.testing.assert_array_equal(m.double(x(2, 2), torch.tensor(3.0), device="numpy").B, 2 * x(2, 2) + 3)


def test_dlpack_and_array_protocols(m):
    class Exporter:
        def __dlpack__(self, **options):
            return x(2, 3).__dlpack__(**options)

        def __dlpack_device__(self):
            return x(2, 3).__dlpack_device__()

    class Wrapper:
        def __array__(self, dtype=None, copy=None):
            return x(2, 3)

    for value in (Exporter(), Wrapper()):
        np.testing.assert_array_equal(m.double(value, device="numpy").B, 2 * x(2, 3))


# --- shapes ----------------------------------------------------------------------------------------------------


def test_a_trailing_axis_of_one_comes_and_goes(m):
    assert m.classes(x(4, 1, dtype=np.int32), device="numpy").Out.shape == (4, 1)
    assert m.halves(A=x(4, 1), Same=x(8), device="numpy").Out.shape == (2,)
    assert "has 3 axes where the kernel takes 1" in error(m.classes, x(4, 1, 1, dtype=np.int32))
    assert "has 1 axis where the kernel takes 2" in error(m.double, x(4))


def test_an_updated_tensor_keeps_the_shape_that_was_given():
    module = tilec.compile(source="kernel k(A: tensor<f32>[M, 1]) {\n  A[:, :] = A[:, :] + 1.0\n}\n")
    assert module.k(x(4), device="numpy").A.shape == (4,)
    assert module.k(x(4, 1), device="numpy").A.shape == (4, 1)


def test_dims_that_disagree_name_both_parameters(m):
    text = error(m.pair, x(4, 3), x(5, 3))
    for word in ("M is 4", "A [4, 3]", "5", "B [5, 3]", "axis 0"):
        assert word in text
    text = error(m.halves, A=x(4), Same=x(7))
    for word in ("Same", "7", "2 * M = 8", "M is 4", "A [4]"):
        assert word in text


def test_literal_dims_are_checked():
    module = tilec.compile(source="kernel k(A: tensor<f32>[M, 8]) {\n  A[:, :] += 1.0\n}\n")
    assert module.k(x(2, 8), device="numpy").A.sum() == x(2, 8).sum() + 16
    assert "axis 1 of [2, 7] has 7 elements, and the kernel says 8" in error(module.k, x(2, 7))


def test_sizes_of_outputs_are_passed_by_name(m):
    r = m.spread(x(3), K=4, device="numpy")
    np.testing.assert_array_equal(r.Out, x(3)[:, None] + np.arange(4))
    assert "pass it by name, K=" in error(m.spread, x(3))
    assert "K" in error(m.spread, x(3), K=-1)
    assert "K" in error(m.spread, x(3), K=1.5)
    assert "M is 5 as passed by name, but 3 by axis 0 of A" in error(m.spread, x(3), K=1, M=5)


def test_no_rows(m):
    assert m.double(x(0, 5), device="numpy").B.shape == (0, 5)
    assert m.classes(x(0, dtype=np.int32), device="numpy").Out.shape == (0, 1)


def test_requirements_are_checked_before_the_launch(m):
    assert "an even number of elements is needed" in error(m.halves, A=x(3), Same=x(6))


# --- scalars ---------------------------------------------------------------------------------------------------


def test_scalars(m):
    k = m.fixed.specialize(power=2)
    np.testing.assert_array_equal(k(x(3), device="numpy").Out, x(3) * 2 + 4)
    np.testing.assert_array_equal(k(x(3), flag=False, n=0, device="numpy").Out, x(3) * 2)
    np.testing.assert_array_equal(m.fixed(x(3), power=np.int64(3), device="numpy").Out, x(3) * 3 + 4)
    for named, words in (
        ({"n": -1}, "n: -1 is beyond u32"),
        ({"n": 2**32}, "n: 4294967296 is beyond u32"),
        ({"n": 0.5}, "n: 0.5 is no integer"),
        ({"flag": 2}, "flag: 2 is no bool"),
        ({"n": "3"}, "n: the string '3' was given for a scalar of type u32: pass a number"),
        ({"n": x(2)}, "n: an array of shape [2] was given for a scalar of type u32: pass one number"),
        ({"n": None}, "n: None was given for a scalar of type u32: pass a number"),
    ):
        assert words in error(k, x(3), **named)
    assert "beyond f32" in error(m.double, x(2, 2), 1e39)
    assert "an integer of 16,610 bits is beyond f32" in error(m.double, x(2, 2), 10**5000)
    assert "an integer of 16,610 bits is beyond u32" in error(k, x(3), n=10**5000)
    assert np.isinf(m.double(x(2, 2), float("inf"), device="numpy").B).all()
    assert np.isnan(m.double(x(2, 2), float("nan"), device="numpy").B).all()


def test_what_no_array_is_and_no_memory_holds(m):
    assert "args is a dictionary by name, not int" in error(m.double, args=3)
    assert "dtypes is a dictionary by name, not list" in error(m.double, x(2, 2), dtypes=["f16"])
    wide = np.broadcast_to(np.float32(1), (2**22, 2**22))
    assert "memory does not hold the arrays" in error(m.double, wide)
    assert "an index is an i32: at most 2,147,483,647" in error(m.double, np.zeros((0, 2**33), np.float32))
    for sizes in ({"N": -1}, {"N": 1.5}, {"N": "a"}):
        with pytest.raises(tilec.ArrayError, match="N: "):
            m.double.wgsl(dims=sizes)
        with pytest.raises(tilec.ArrayError, match="N: "):
            m.double.grid(M=1, **({"N": 2**40} if sizes["N"] == -1 else sizes))


def test_specialize(m):
    one = m.double.specialize(shift=1.0)
    assert one is m.double.specialize(shift=1.0)
    np.testing.assert_array_equal(one(x(2, 2), device="numpy").B, 2 * x(2, 2) + 1)
    assert dict(one.constants) == {"shift": 1.0}
    assert "fixed at 1.0 by specialize" in error(one, x(2, 2), shift=2.0)
    for constants, words in (
        ({"A": 1}, "A is a tensor"),
        ({"shfit": 1}, "did you mean shift"),
        ({"shift": "a"}, "shift"),
    ):
        with pytest.raises(tilec.ArrayError, match=words):
            m.double.specialize(**constants)
    with pytest.raises(tilec.ArrayError, match=r"power is const: fix it first, specialize\(power="):
        m.fixed.wgsl()


def test_one_array_for_two_parameters(m):
    same = x(4, 4)
    np.testing.assert_array_equal(m.pair(same, same, device="numpy").Out, 2 * same.sum(1, keepdims=True))
    module = tilec.compile(source="kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {\n  A[:] = A[:] + B[:]\n}\n")
    given = x(4)
    assert "A and B are the same array, and k writes A" in error(module.k, given, given)
