"""Mutations of compiled kernels: without any one of its barriers each of them races, and the checker says so."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tilec.driver import compile_kernel, parse_file
from tilec.loop import interp, ir
from tilec.source import Source

TEXT = """
kernel train(X: tensor<f32>[M, V], T: tensor<i32>[M], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :]
  let t = T[r :+ 8, new]
  let loss = where(t >= 0, logsumexp(x) - pick(x, t), 0.0)
  Loss[r :+ 8, new] = loss
  X[r :+ 8, :] = grad(loss, x)
}

kernel normalise(X: tensor<f32>[M, V], Y: tensor<f32>[M, V]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :]
  let centred = x - rowmean(x)
  Y[r :+ 8, :] = centred * rsqrt(rowmean(square(centred)) + 1e-5)
}
"""
SHAPES = [(9, 40), (5, 600)]
FREE = """
kernel facts(X: tensor<f32>[M, V], At: tensor<i32>[M, 2]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :]
  At[r :+ 8, 0 :+ 1] = rowargmax(x)
  At[r :+ 8, 1 :+ 1] = rowargmin(x)
}

kernel columns(X: tensor<f32>[M, V], At: tensor<f32>[M, 3]) {
  let r = ctx.block.x * 8
  At[r :+ 8, 0 :+ 1] = rowsum(X[r :+ 8, :]) + At[r :+ 8, 1 :+ 1]
  At[r :+ 8, 1 :+ 1] = At[r :+ 8, 2 :+ 1] * 2.0
  At[r :+ 8, 2 :+ 1] = At[r :+ 8, 1 :+ 1] + At[r :+ 8, 0 :+ 1]
}

kernel shares(X: tensor<f32>[M, V], Y: tensor<f32>[M, V], Part: tensor<f32>[ceildiv(M, 32), V]) {
  let p = ctx.block.x
  var total: tile<f32>[1, V] = 0.0
  for i in range(0, 32, 8) {
    let x = X[p * 32 + i :+ 8, :]
    Y[p * 32 + i :+ 8, :] = x - rowmean(x)
    total += colsum(x)
  }
  Part[p :+ 1, :] = total
}
"""


def without(body, number, counter):
    """The statements less the barrier of that number; `counter` holds how many came by."""
    kept = []
    for statement in body:
        match statement:
            case ir.Barrier():
                counter[0] += 1
                if counter[0] - 1 == number:
                    continue
            case ir.If():
                then, otherwise = (without(side, number, counter) for side in (statement.then, statement.otherwise))
                statement = replace(statement, then=then, otherwise=otherwise)
            case ir.Loop() | ir.While():
                statement = replace(statement, body=without(statement.body, number, counter))
        kept.append(statement)
    return tuple(kept)


def mutants(program):
    number = 0
    while True:
        counter = [0]
        dispatches = tuple(replace(each, body=without(each.body, number, counter)) for each in program.dispatches)
        if number >= counter[0]:
            return
        yield replace(program, dispatches=dispatches)
        number += 1


def words(array):
    return np.frombuffer(array.tobytes() + b"\0" * (-array.nbytes % 16), np.uint32).copy()


def run(program, rows, columns):
    random = np.random.default_rng(0)
    x = random.normal(size=(rows, columns)).astype(np.float32)
    targets = random.integers(-1, columns, rows).astype(np.int32)
    dims = {"M": rows, "V": columns}
    buffers = {
        "X": words(x),
        "Y": words(x),
        "T": words(targets),
        "Loss": words(np.zeros(rows, np.float32)),
        "scratch": interp.make_scratch(program, dims, {}),
    }
    interp.run(program, buffers, interp.evaluate_uniforms(program, dims, {}))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["train", "normalise"])
def test_each_barrier_is_needed_and_missed(name, shape):
    loaded = parse_file(Source("barriers.ph", TEXT))
    program = compile_kernel(loaded.program, name, dims=dict(zip(("M", "V"), shape, strict=True))).program
    run(program, *shape)
    found = list(mutants(program))
    assert found
    for mutant in found:
        with pytest.raises(interp.RaceError):
            run(mutant, *shape)


def bodies(body):
    """The body and those of the control flow in it."""
    yield body
    for statement in body:
        match statement:
            case ir.If():
                inner = (statement.then, statement.otherwise)
            case ir.Loop() | ir.While():
                inner = (statement.body,)
            case _:
                continue
        for each in inner:
            yield from bodies(each)


@pytest.mark.parametrize("name", ["facts", "columns"])
def test_what_one_lane_reads_and_stores_needs_no_barrier(name):
    loaded = parse_file(Source("barriers.ph", FREE))
    program = compile_kernel(loaded.program, name, dims={"M": 9, "V": 8}).program
    found = [each for dispatch in program.dispatches for body in bodies(dispatch.body) for each in body]
    assert not any(isinstance(each, ir.Barrier) and each.storage for each in found)


@pytest.mark.parametrize("shape", [(9, 40), (70, 300)])
def test_no_barrier_follows_another_or_ends_a_dispatch(shape):
    loaded = parse_file(Source("barriers.ph", FREE))
    dims = dict(zip(("M", "V"), shape, strict=True))
    program = compile_kernel(loaded.program, "shares", dims=dims).program
    count = 0
    for dispatch in program.dispatches:
        assert not isinstance(dispatch.body[-1], ir.Barrier)
        for body in bodies(dispatch.body):
            barriers = [isinstance(each, ir.Barrier) for each in body]
            count += sum(barriers)
            assert not any(one and other for one, other in pairwise(barriers))
    assert count
