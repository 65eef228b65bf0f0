"""Shuffles: what they give, what the interpreter and the verifier refuse, and how states are combined by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.diff import tint
from tests.diff.harness import Data, Execution, Subject
from tests.loop.builders import I32, LANE, U32, bits, buffer, i32, op, program, run, u32
from tilec.errors import InternalError
from tilec.loop import interp, interp_threads, ir
from tilec.loop.verify import verify
from tilec.options import Limits, Options
from tilec.wgsl.emit import emit


def shuffled(mask, *, threads=32):
    out, value = buffer("out", U32), ir.Local("value", U32)
    return program(
        ir.Let(value, ir.Shuffle(op("mul", LANE, u32(3)), mask)), ir.StoreElement(out, LANE, value),
        buffers=(out,), threads=threads, workgroups=2,
    )  # fmt: skip


@pytest.mark.parametrize("mask", [1, 2, 4, 8, 16])
def test_each_thread_gets_its_partners_value(mask):
    out, value, place = buffer("out", U32), ir.Local("value", U32), ir.Local("place", U32)
    made = program(
        ir.Let(value, ir.Shuffle(op("mul", LANE, u32(3)), mask)),
        ir.Let(place, op("add", LANE, op("mul", ir.Builtin("workgroup"), u32(32)))),
        ir.StoreElement(out, place, value),
        buffers=(out,), workgroups=2,
    )  # fmt: skip
    verify(replace(made, subgroup=32))
    expected = np.tile((np.arange(32) ^ mask) * 3, 2)
    np.testing.assert_array_equal(run(made, out=np.zeros(64, np.uint32))["out"], expected)


def test_a_partner_outside_the_workgroup():
    with pytest.raises(interp.InterpreterError, match="leaves its workgroup of 4"):
        run(shuffled(4, threads=4), out=np.zeros(4, np.uint32))


def test_a_shuffle_that_some_threads_do_not_reach():
    value = ir.Local("value", U32)
    made = program(ir.If(op("lt", LANE, u32(7)), (ir.Let(value, ir.Shuffle(LANE, 1)),)))
    with pytest.raises(interp.BarrierError, match="only 7 of 32 threads"):
        run(made)
    with pytest.raises(InternalError, match="a shuffle that some threads of a workgroup may not reach"):
        verify(replace(made, subgroup=32))


@pytest.mark.parametrize("mask", [3, 4, 32])
def test_a_shuffle_beyond_the_subgroup(mask):
    with pytest.raises(InternalError, match=f"a shuffle over {mask} threads where subgroups have 4"):
        verify(replace(shuffled(mask), subgroup=4))


def test_a_shuffle_inside_an_expression():
    value = ir.Local("value", U32)
    made = program(ir.Let(value, op("add", ir.Shuffle(LANE, 1), u32(1))))
    with pytest.raises(InternalError, match="not the whole value of a let"):
        verify(replace(made, subgroup=32))


def reduced(op_name, value, threads=8):
    out, local = buffer("out", value.dtype), ir.Local("value", value.dtype)
    reduction = ir.SubgroupReduce(op_name, value, threads)
    return program(ir.Let(local, reduction), ir.StoreElement(out, LANE, local), buffers=(out,))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (reduced("or", bits("shl", u32(1), LANE)), [0xFF, 0xFF00, 0xFF0000, 0xFF000000]),
        (reduced("max", op("sub", bits("bitcast", LANE, dtype=I32), i32(20))), [-13, -5, 3, 11]),
    ],
)
def test_a_reduction_over_subgroups(made, expected):
    verify(replace(made, subgroup=8))
    dtype = np.uint32 if max(expected) > 99 else np.int32
    got = run(made, out=np.zeros(32, dtype))
    np.testing.assert_array_equal(got["out"], np.repeat(np.array(expected, dtype), 8))


@pytest.mark.parametrize(
    "value", [ir.Shuffle(LANE, 1), ir.SubgroupReduce("or", LANE, 8), LANE], ids=["shuffle", "reduce", "neither"]
)
def test_the_text_enables_subgroups_where_it_uses_them(value):
    """Tint refuses a text that uses them without; naga, for which the line is taken out, does not ask."""
    out, local = buffer("out", U32), ir.Local("value", U32)
    text = emit(program(ir.Let(local, value), ir.StoreElement(out, LANE, local), buffers=(out,)))
    tint.assert_valid(text)
    assert ("enable subgroups;" in text) is (value is not LANE)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (reduced("or", LANE, 16), "a reduction over 16 threads where subgroups have 8"),
        (reduced("max", LANE), "no reduction of u32 over subgroups by max"),
        (reduced("add", LANE), "no reduction of u32 over subgroups by add"),
    ],
)
def test_a_reduction_that_is_refused(made, words):
    with pytest.raises(InternalError, match=words):
        verify(replace(made, subgroup=8))


def test_a_reduction_that_some_threads_do_not_reach():
    value = ir.Local("value", U32)
    made = program(ir.If(op("lt", LANE, u32(7)), (ir.Let(value, ir.SubgroupReduce("or", LANE, 2)),)))
    with pytest.raises(interp.BarrierError, match="only 7 of 32 threads"):
        run(made)
    with pytest.raises(InternalError, match="a reduction over subgroups that some threads"):
        verify(replace(made, subgroup=32))


ALL_STATES = """
kernel states(X: tensor<f32>[M, V], T: tensor<i32>[M], N: tensor<i32>[M, V], Y: tensor<f32>[M, 8],
              Best: tensor<i32>[M, 4]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  let n = N[r :+ 4, :]
  Y[r :+ 4, 0] = rowsum(x)
  Y[r :+ 4, 1] = rowmax(x)
  Y[r :+ 4, 2] = rowmin(x)
  Y[r :+ 4, 3] = logsumexp(x)
  Y[r :+ 4, 4] = pick(x, T[r :+ 4, new])
  Y[r :+ 4, 5] = f32(rowany(x > 2.0))
  Y[r :+ 4, 6] = f32(rowall(x > -9.0))
  Y[r :+ 4, 7] = rowvar(x)
  Best[r :+ 4, 0] = rowargmax(x)
  Best[r :+ 4, 1] = rowargmin(x)
  Best[r :+ 4, 2] = rowsum(n)
  Best[r :+ 4, 3] = rowmax(n)
}
"""
COLUMNS = """
kernel columns(X: tensor<f32>[M, V], Y: tensor<f32>[2, V]) {
  let x = X[:, :]
  Y[0, :] = colsum(x)
  Y[1, :] = colmax(x)
}
"""
IN_PLACE = """
kernel in_place(X: tensor<f32>[M, V], T: tensor<i32>[M], Y: tensor<f32>[M]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  Y[r :+ 4, new] = logsumexp(x) - pick(x, T[r :+ 4, new])
  X[r :+ 4, :] = x - rowmax(x)
}
"""
CLUSTERS = [
    Execution(f"subgroups of {size}, {threads} threads", Options(threads=threads, limits=Limits(subgroup=size)))
    for size, threads in [(2, 64), (4, 32), (4, 256), (8, 64), (32, 32), (32, 256), (64, 128)]
]


def data_of_states(m, v):
    rng = np.random.default_rng(m + v)
    tensors = {
        "X": np.round(rng.standard_normal((m, v)) * 3, 1).astype(np.float32),  # rounded: with ties
        "T": rng.integers(0, v, m).astype(np.int32),
        "N": rng.integers(-99, 99, (m, v)).astype(np.int32),
        "Y": np.zeros((m, 8), np.float32),
        "Best": np.zeros((m, 4), np.int32),
    }
    return Data(tensors, {}, {"M": m, "V": v})


@pytest.mark.parametrize("execution", CLUSTERS, ids=lambda one: one.name)
@pytest.mark.parametrize(("m", "v"), [(1, 1), (3, 7), (5, 64), (9, 1003), (2, 5000)])
def test_every_state_over_clusters(m, v, execution):
    Subject(ALL_STATES).check(data_of_states(m, v), [execution])


@pytest.mark.parametrize("subgroup", [1, 4, 32])
@pytest.mark.parametrize("threads", [512, 1024])
def test_every_state_over_many_lanes(threads, subgroup, monkeypatch):
    monkeypatch.setattr(tint, "assert_valid", lambda text: None)  # Tint's default limit is 256
    options = Options(threads=threads, limits=Limits(1024, subgroup=subgroup))
    Subject(ALL_STATES).check(data_of_states(2, 40_000), [Execution("many lanes", options)])


def test_the_hardware_reduces_over_a_whole_cluster():
    options = Options(threads=32, limits=Limits(subgroup=8))
    assert "subgroupMax" in Subject(ALL_STATES).compiled(options, {"M": 2, "V": 600}).wgsl
    data = data_of_states(2, 600)
    data.tensors["X"] -= 50.0  # below zero, where the order of the bits is the other way round
    Subject(ALL_STATES).check(data, [Execution("one job", options)])


@pytest.mark.parametrize("wider", [2, 16])
def test_subgroups_wider_than_known_give_the_same(wider, monkeypatch):
    """What the hardware reduces over more threads than the plan knows of stays inside a job."""
    reduce = interp_threads.Threads.reduce

    def over_more(self, value, name, threads, *rest):
        return reduce(self, value, name, min(wider * threads, self.workgroup_size), *rest)

    monkeypatch.setattr(interp_threads.Threads, "reduce", over_more)
    for size, threads in ((4, 64), (8, 256), (32, 128)):
        options = Options(threads=threads, limits=Limits(subgroup=size))
        text = Subject(ALL_STATES).compiled(options, {"M": 3, "V": 5000}).wgsl
        assert "subgroupMax" in text
        for m, v in ((3, 5000), (9, 40)):
            Subject(ALL_STATES).check(data_of_states(m, v), [Execution("wider", options)])
            states = data_of_states(m, v).tensors
            tensors = {"X": states["X"], "T": states["T"], "Y": np.zeros(m, np.float32)}
            Subject(IN_PLACE).check(Data(tensors, {}, {"M": m, "V": v}), [Execution("wider", options)])
        assert "subgroupOr" in Subject(IN_PLACE).compiled(options, {"M": 3, "V": 5000}).wgsl


@pytest.mark.parametrize("execution", CLUSTERS, ids=lambda one: one.name)
def test_columns_over_clusters(execution):
    x = np.random.default_rng(0).standard_normal((300, 5)).astype(np.float32)
    data = Data({"X": x, "Y": np.zeros((2, 5), np.float32)}, {}, {"M": 300, "V": 5})
    Subject(COLUMNS).check(data, [execution])


@pytest.mark.parametrize("row", ["nan", "inf", "-inf", "all -inf", "nan and inf", "huge"])
@pytest.mark.parametrize("trusted", [(), ("exp",)])
def test_special_values_in_a_logsumexp(row, trusted):
    x = np.linspace(-3, 3, 200, dtype=np.float32)
    x = {
        "nan": np.where(np.arange(200) == 77, np.nan, x),
        "inf": np.where(np.arange(200) == 77, np.inf, x),
        "-inf": np.where(np.arange(200) % 3 == 0, -np.inf, x),
        "all -inf": np.full(200, -np.inf),
        "nan and inf": np.where(np.arange(200) % 77 == 5, np.nan, np.where(np.arange(200) == 3, np.inf, x)),
        "huge": np.where(np.arange(200) == 150, 3e38, -3e38),
    }[row].astype(np.float32)
    text = """
kernel lse(X: tensor<f32>[M, V], Y: tensor<f32>[M]) {
  Y[ctx.block.x :+ 1, new] = logsumexp(X[ctx.block.x :+ 1, :])
}
"""
    data = Data({"X": np.stack([x, x[::-1]]), "Y": np.zeros(2, np.float32)}, {}, {"M": 2, "V": 200})
    expected = {"nan": np.nan, "inf": np.inf, "all -inf": -np.inf, "nan and inf": np.nan, "huge": np.float32(3e38)}
    for threads, size in ((32, 1), (64, 8), (256, 32)):
        options = Options(threads=threads, limits=Limits(subgroup=size), trusted=trusted)
        got = Subject(text).run(Execution("", options), data)["Y"]
        if row in expected:
            np.testing.assert_array_equal(got, np.float32(expected[row]))
        else:
            kept = x[np.isfinite(x)].astype(np.float64)
            np.testing.assert_allclose(got, np.log(np.exp(kept).sum()), rtol=1e-6)
