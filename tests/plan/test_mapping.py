"""How phases meet threads, on GPUs and on software devices; and that any mapping gives the same numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.gradients.harness import build
from tests.plan.harness import run_plan
from tests.plan.test_lowering import Rows, grid, normal
from tests.tile.build import Builder, dim
from tilec.facts import Facts
from tilec.loop.lower import lower
from tilec.loop.print import print_program
from tilec.options import Limits, Options
from tilec.plan.make import make_plan
from tilec.tile import interp as tile_interp
from tilec.tile import ir
from tilec.types import DType

CPU = Options(limits=Limits(is_cpu=True))
F32 = DType.F32


def row_sums() -> ir.Kernel:
    k = Rows()
    k.builder.tensor("A", F32, ("M", "V"))
    k.builder.tensor("Out", F32, ("M", 1), "out")
    k.store("Out", k.builder.reduce("sum", k.load("A")), 1)
    return k.builder.kernel(grid())


def doubled() -> ir.Kernel:
    k = Rows()
    k.builder.tensor("A", F32, ("M", "V"))
    k.builder.tensor("Out", F32, ("M", "V"), "out")
    x = k.load("A")
    k.store("Out", k.builder.op("add", x, x))
    return k.builder.kernel(grid())


def column_sums() -> ir.Kernel:
    b = Builder()
    b.tensor("A", F32, ("M", "V"))
    b.tensor("Out", F32, (1, "V"), "out")
    x = b.load("A", b.span(0, dim("M")), b.span(0, dim("V")))
    b.store("Out", b.reduce("sum", x, (0,)), b.span(0, 1), b.span(0, dim("V")))
    return b.kernel()


def mapping(kernel: ir.Kernel, options: Options, **dims: int) -> tuple[int, int, int, int]:
    """Lanes, jobs at once, unroll and threads of the kernel's one dispatch."""
    (dispatch,) = make_plan(kernel, Facts(dims), options).dispatches
    chosen = dispatch.items[0].mapping
    assert chosen.threads == dispatch.threads
    return chosen.lanes, chosen.jobs, chosen.unroll, dispatch.threads


def test_a_gpu_gives_a_row_lanes_for_its_length():
    assert mapping(row_sums(), Options(), M=8192, V=512) == (32, 2, 4, 64)
    assert mapping(row_sums(), Options(), M=8192, V=7) == (1, 64, 4, 64)
    assert mapping(row_sums(), Options(), M=8192, V=50257) == (256, 1, 4, 256)
    assert mapping(row_sums(), Options(), M=8192) == (256, 1, 4, 256)


def test_a_large_workgroup_takes_a_long_row():
    large = Options(limits=Limits(invocations=1024))
    assert mapping(row_sums(), large, M=8192, V=4096) == (128, 1, 4, 128)
    assert mapping(row_sums(), large, M=8192, V=32768) == (1024, 1, 4, 1024)
    assert mapping(row_sums(), large, M=8192, V=50257) == (1024, 1, 4, 1024)
    assert mapping(row_sums(), replace(large, rows=False), M=8192, V=50257) == (256, 1, 4, 256)


def test_neighbouring_lanes_of_a_row_are_a_cluster():
    def cluster(kernel, subgroup, **dims):
        options = Options(limits=Limits(subgroup=subgroup))
        (dispatch,) = make_plan(kernel, Facts(dims), options).dispatches
        return dispatch.items[0].mapping.cluster

    assert cluster(row_sums(), 32, M=8192, V=512) == 32
    assert cluster(row_sums(), 32, M=8192, V=100) == 8
    assert cluster(row_sums(), 4, M=8192, V=512) == 4
    assert cluster(row_sums(), 1, M=8192, V=512) == 1
    assert cluster(column_sums(), 32) == 1
    assert cluster(column_sums(), 32, M=8192, V=3) == 8


def test_no_lane_reads_more_than_sixteen_parts_of_others_at_once():
    """256 lanes leave 16 groups, 1024 lanes 64 groups and those 4."""

    def reads(options, *arrays):
        text = print_program(lower(row_sums(), make_plan(row_sums(), Facts({"M": 8192, "V": 50257}), options)))
        return [text.count(f" = {array}[") for array in arrays]

    assert reads(Options(rows=False), "lanes_0", "groups_0", "groups_1_0") == [16, 16, 0]
    large = Options(limits=Limits(invocations=1024))
    assert reads(large, "lanes_0", "groups_0", "groups_1_0") == [16, 16, 4]


def test_a_workgroup_has_a_power_of_two_of_threads():
    """States are combined by halves."""
    assert mapping(row_sums(), Options(threads=48), M=8192) == (32, 1, 4, 32)
    assert mapping(row_sums(), Options(limits=Limits(invocations=100)), M=8192) == (64, 1, 4, 64)
    a = normal(np.random.default_rng(1), (3, 200))
    tensors = {"A": a, "Out": np.zeros((3, 1), np.float32)}
    for options in (Options(threads=48), Options(threads=7, limits=Limits(subgroup=4))):
        got = run_plan(row_sums(), tensors, options=options, known=False)["Out"]
        np.testing.assert_allclose(got, a.sum(1, np.float64, keepdims=True), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("place", "grouped"), [("ctx.block.x", ["block"]), ("0", ["jobs", "jobs"])])
def test_several_phases_of_many_blocks_are_one_dispatch(place, grouped):
    """Between the phases of a block a barrier is enough; those of the only block are shared by the whole device."""
    kernel = build(f"""
kernel run(A: tensor<f32>[M, V], R: tensor<f32>[M, 1], C: tensor<f32>[ceildiv(M, 8), V]) {{
  let b = {place}
  let x = A[b * 8 :+ 8, :]
  R[b * 8 :+ 8, :] = rowmax(x)
  C[b :+ 1, :] = colmax(x)
}}
""")

    def kinds(fusion):
        return [dispatch.kind for dispatch in make_plan(kernel, Facts({}), Options(fusion=fusion)).dispatches]

    assert kinds(True) == grouped
    assert kinds(False) == ["block"]


def centred() -> ir.Kernel:
    """Three sweeps over a row, the last of which writes it."""
    k = Rows()
    b = k.builder
    b.tensor("X", F32, ("M", "V"), "inout")
    x = k.load("X")
    shifted = b.op("sub", x, b.reduce("max", x))
    k.store("X", b.op("mul", shifted, b.reduce("max", b.op("abs", shifted))))
    return b.kernel(grid())


def test_a_long_row_keeps_its_beginning_in_registers():
    def phase(**dims):
        (dispatch,) = make_plan(centred(), Facts(dims), Options(threads=32)).dispatches
        return dispatch.items[0]

    short, long, odd = phase(M=8192, V=1024), phase(M=8192, V=100_000), phase(M=8192, V=50257)
    assert (short.mapping.resident, short.mapping.streams_rest) == (8, False)
    assert (long.mapping.resident, long.mapping.width, long.mapping.streams_rest) == (10, 1280, True)
    assert (odd.mapping.resident, odd.mapping.width, odd.mapping.streams_rest) == (4, 512, True)
    assert [item.is_backwards for item in long.items] == [False, True, False]
    assert [item.is_backwards for item in short.items] == [False, False, False]


@pytest.mark.parametrize("columns", [1024, 2052, 2056, 2564, 3000, 5000, 8192])
def test_a_row_partly_in_registers(columns):
    x = normal(np.random.default_rng(columns), (5, columns))
    expected = tile_interp.run(centred(), {"X": x.copy()}, {}, {"M": 5, "V": columns})["X"]
    got = run_plan(centred(), {"X": x}, options=Options(threads=32))["X"]
    np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("build", [row_sums, doubled, column_sums])
@pytest.mark.parametrize("shape", [(1, 1), (3, 50), (200, 20), (2, 5000), (130, 3), (3, 200)])
def test_every_mapping_gives_the_same_numbers(build, shape):
    kernel = build()
    rng = np.random.default_rng(5)
    out = {row_sums: (shape[0], 1), doubled: shape, column_sums: (1, shape[1])}[build]
    tensors = {"A": normal(rng, shape), "Out": np.zeros(out, np.float32)}
    expected = tile_interp.run(kernel, dict(tensors), {}, {"M": shape[0], "V": shape[1]})["Out"]
    for options in (Options(), CPU, Options(threads=16)):
        got = run_plan(kernel, tensors, options=options)["Out"]
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("columns", [1_023, 20_000])
def test_a_long_sum_of_equal_terms_does_not_drift(known, columns):
    """1,023 are the most for two levels: with 15 terms in the upper one, not 255."""
    rows = np.array([[0.1], [1 / 3], [0.7], [1 / 7], [1 / 9]], np.float32)
    tensors = {"A": np.repeat(rows, columns, axis=1), "Out": np.zeros((5, 1), np.float32)}
    got = run_plan(row_sums(), tensors, options=Options(threads=1), known=known)["Out"]
    np.testing.assert_allclose(got, rows.astype(np.float64) * columns, rtol=1e-6)


@pytest.mark.parametrize("columns", [1, 200, 255, 256, 1000, 2000, 4092, 4096, 20000])
def test_no_row_is_longer_than_the_plan_says(columns):
    """Sums of so many elements are carried in levels of 16, each of which rounds as little as a short sum."""
    (dispatch,) = make_plan(row_sums(), Facts({"M": 4, "V": columns}), Options(threads=1)).dispatches
    found = dispatch.phase.mapping
    assert columns <= found.longest
    few = 16**2 * found.granule * found.unroll
    assert found.longest < few or columns >= few
    assert make_plan(row_sums(), Facts({"M": 4}), Options()).dispatches[0].phase.mapping.longest == 1 << 31


def softmax_rows() -> ir.Kernel:
    k = Rows()
    k.builder.tensor("A", F32, ("M", "V"))
    k.builder.tensor("Out", F32, ("M", "V"), "out")
    x = k.load("A")
    shifted = k.builder.op("exp", k.builder.op("sub", x, k.builder.reduce("max", x)))
    k.store("Out", k.builder.op("div_f32", shifted, k.builder.reduce("sum", shifted)))
    return k.builder.kernel(grid())


@pytest.mark.parametrize(("kept", "granules"), [(None, 4), (0, 0), (3, 0), (15, 3), (16, 4), (128, 4)])
def test_how_much_of_a_row_is_kept_can_be_asked(kept, granules):
    options = Options(threads=64, kept=kept)
    (dispatch,) = make_plan(softmax_rows(), Facts({"M": 5, "V": 512}), options).dispatches
    assert dispatch.items[0].mapping.resident == granules
    a = normal(np.random.default_rng(6), (5, 512))
    tensors = {"A": a, "Out": np.zeros((5, 512), np.float32)}
    expected = tile_interp.run(softmax_rows(), dict(tensors), {}, {"M": 5, "V": 512})["Out"]
    np.testing.assert_allclose(run_plan(softmax_rows(), tensors, options=options)["Out"], expected, rtol=2e-5)


def test_only_what_several_sweeps_read_is_kept_in_registers():
    """The weights are read once, where they are needed."""
    k = Rows()
    b = k.builder
    b.tensor("A", F32, ("M", "V"))
    b.tensor("W", F32, ("V",))
    b.tensor("Out", F32, ("M", "V"), "out")
    x = k.load("A")
    shifted = b.op("sub", x, b.reduce("max", x))
    k.store("Out", b.op("mul", shifted, b.load("W", b.span(0, dim("V")))))
    kernel = b.kernel(grid())
    text = print_program(lower(kernel, make_plan(kernel, Facts({"M": 5, "V": 30}), Options(threads=64))))
    assert (text.count("var A."), text.count("var W.")) == (15, 0)
    assert text.count(" = W[") == 15


def test_rows_that_fill_a_multiprocessor_come_in_turn_where_there_are_many():
    """Of as many rows as multiprocessors, two in turn would leave half of those idle."""

    def turns(**dims):
        options = Options(limits=Limits(invocations=1024))
        (dispatch,) = make_plan(softmax_rows(), Facts(dims), options).dispatches
        return dispatch.items[0].mapping.turns

    assert [turns(M=rows, V=32_000) for rows in (8, 248, 256, 8192)] == [1, 1, 2, 2]
    assert turns(V=32_000) == 1
    assert turns(M=8192, V=16_384) == turns(M=8192, V=64_000) == 1


@pytest.mark.parametrize("rows", [1, 6, 7, 17])
@pytest.mark.parametrize("subgroup", [1, 4, 16])
def test_lanes_that_take_rows_in_turn(rows, subgroup, monkeypatch):
    """Small rows as if they filled a multiprocessor."""
    monkeypatch.setattr("tilec.plan.mapping._MOST_THREADS_PACKED", 16)
    monkeypatch.setattr("tilec.plan.mapping.FEW_WORKGROUPS", 1)
    options = Options(threads=64, limits=Limits(subgroup=subgroup))
    dims = {"M": rows, "V": 700}
    a = normal(np.random.default_rng(rows), (rows, 700))
    tensors = {"A": a, "Out": np.zeros_like(a)}
    (dispatch,) = make_plan(softmax_rows(), Facts(dims), options).dispatches
    assert dispatch.items[0].mapping.turns == 2
    expected = tile_interp.run(softmax_rows(), dict(tensors), {}, dims)["Out"]
    np.testing.assert_allclose(run_plan(softmax_rows(), tensors, options=options)["Out"], expected, rtol=2e-5)
