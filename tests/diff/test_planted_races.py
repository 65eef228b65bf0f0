"""The race checker passes real kernels as they are, and complains once a fault is planted into them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.diff.harness import zeros_for
from tests.diff.planting import (
    barriers_of,
    clamped,
    execute,
    items_of,
    lowered,
    planned,
    rounds_of,
    with_body,
    without,
)  # fmt: skip
from tilec.loop import ir
from tilec.loop.interp import RaceError
from tilec.options import Limits, Options
from tilec.plan.ir import Phase, Plan, Round
from tilec.tile.ir import Kernel

LOSS_AND_GRADIENT = """
kernel train(X: tensor<f32>[M, V], T: tensor<i32>[M], L: tensor<f32>[M]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  let t = T[r :+ 4, new]
  let lse = logsumexp(x)
  L[r :+ 4, new] = lse - pick(x, t)
  X[r :+ 4, :] = exp(x - lse) - f32(iota(1) == t)
}
"""
NEIGHBOURS = """
kernel neighbours(X: tensor<f32>[M, V], Y: tensor<f32>[M, V]) {
  let r = ctx.block.x * 4
  X[r :+ 4, :] *= 2.0
  Y[r :+ 4, :] = X[r :+ 4, 1 :+ V] else 0.0
}
"""
CENTRED = """
kernel centred(X: tensor<f32>[M, V], Y: tensor<f32>[M, V], P: tensor<f32>[ceildiv(M, 8), V]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :]
  let m = colmean(x)
  P[ctx.block.x :+ 1, :] = m
  Y[r :+ 8, :] = x - m - rowmean(x)
}
"""
CHUNKS = """
kernel chunks(X: tensor<f32>[M, V], Y: tensor<f32>[M]) {
  let r = ctx.block.x * 4
  var acc: tile<f32>[4, 1] = 0.0
  for c in range(0, V, 64) {
    acc = max(acc, rowsum(X[r :+ 4, c :+ 64]) - acc)
  }
  Y[r :+ 4, new] = acc
}
"""
WHOLE = """
kernel whole(X: tensor<f32>[M, V], S: tensor<f32>[1]) {
  let x = X[:, :]
  let m = mean(x)
  S[0] = sum(square(x - m))
  X[:, :] = x - m
}
"""
HALVES = """
kernel halves(X: tensor<f16>[M, V], S: tensor<f32>[M]) {
  let r = ctx.block.x * 3
  X[r :+ 3, :] *= S[r :+ 3, new]
}
"""
KERNELS = {
    "loss_and_gradient": (LOSS_AND_GRADIENT, {"M": 6, "V": 300}),
    "neighbours": (NEIGHBOURS, {"M": 6, "V": 300}),
    "centred": (CENTRED, {"M": 13, "V": 70}),
    "chunks": (CHUNKS, {"M": 6, "V": 300}),
    "whole": (WHOLE, {"M": 13, "V": 70}),
    "halves": (HALVES, {"M": 7, "V": 9}),
}
PLANS = {
    "grouped": Options(),
    "64 threads": Options(threads=64),
    "for a CPU": Options(limits=Limits(is_cpu=True), threads=32),
    "naive": Options(fusion=False),
}


@dataclass
class Setting:
    """A kernel, its plan for some dims, and arrays."""

    kernel: Kernel
    plan: Plan
    tensors: dict[str, np.ndarray]
    dims: dict[str, int]

    def run(self, program: ir.Program | None = None) -> None:
        execute(program or lowered(self.kernel, self.plan), self.kernel, self.tensors, self.dims)

    @property
    def lengths(self) -> dict[str, int]:
        return {name: array.size for name, array in self.tensors.items()}


def setting(name: str, options: Options | None = None) -> Setting:
    text, dims = KERNELS[name]
    kernel, plan = planned(text, dims=dims, options=options)
    tensors = zeros_for(kernel, dims)
    rng = np.random.default_rng(0)
    for array in tensors.values():
        array[...] = rng.integers(0, 5, array.shape)
    return Setting(kernel, plan, tensors, dims)


@pytest.mark.parametrize("options", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("name", KERNELS)
def test_real_kernels_have_no_race(name: str, options: Options):
    setting(name, options).run()


def _is_last(body: tuple[ir.Statement, ...], barrier: ir.Barrier) -> bool:
    return body[-1] is barrier


@pytest.mark.parametrize("options", [PLANS["grouped"], PLANS["64 threads"]], ids=["grouped", "64 threads"])
@pytest.mark.parametrize("name", ["loss_and_gradient", "neighbours", "centred", "chunks", "whole"])
def test_every_barrier_of_a_grouped_plan_is_missed(name: str, options: Options):
    made = setting(name, options)
    program = lowered(made.kernel, made.plan)
    dropped = 0
    for dispatch in program.dispatches:
        for barrier in barriers_of(dispatch.body):
            if not _is_last(dispatch.body, barrier):
                dropped += 1
                with pytest.raises(RaceError):
                    made.run(with_body(program, lambda body, barrier=barrier: without(body, barrier)))
    assert dropped


@pytest.mark.parametrize("name", ["loss_and_gradient", "centred", "chunks", "whole"])
def test_barriers_of_both_kinds_are_missed_in_the_naive_plan(name: str):
    """Some of its barriers stand between accesses of one thread, and may go; of each kind there is one that may not."""
    made = setting(name, PLANS["naive"])
    program = lowered(made.kernel, made.plan)
    missed = {True: 0, False: 0}
    for dispatch in program.dispatches:
        for barrier in barriers_of(dispatch.body):
            try:
                made.run(with_body(program, lambda body, barrier=barrier: without(body, barrier)))
            except RaceError:
                missed[barrier.storage] += 1
    assert missed[True]
    assert missed[False]


@pytest.mark.parametrize("options", [PLANS["grouped"], PLANS["64 threads"]], ids=["grouped", "64 threads"])
def test_a_storage_barrier_made_a_workgroup_barrier_is_found(options: Options):
    made = setting("neighbours", options)
    program = lowered(made.kernel, made.plan)
    (barrier,) = [one for one in barriers_of(program.dispatches[0].body) if one.storage]
    weaker = (ir.Barrier(False),)
    with pytest.raises(RaceError):
        made.run(with_body(program, lambda body: without(body, barrier, weaker)))


def test_a_cleared_fence_of_a_round_is_found():
    made = setting("neighbours")
    fenced = [one for one in rounds_of(made.plan) if one.fence]
    assert fenced
    for one in fenced:
        one.fence = False
    with pytest.raises(RaceError):
        made.run()


@pytest.mark.parametrize("threads", [None, 32, 64])
def test_a_pick_read_by_another_lane_after_the_row_is_overwritten_is_found(threads: int | None):
    """The race of the hand-written kernel that is the language's model: the target's logit is read too late."""
    made = setting("loss_and_gradient", Options(threads=threads))
    first, second = rounds_of(made.plan)
    assert any(sink.kind == "pick" for sink in first.sinks)
    second.sinks += [sink for sink in first.sinks if sink.kind == "store"]
    first.sinks = [sink for sink in first.sinks if sink.kind == "reduce"]
    with pytest.raises(RaceError):
        made.run()


@pytest.mark.parametrize("name", ["neighbours", "chunks"])
def test_a_ragged_row_clamped_instead_of_predicated_is_found(name: str):
    """6 rows in blocks of 4: the last two rows of the second block would land on the last row."""
    made = setting(name)
    program = lowered(made.kernel, made.plan)
    with pytest.raises(RaceError):
        made.run(with_body(program, lambda body: clamped(body, made.lengths)))


@pytest.mark.parametrize("threads", [None, 64])
def test_rows_of_f16_that_share_a_word_are_found(threads: int | None):
    """9 columns: every other row starts in the middle of a word."""
    made = setting("halves", Options(threads=threads))
    assert made.plan.shadows
    _force_granular(made.plan)
    with pytest.raises(RaceError):
        made.run()


def test_rows_of_f16_that_share_no_word_are_granular():
    """8 columns: the same plan is right, and is what the planner makes by itself."""
    text, _ = KERNELS["halves"]
    dims = {"M": 7, "V": 8}
    kernel, plan = planned(text, dims=dims)
    assert not plan.shadows
    assert all(sink.granular for one in rounds_of(plan) for sink in one.sinks if sink.kind == "store")
    execute(lowered(kernel, plan), kernel, zeros_for(kernel, dims), dims)


def _force_granular(plan: Plan) -> None:
    plan.shadows.clear()
    plan.dispatches[:] = [one for one in plan.dispatches if one.kind not in ("pack", "unpack")]
    for item in items_of(plan):
        if isinstance(item, Phase):
            item.granule = 2
            item.mapping = replace(item.mapping, granule=2)
        if isinstance(item, Round):
            for sink in item.sinks:
                sink.granular = sink.granular or sink.kind == "store"
