"""Rows that begin between vectors: which are accessed as vectors, and that every element has one owner."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plan.harness import dims_of, run_plan
from tests.plan.test_lowering import Rows, grid, normal
from tests.plan.test_mapping import centred, doubled, row_sums
from tests.plan.test_split import loss_and_gradient, tensors_of, three_sweeps
from tests.tile.build import Builder, dim
from tilec.facts import Facts
from tilec.loop.lower import lower
from tilec.loop.print import print_program
from tilec.options import Limits, Options
from tilec.plan.ir import Phase, Plan
from tilec.plan.make import make_plan
from tilec.tile import interp as tile_interp
from tilec.tile import ir
from tilec.types import ONE, DType, Extent, Symbol

CPU = Limits(is_cpu=True)
IN_GROUPS = (
    Options(rows=True), Options(rows=True, threads=16), Options(rows=True, limits=CPU),
    Options(rows=True, threads=64, limits=CPU), Options(rows=True, threads=8, kept=16),
    Options(rows=True, threads=64, limits=Limits(subgroup=8)),
)  # fmt: skip


def plan(kernel: ir.Kernel, options: Options | None = None, **dims: int) -> Plan:
    return make_plan(kernel, Facts(dims), options or Options())


def turns(kernel: ir.Kernel, options: Options | None = None, **dims: int) -> int | None:
    """Rows that the same lanes take in turn; None if rows are read an element at a time."""
    found = plan(kernel, options, **dims)
    (phase,) = [item for dispatch in found.dispatches for item in dispatch.items if isinstance(item, Phase)]
    assert (phase.rows is not None) == bool(found.dispatches[0].vectors)
    return phase.rows.turns if phase.rows is not None else None


def two_types() -> ir.Kernel:
    """A half-precision tensor in, f32 out and half precision in place, a vector of weights that lies elsewhere."""
    k = Rows()
    b = k.builder
    b.tensor("X", DType.BF16, ("M", "V"), "inout")
    b.tensor("W", DType.F16, ("V",))
    b.tensor("Y", DType.F32, ("M", "V"), "out")
    x, w = k.load("X"), b.load("W", b.span(0, dim("V")))
    k.store("Y", b.op("add", b.op("mul", x, w), b.reduce("max", x)))
    k.store("X", b.op("sub", x, b.op("f32", b.reduce("argmax", x))))
    return b.kernel(grid())


def one_row_a_block() -> ir.Kernel:
    b = Builder()
    b.tensor("X", DType.F16, ("M", "V"), "inout")
    row = Extent.of(Symbol("ctx.block.x", "block"))
    at = (b.span(b.block(), ONE), b.span(0, dim("V")))
    x = b.load("X", *at, starts=[row])
    b.store("X", b.op("sub", x, b.reduce("max", x)), *at, starts=[row])
    return b.kernel((dim("M"), 1, 1))


def one_block_of_rows() -> ir.Kernel:
    """The whole tensor by one block: nothing but the number of its rows says where they end."""
    b = Builder()
    b.tensor("X", DType.F32, ("M", "V"), "inout")
    at = (b.span(0, dim("M")), b.span(0, dim("V")))
    x = b.load("X", *at)
    b.store("X", b.op("sub", x, b.reduce("max", x)), *at)
    return b.kernel()


def beside_rows() -> ir.Kernel:
    """The last element of each row stays out."""
    k = Rows()
    b = k.builder
    b.tensor("X", DType.F32, ("M", "V"), "inout")
    most = dim("V") - 1
    k.store("X", b.op("mul", k.load("X", most), 2.0), most)
    return b.kernel(grid())


def test_rows_that_begin_between_vectors_come_in_turn():
    many = {"M": 8192, "V": 50257}
    assert turns(loss_and_gradient(), **many) == 4
    assert turns(loss_and_gradient(DType.F16), **many) == 8
    assert turns(loss_and_gradient(DType.BF16), M=8192, V=50258) == 4
    assert turns(loss_and_gradient(DType.F16), M=8192, V=50260) == 2
    assert turns(loss_and_gradient(), M=8192, V=50260) == 1
    assert turns(row_sums(), **many) == 1
    assert not plan(loss_and_gradient(DType.F16), **many).shadows
    assert turns(loss_and_gradient(DType.F16), Options(limits=CPU), **many) == 8


@pytest.mark.parametrize("dims", [{"M": 8192, "V": 50264}, {"M": 8, "V": 50257}, {"M": 8192, "V": 63}, {"M": 8192}, {}])
def test_no_turns_for_whole_vectors_few_or_short_rows_and_what_is_not_known(dims):
    kernel = loss_and_gradient(DType.F16)
    for dispatch in plan(kernel, **dims).dispatches:
        assert all(item.rows is None for item in dispatch.items if isinstance(item, Phase))


def test_only_whole_rows():
    assert turns(beside_rows(), M=8192, V=50257) is None
    assert turns(doubled(), M=8192, V=50257) == 4
    assert turns(doubled(), Options(limits=CPU), M=8192, V=50257) is None


def test_a_vector_of_two_rows_has_one_owner_without_a_barrier():
    """The lane that takes the end of a row takes the beginning of the next."""
    for kernel in (doubled(), loss_and_gradient()):
        made = plan(kernel, M=8192, V=50257)
        text = print_program(lower(kernel, made))
        assert "barrier, storage too" not in text
        assert "turn" in text


def test_the_beginning_of_a_row_between_vectors_stays_in_registers():
    (dispatch,) = plan(three_sweeps(), Options(threads=64), M=8192, V=50257).dispatches
    mapping = dispatch.phase.mapping
    assert (mapping.resident, mapping.width, mapping.streams_rest) == (4, 64 * 16, True)


@pytest.mark.parametrize("build", [
    loss_and_gradient, lambda: loss_and_gradient(DType.F16), lambda: loss_and_gradient(DType.BF16), three_sweeps,
    two_types, one_row_a_block, row_sums, doubled,
])  # fmt: skip
@pytest.mark.parametrize(("m", "v"), [(3, 33), (17, 50), (9, 67), (1, 301), (5, 1003), (10, 36)])
def test_rows_in_turn_give_the_same_numbers(build, m, v):
    kernel = build()
    tensors = tensors_of(kernel, np.random.default_rng([m, v]), {"M": m, "V": v})
    expected = tile_interp.run(kernel, dict(tensors), {}, dims_of(kernel, tensors, {}))
    is_packed = any(tensor.dtype.size == 2 for tensor in kernel.tensors)
    for options in IN_GROUPS:
        assert turns(kernel, options, M=m, V=v)
        got = run_plan(kernel, tensors, options=options)
        for name, array in expected.items():
            actual, wanted = got[name].astype(np.float64), array.astype(np.float64)
            tolerance = {"rtol": 1e-2, "atol": 1e-2} if is_packed else {"rtol": 3e-5, "atol": 3e-5}
            np.testing.assert_allclose(actual, wanted, err_msg=f"{name} {options}", **tolerance)


@pytest.mark.parametrize("build", [loss_and_gradient, row_sums])
def test_rows_in_turn_exchange_through_two_places(build):
    """So that no thread overwrites what another still reads, with one barrier a row."""
    kernel, dims, options = build(), {"M": 9, "V": 301}, Options(rows=True, threads=16, limits=Limits(subgroup=4))
    tensors = tensors_of(kernel, np.random.default_rng(3), dims)
    is_in_turn = turns(kernel, options, **dims) == 4
    text = print_program(lower(kernel, plan(kernel, options, **dims)))
    assert text.count("barrier") == 1
    assert ("base" in text) == is_in_turn == (build is loss_and_gradient)
    expected = tile_interp.run(kernel, dict(tensors), {}, dims_of(kernel, tensors, {}))
    got = run_plan(kernel, tensors, options=options)
    for name, array in expected.items():
        np.testing.assert_allclose(got[name], array, rtol=3e-5, atol=3e-5, err_msg=name)


@pytest.mark.parametrize(("threads", "subgroup", "steps"), [(16, 4, 1), (64, 4, 2), (32, 2, 4)])
def test_rows_in_turn_exchange_with_one_barrier_a_step(threads, subgroup, steps):
    kernel, dims = one_block_of_rows(), {"M": 9, "V": 301}
    options = Options(rows=True, threads=threads, limits=Limits(subgroup=subgroup))
    made = plan(kernel, options, **dims)
    (dispatch,) = made.dispatches
    lanes, jobs = dispatch.phase.mapping.lanes, dispatch.phase.mapping.jobs
    assert subgroup**steps < lanes <= subgroup ** (steps + 1)
    assert dispatch.phase.mapping.turns == 4
    assert jobs * lanes == threads
    assert print_program(lower(kernel, made)).count("barrier") == steps
    x = normal(np.random.default_rng(4), (9, 301))
    got = run_plan(kernel, {"X": x}, options=options)["X"]
    np.testing.assert_array_equal(got, x - x.max(axis=1, keepdims=True))


@pytest.mark.parametrize(("threads", "subgroup"), [(16, 4), (64, 4), (32, 2)])
def test_rows_in_turn_that_exchange_again_and_again(threads, subgroup):
    """Two places are too few for two exchanges a row."""
    options = Options(rows=True, threads=threads, limits=Limits(subgroup=subgroup))
    assert turns(centred(), options, M=9, V=301) == 4
    x = normal(np.random.default_rng(5), (9, 301))
    got = run_plan(centred(), {"X": x}, options=options)["X"]
    shifted = x - x.max(axis=1, keepdims=True)
    np.testing.assert_array_equal(got, shifted * np.abs(shifted).max(axis=1, keepdims=True))


def log_sums() -> ir.Kernel:
    k = Rows()
    b = k.builder
    b.tensor("X", DType.F32, ("M", "V"))
    b.tensor("Y", DType.F32, ("M", 1), "out")
    x = k.load("X")
    most = b.reduce("max", x)
    k.store("Y", b.op("add", most, b.op("log", b.reduce("sum", b.op("exp", b.op("sub", x, most))))), 1)
    return b.kernel(grid())


def entropies() -> ir.Kernel:
    k = Rows()
    b = k.builder
    b.tensor("X", DType.F32, ("M", "V"))
    b.tensor("Y", DType.F32, ("M", 1), "out")
    x = k.load("X")
    shifted = b.op("sub", x, b.reduce("max", x))
    k.store("Y", b.reduce("sum", b.op("mul", shifted, b.op("exp", shifted))), 1)
    return b.kernel(grid())


@pytest.mark.parametrize("build", [row_sums, log_sums, entropies])
def test_an_end_that_is_no_whole_vector_adds_nothing(build):
    """All far below 0, which would be the largest of what is missing."""
    x = normal(np.random.default_rng(6), (3, 37)) - np.float32(60.0)
    wide = x.astype(np.float64)
    shifted = wide - wide.max(axis=1, keepdims=True)
    expected = {
        row_sums: wide.sum(axis=1),
        log_sums: np.log(np.exp(wide).sum(axis=1)),
        entropies: (shifted * np.exp(shifted)).sum(axis=1),
    }[build]
    for options in IN_GROUPS:
        assert turns(build(), options, M=3, V=37)
        source = "A" if build is row_sums else "X"
        out = "Out" if build is row_sums else "Y"
        got = run_plan(build(), {source: x, out: np.zeros((3, 1), np.float32)}, options=options)[out]
        np.testing.assert_allclose(got[:, 0], expected, rtol=1e-5)


@pytest.mark.parametrize("v", [129, 131, 134, 137])
def test_rows_a_little_longer_than_what_registers_keep(v):
    """Less their ends, such rows have no more whole granules than are kept, or just so many."""
    kernel, options = three_sweeps(), Options(rows=True, threads=8, kept=16)
    tensors = tensors_of(kernel, np.random.default_rng(v), {"M": 5, "V": v})
    expected = tile_interp.run(kernel, dict(tensors), {}, dims_of(kernel, tensors, {}))
    got = run_plan(kernel, tensors, options=options)
    for name, array in expected.items():
        np.testing.assert_allclose(got[name], array, rtol=3e-5, atol=3e-5, err_msg=name)


def test_rows_in_turn_with_little_workgroup_memory():
    """One component at a time: several exchanges a row, which two places are too few for."""
    kernel, dims = loss_and_gradient(), {"M": 9, "V": 301}
    options = Options(rows=True, threads=16, limits=Limits(subgroup=4, workgroup_bytes=4 * (16 + 2 * 4)))
    tensors = tensors_of(kernel, np.random.default_rng(3), dims)
    expected = tile_interp.run(kernel, dict(tensors), {}, dims_of(kernel, tensors, {}))
    got = run_plan(kernel, tensors, options=options)
    for name, array in expected.items():
        np.testing.assert_allclose(got[name], array, rtol=3e-5, atol=3e-5, err_msg=name)
    assert "base" not in print_program(lower(kernel, plan(kernel, options, **dims)))


@pytest.mark.parametrize("dtype", [DType.F32, DType.F16])
def test_special_values_at_the_ends_of_rows(dtype):
    kernel = loss_and_gradient(dtype)
    tensors = tensors_of(kernel, np.random.default_rng(2), {"M": 8, "V": 43})
    logits = tensors["Logits"]
    logits[0, 0], logits[1, -1], logits[2, :], logits[3, 1:] = np.nan, np.inf, -np.inf, -np.inf
    tensors["Target"][:] = np.array([0, 42, 1, 0, 42, 41, 0, 2], np.int32)[:, None]
    expected = run_plan(kernel, tensors, options=Options(fusion=False))
    for options in IN_GROUPS:
        got = run_plan(kernel, tensors, options=options)
        for name, array in expected.items():
            actual, wanted = got[name].astype(np.float64), array.astype(np.float64)
            np.testing.assert_allclose(actual, wanted, rtol=1e-2, atol=1e-3, err_msg=f"{name} {options}")


def stored_twice() -> ir.Kernel:
    """What is read is published, since the second store is made of it too."""
    k = Rows()
    b = k.builder
    b.tensor("X", DType.F32, ("M", "V"), "inout")
    doubled = b.op("mul", k.load("X"), 2.0)
    k.store("X", doubled)
    k.store("X", b.op("sub", doubled, 1.0))
    return b.kernel(grid())


def two_widths() -> ir.Kernel:
    """A granule is one vector of the one tensor and two of the other."""
    k = Rows()
    b = k.builder
    b.tensor("X", DType.F32, ("M", "V"))
    b.tensor("Y", DType.BF16, ("M", "V"), "out")
    k.store("Y", b.op("mul", k.load("X"), 2.0))
    return b.kernel(grid())


@pytest.mark.parametrize("build", [stored_twice, two_widths])
@pytest.mark.parametrize(("m", "v"), [(1, 33), (3, 100), (9, 67)])
def test_ends_of_rows_read_nothing_behind_what_they_are_of(build, m, v):
    """The loop interpreter refuses a read behind the tensor, and of a slot's word that nobody has written."""
    kernel = build()
    tensors = tensors_of(kernel, np.random.default_rng([m, v]), {"M": m, "V": v})
    expected = tile_interp.run(kernel, dict(tensors), {}, {"M": m, "V": v})
    for options in IN_GROUPS:
        assert turns(kernel, options, M=m, V=v)
        got = run_plan(kernel, tensors, options=options)
        for name, array in expected.items():
            np.testing.assert_array_equal(got[name].astype(np.float64), array.astype(np.float64), f"{name} {options}")
