"""What the race checker remembers of a word: the readers that a later write may meet, whoever read since."""

from __future__ import annotations

import numpy as np
import pytest

from tests.loop.builders import F32, GROUP, LANE, buffer, f32, op, program, run, u32
from tilec.loop import interp, ir

WORD = u32(5)


def reads(out, *lanes):
    """`out[lane] = x[5]` in the threads of these lanes, at once."""
    wanted = op("eq", LANE, u32(lanes[0]))
    for lane in lanes[1:]:
        wanted = op("or", wanted, op("eq", LANE, u32(lane)))
    return ir.If(wanted, (ir.StoreElement(out, LANE, ir.Load(buffer("x"), WORD)),))


def writes(lane):
    return ir.If(op("eq", LANE, u32(lane)), (ir.StoreElement(buffer("x"), WORD, f32(0.0)),))


def execute(made):
    run(made, x=np.zeros(8, np.float32), out=np.zeros(32, np.float32))


@pytest.mark.parametrize("threads", [32, 4096])  # both workgroups in one batch, or one after the other
@pytest.mark.parametrize("writer", [0, 1])
def test_another_workgroups_reader_is_not_forgotten_for_those_of_the_writers_own(writer, threads):
    x, out = buffer("x"), buffer("out")
    own = op("add", op("mul", GROUP, u32(threads)), LANE)
    is_writer = op("and", op("eq", GROUP, u32(writer)), op("eq", LANE, u32(3)))
    made = program(
        ir.StoreElement(out, own, ir.Load(x, WORD)),
        ir.Barrier(storage=True),  # orders the writer behind all readers of its own workgroup
        ir.If(is_writer, (ir.StoreElement(x, WORD, f32(0.0)),)),
        threads=threads,
        workgroups=2,
        buffers=(x, out),
    )
    with pytest.raises(interp.RaceError, match="word 5 of x") as raised:
        run(made, x=np.zeros(8, np.float32), out=np.zeros(2 * threads, np.float32))
    assert {raised.value.first.workgroup, raised.value.second.workgroup} == {0, 1}


def test_a_read_is_not_forgotten_for_an_earlier_one_that_a_barrier_orders():
    x, out = buffer("x"), buffer("out")
    fence = ir.Barrier(storage=True)
    with pytest.raises(interp.RaceError, match="read by thread 1 "):
        execute(program(reads(out, 0), fence, reads(out, 1), writes(2), buffers=(x, out)))
    execute(program(reads(out, 0), reads(out, 1), fence, writes(2), buffers=(x, out)))


@pytest.mark.parametrize("writer", [2, 3])
def test_of_two_readers_behind_a_barrier_both_are_remembered(writer):
    x, out = buffer("x"), buffer("out")
    before, after = reads(out, 0, 1), reads(out, 2, 3)
    with pytest.raises(interp.RaceError, match=f"read by thread {5 - writer} "):
        execute(program(before, ir.Barrier(storage=True), after, writes(writer), buffers=(x, out)))


def test_a_vector_is_touched_by_its_own_thread_in_all_of_its_words():
    x, out = buffer("x", width=4), buffer("out")
    loaded = ir.Local("loaded", F32, 4)
    zeros = ir.Vector((f32(0.0),) * 4)
    made = program(
        ir.Let(loaded, ir.Load(x, LANE)),
        ir.StoreElement(out, LANE, ir.Component(loaded, 3)),
        ir.If(op("eq", LANE, u32(6)), (ir.StoreElement(x, LANE, zeros),)),
        buffers=(x, out),
    )
    result = run(made, x=np.ones(128, np.float32), out=np.zeros(32, np.float32))
    assert np.flatnonzero(result["x"] == 0.0).tolist() == [24, 25, 26, 27]
