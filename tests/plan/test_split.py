"""Sweeps that several workgroups share: which are, and that they give the same numbers without a race."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plan.harness import dims_of, run_plan
from tests.plan.test_lowering import Rows, grid, normal
from tests.plan.test_mapping import column_sums, doubled, row_sums
from tests.tile.build import Builder, dim
from tilec.facts import Facts
from tilec.options import Limits, Options
from tilec.plan.make import make_plan
from tilec.tile import interp as tile_interp
from tilec.tile import ir
from tilec.types import ONE, DType

CPU = Limits(is_cpu=True)
F32, I32 = DType.F32, DType.I32
SPLIT = (
    Options(split=0),
    Options(split=0, threads=16),
    Options(split=0, limits=CPU),
    Options(split=0, threads=64, limits=CPU),
)


def loss_and_gradient(dtype: DType = F32) -> ir.Kernel:
    """The target's logit is read before the same tensor is overwritten, in several parts."""
    k = Rows()
    b = k.builder
    b.tensor("Logits", dtype, ("M", "V"), "inout")
    b.tensor("Target", I32, ("M", 1))
    b.tensor("Loss", F32, ("M", 1), "out")
    x, t = k.load("Logits"), k.load("Target", ONE)
    lse = b.logsumexp(x)
    k.store("Loss", b.op("sub", lse, b.pick(x, t)), ONE)
    hot = b.op("f32", b.op("eq", b.iota(1, (1, dim("V"))), t))
    k.store("Logits", b.op("sub", b.op("exp", b.op("sub", x, lse)), hot))
    return b.kernel(grid())


def three_sweeps() -> ir.Kernel:
    """The mean, the mean distance from it, and a store that reads the row's own statistics."""
    k = Rows()
    b = k.builder
    b.tensor("X", F32, ("M", "V"), "inout")
    b.tensor("Best", F32, ("M", 1), "out")
    x = k.load("X")
    centred = b.op("sub", x, b.op("div_f32", b.reduce("sum", x), b.count(x)))
    distance = b.op("div_f32", b.reduce("sum", b.op("abs", centred)), b.count(x))
    k.store("Best", b.op("f32", b.reduce("argmax", x)), ONE)
    k.store("X", b.op("div_f32", centred, b.op("sqrt", b.op("add", distance, 1.0))))
    return b.kernel(grid())


def read_back() -> ir.Kernel:
    """What a job stores once, the next sweep reads from memory: a dispatch stands between."""
    k = Rows()
    b = k.builder
    b.tensor("X", F32, ("M", "V"), "inout")
    b.tensor("Total", F32, ("M", 1), "inout")
    x = k.load("X")
    k.store("Total", b.op("add", b.reduce("sum", x), k.load("Total", ONE)), ONE)
    k.store("X", b.op("mul", x, k.load("Total", ONE)))
    return b.kernel(grid())


def middle_sums() -> ir.Kernel:
    """Two swept axes around a kept one."""
    b = Builder()
    b.tensor("X", F32, ("A", "B", "C"))
    b.tensor("Y", F32, (1, "B", 1), "out")
    x = b.load("X", *(b.span(0, dim(name)) for name in "ABC"))
    b.store("Y", b.reduce("sum", x, (0, 2)), b.span(0, 1), b.span(0, dim("B")), b.span(0, 1))
    return b.kernel()


def plans(kernel: ir.Kernel, options: Options, dims: dict[str, int]) -> list[str]:
    return [dispatch.kind for dispatch in make_plan(kernel, Facts(dims), options).dispatches]


def test_few_long_rows_are_split():
    long = {"M": 4, "V": 262144}
    assert plans(loss_and_gradient(), Options(), long) == ["split", "split"]
    assert plans(row_sums(), Options(), long) == ["split", "finish"]
    assert plans(doubled(), Options(), long) == ["split"]
    assert plans(three_sweeps(), Options(), long) == ["split", "split", "split"]
    assert plans(read_back(), Options(), long) == ["split", "finish", "split"]
    assert plans(loss_and_gradient(), Options(limits=CPU), {"M": 1, "V": 262144}) == ["split", "split"]


@pytest.mark.parametrize("dims", [{"M": 4, "V": 32768}, {"M": 512, "V": 262144}, {"M": 4}, {"V": 262144}, {}])
def test_many_rows_short_rows_and_unknown_ones_are_not(dims):
    assert plans(loss_and_gradient(), Options(), dims) == ["jobs"]


def test_long_columns_are_split():
    assert plans(column_sums(), Options(), {"M": 8192, "V": 1024}) == ["split", "finish"]
    assert plans(column_sums(), Options(), {"M": 8192, "V": 32768}) == ["jobs"]


def test_no_scratch_where_the_buffers_are_used_up():
    limits = Limits(storage_buffers=3)
    assert plans(loss_and_gradient(), Options(limits=limits), {"M": 4, "V": 262144}) == ["jobs"]
    assert plans(doubled(), Options(limits=Limits(storage_buffers=2)), {"M": 4, "V": 262144}) == ["split"]


def test_the_states_of_parts_have_room_once_and_not_for_each_block():
    slots = make_plan(loss_and_gradient(), Facts({"M": 64, "V": 262144}), Options(split=0)).slots
    assert slots
    assert all(slot.is_shared for slot in slots)


def test_rows_make_two_classes_of_long_sweeps():
    guards = {tuple(make_plan(row_sums(), Facts({"M": m, "V": 1 << 18}), Options()).guards) for m in range(1, 900, 37)}
    assert len(guards) == 2


def tensors_of(kernel: ir.Kernel, rng: np.random.Generator, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for parameter in kernel.tensors:
        shape = tuple(extent.evaluate(sizes) for extent in parameter.dims)
        if parameter.name == "Target":
            found["Target"] = rng.integers(-1, sizes["V"] + 1, shape).astype(np.int32)
        else:
            found[parameter.name] = normal(rng, shape, parameter.dtype)
    return found


def agree(kernel: ir.Kernel, tensors: dict[str, np.ndarray], rtol: float = 3e-5) -> None:
    expected = tile_interp.run(kernel, dict(tensors), {}, dims_of(kernel, tensors, {}))
    for options in SPLIT:
        for known in (True, False):
            assert "split" in plans(kernel, options, dims_of(kernel, tensors, {}) if known else {})
            got = run_plan(kernel, tensors, options=options, known=known)
            for name, array in expected.items():
                actual, wanted = got[name].astype(np.float64), array.astype(np.float64)
                np.testing.assert_allclose(actual, wanted, rtol=rtol, atol=3e-5, err_msg=f"{name} {options} {known}")


@pytest.mark.parametrize("build", [loss_and_gradient, three_sweeps, read_back, row_sums, doubled, column_sums])
@pytest.mark.parametrize(("m", "v"), [(1, 1), (3, 50), (2, 5003), (9, 300), (130, 3), (1, 4096)])
def test_split_sweeps_give_the_same_numbers(build, m, v):
    kernel = build()
    agree(kernel, tensors_of(kernel, np.random.default_rng([m, v]), {"M": m, "V": v}), 1e-4)


@pytest.mark.parametrize("sizes", [(3, 5, 70), (40, 1, 40), (1, 33, 2)])
def test_parts_of_a_sweep_over_two_axes(sizes):
    kernel = middle_sums()
    agree(kernel, tensors_of(kernel, np.random.default_rng(3), dict(zip("ABC", sizes, strict=True))), 1e-4)


@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16])
@pytest.mark.parametrize(("m", "v"), [(3, 704), (2, 501)])
def test_parts_of_packed_rows(dtype, m, v):
    kernel = loss_and_gradient(dtype)
    agree(kernel, tensors_of(kernel, np.random.default_rng(m), {"M": m, "V": v}), 1e-2)


@pytest.mark.parametrize("build", [loss_and_gradient, three_sweeps, row_sums])
def test_rows_without_elements(build):
    kernel = build()
    tensors = tensors_of(kernel, np.random.default_rng(1), {"M": 3, "V": 0})
    expected = run_plan(kernel, tensors)
    for options in SPLIT:
        for known in (True, False):
            for name, array in run_plan(kernel, tensors, options=options, known=known).items():
                np.testing.assert_array_equal(array, expected[name])
