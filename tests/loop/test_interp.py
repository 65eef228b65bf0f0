"""The loop interpreter runs right programs and refuses each kind of wrong one, with the words that name the fault."""

from __future__ import annotations

import numpy as np
import pytest

from tests.loop.builders import F32, GROUP, I32, LANE, U32, bits, buffer, f32, i32, loop, op, program, run, u32
from tilec.loop import interp, ir
from tilec.source import Source, Span
from tilec.types import Extent


def tree_reduction(barriers=("before", "inside"), threads=32, workgroups=3):
    x, out = buffer("x", writable=False), buffer("out")
    partial = ir.SharedArray("partial", F32, threads)
    own = ir.Local("own", F32)
    half = ir.Local("half", U32)
    stages = []
    stride = threads // 2
    while stride:
        add = ir.SharedStore(
            partial, LANE, op("add", ir.SharedLoad(partial, LANE), ir.SharedLoad(partial, op("add", LANE, u32(stride))))
        )
        if "inside" in barriers:
            stages.append(ir.Barrier(storage=False))
        stages.append(ir.If(op("lt", LANE, u32(stride)), (add,)))
        stride //= 2
    body = [
        ir.Let(half, u32(threads)),
        ir.Let(own, ir.Load(x, op("add", op("mul", GROUP, half), LANE))),
        ir.SharedStore(partial, LANE, own),
        *stages,
    ]
    if "before" in barriers:
        body.append(ir.Barrier(storage=False))
    body.append(ir.If(op("eq", LANE, u32(0)), (ir.StoreElement(out, GROUP, ir.SharedLoad(partial, u32(0))),)))
    return program(*body, threads=threads, workgroups=workgroups, buffers=(x, out), shared=(partial,))


def test_tree_reduction():
    x = np.arange(96, dtype=np.float32)
    result = run(tree_reduction(), x=x, out=np.zeros(4, np.float32))
    np.testing.assert_array_equal(result["out"], [*x.reshape(3, 32).sum(axis=1), 0])


def test_tree_reduction_over_several_batches():
    x = np.arange(32 * 300, dtype=np.float32)
    result = run(tree_reduction(workgroups=300), x=x, out=np.zeros(300, np.float32))
    np.testing.assert_array_equal(result["out"], x.reshape(300, 32).sum(axis=1))


def test_missing_barrier_is_a_race():
    with pytest.raises(interp.RaceError) as raised:
        run(tree_reduction(barriers=("before",)), x=np.zeros(96, np.float32), out=np.zeros(4, np.float32))
    assert raised.value.memory == "partial"
    assert raised.value.first.kind == "write"
    assert raised.value.first.thread != raised.value.second.thread
    assert "partial[local_index] = " in str(raised.value)


def test_race_between_last_stage_and_result_needs_no_barrier_for_the_same_thread():
    run(tree_reduction(barriers=("inside",)), x=np.zeros(96, np.float32), out=np.zeros(4, np.float32))


def mirrored_copy(storage):
    """Thread i writes word i, then reads word 31 - i that another thread wrote."""
    x, out = buffer("x"), buffer("out")
    span = Span(Source("kernel.ph", "one\ntwo"), 4, 7)
    mirrored = op("sub", u32(31), LANE)
    return program(
        ir.StoreElement(x, LANE, op("f32", LANE), span=span),
        ir.Barrier(storage),
        ir.StoreElement(out, LANE, ir.Load(x, mirrored)),
        buffers=(x, out),
    )


def test_storage_barrier_orders_storage():
    result = run(mirrored_copy(storage=True), x=np.zeros(32, np.float32), out=np.zeros(32, np.float32))
    np.testing.assert_array_equal(result["out"], np.arange(31, -1, -1))


def test_workgroup_barrier_does_not_order_storage():
    with pytest.raises(interp.RaceError, match=r"word 31 of x: write by thread 31 .*kernel\.ph:2.*read by thread 0"):
        run(mirrored_copy(storage=False), x=np.zeros(32, np.float32), out=np.zeros(32, np.float32))


def test_storage_barrier_orders_shared_memory_too():
    partial = ir.SharedArray("partial", I32, 32)
    out = buffer("out", I32)
    made = program(
        ir.SharedStore(partial, LANE, op("i32", LANE)),
        ir.Barrier(storage=True),
        ir.StoreElement(out, LANE, ir.SharedLoad(partial, bits("xor", LANE, u32(1)))),
        buffers=(out,),
        shared=(partial,),
    )
    assert run(made, out=np.zeros(32, np.int32))["out"][:4].tolist() == [1, 0, 3, 2]


@pytest.mark.parametrize("barrier", [True, False])
def test_two_workgroups_writing_one_word_race_whatever_the_barriers(barrier):
    out = buffer("out")
    fence = (ir.Barrier(storage=True),) if barrier else ()
    store = ir.If(op("eq", LANE, u32(0)), (ir.StoreElement(out, u32(5), f32(1.0)),))
    with pytest.raises(interp.RaceError, match="word 5 of out") as raised:
        run(program(*fence, store, *fence, workgroups=2, buffers=(out,)), out=np.zeros(8, np.float32))
    assert {raised.value.first.workgroup, raised.value.second.workgroup} == {0, 1}


def test_workgroups_of_different_batches_race():
    out = buffer("out")
    index = op("mul", op("rem", GROUP, u32(499)), u32(8))
    store = ir.StoreElement(out, op("add", index, LANE), f32(1.0))
    made = program(store, threads=8, workgroups=1000, buffers=(out,))
    with pytest.raises(interp.RaceError, match="write by thread 0 of workgroup 0"):
        interp.run(made, {"out": np.zeros(4000, np.float32)}, interp.evaluate_uniforms(made, {}, {}))


def test_another_workgroups_read_before_a_write_races():
    x, out = buffer("x"), buffer("out")
    foreign = op("sub", u32(63), op("add", op("mul", GROUP, u32(32)), LANE))
    own = op("add", op("mul", GROUP, u32(32)), LANE)
    made = program(
        ir.StoreElement(out, own, ir.Load(x, foreign)),
        ir.Barrier(storage=True),
        ir.StoreElement(x, own, f32(0.0)),
        workgroups=2,
        buffers=(x, out),
    )
    with pytest.raises(interp.RaceError, match="read by thread"):
        run(made, x=np.zeros(64, np.float32), out=np.zeros(64, np.float32))


def halves_of_words(owner_of_word):
    """Each thread writes one f16 half by reading, changing and writing its word."""
    x = buffer("x", U32)
    word = bits("shr", LANE, u32(1))
    shift = op("mul", bits("and", LANE, u32(1)), u32(16))
    half = ir.Local("half", U32)
    old = ir.Local("old", U32)
    cleared = bits("and", old, bits("xor", bits("shl", u32(0xFFFF), shift), u32(0xFFFFFFFF)))
    one = (
        ir.Let(half, bits("helper:f32_to_f16", op("f32", LANE))),
        ir.Let(old, ir.Load(x, word)),
        ir.StoreElement(x, word, bits("or", cleared, bits("shl", half, shift))),
    )
    if not owner_of_word:
        return program(*one, buffers=(x,))
    pair = bits(
        "or",
        bits("helper:f32_to_f16", op("f32", op("mul", LANE, u32(2)))),
        bits("shl", bits("helper:f32_to_f16", op("f32", op("add", op("mul", LANE, u32(2)), u32(1)))), u32(16)),
    )
    return program(ir.If(op("lt", LANE, u32(16)), (ir.StoreElement(x, LANE, pair),)), buffers=(x,))


def test_halves_of_a_word_written_by_two_threads_race():
    with pytest.raises(interp.RaceError, match="of x"):
        run(halves_of_words(owner_of_word=False), x=np.zeros(16, np.uint32))


def test_halves_of_a_word_written_by_one_thread():
    result = run(halves_of_words(owner_of_word=True), x=np.zeros(16, np.uint32))
    np.testing.assert_array_equal(result["x"].view(np.float16), np.arange(32))


def in_place_rows(clamp, rows=5, columns=8):
    """Eight rows of lanes for five rows of a tensor: those beyond are clamped to the last row, or left out."""
    x = buffer("x")
    row = op("div", LANE, u32(columns))
    inside = op("lt", row, u32(rows))
    row_used = op("min", row, u32(rows - 1)) if clamp else row
    index = op("add", op("mul", row_used, u32(columns)), op("rem", LANE, u32(columns)))
    store = ir.StoreElement(x, index, op("add", ir.Load(x, index), f32(1.0)))
    body = store if clamp else ir.If(inside, (store,))
    return program(body, threads=64, buffers=(x,))


def test_clamped_ragged_row_races():
    with pytest.raises(interp.RaceError, match="word 32 of x"):
        run(in_place_rows(clamp=True), x=np.zeros(40, np.float32))


def test_predicated_ragged_row():
    result = run(in_place_rows(clamp=False), x=np.zeros(40, np.float32))
    np.testing.assert_array_equal(result["x"], np.ones(40))


@pytest.mark.parametrize("fenced", [True, False])
def test_foreign_read_of_a_word_that_its_owner_overwrites(fenced):
    """The target's logit is read by thread 0 while the owner of the element may be writing the gradient."""
    x, loss = buffer("x"), buffer("loss")
    target = ir.Local("target", F32)
    fence = (ir.Barrier(storage=True),) if fenced else ()
    made = program(
        ir.Let(target, ir.Load(x, u32(7))),
        *fence,
        ir.StoreElement(x, LANE, f32(0.0)),
        ir.If(op("eq", LANE, u32(0)), (ir.StoreElement(loss, u32(0), target),)),
        buffers=(x, loss),
    )
    arrays = {"x": np.arange(32, dtype=np.float32), "loss": np.zeros(4, np.float32)}
    if fenced:
        assert run(made, **arrays)["loss"][0] == 7
    else:
        with pytest.raises(interp.RaceError, match="word 7 of x: read by thread"):
            run(made, **arrays)


def test_component_stores_by_threads_that_share_a_vector_race():
    x = buffer("x", width=4)
    ones = ir.Vector((f32(1.0),) * 4)
    made = program(ir.StoreElement(x, bits("shr", LANE, u32(1)), ones), buffers=(x,))
    with pytest.raises(interp.RaceError, match="of x"):
        run(made, x=np.zeros(64, np.float32))


def test_vectors():
    x, out = buffer("x", width=4, writable=False), buffer("out", width=4)
    loaded = ir.Local("loaded", F32, 4)
    total = op("add", ir.Component(loaded, 0), ir.Component(loaded, 3))
    made = program(
        ir.Let(loaded, ir.Load(x, LANE)),
        ir.StoreElement(out, LANE, ir.Vector((total, f32(2.0), ir.Component(loaded, 1), total))),
        buffers=(x, out),
    )
    x_words = np.arange(128, dtype=np.float32)
    result = run(made, x=x_words, out=np.zeros(128, np.float32))["out"].reshape(32, 4)
    rows = x_words.reshape(32, 4)
    np.testing.assert_array_equal(result[:, 0], rows[:, 0] + rows[:, 3])
    np.testing.assert_array_equal(result[:, 2], rows[:, 1])


@pytest.mark.parametrize("count", [1, 7, 31])
@pytest.mark.parametrize("statement", ["barrier", "uniform load"])
def test_barrier_in_divergent_flow(statement, count):
    flag = ir.SharedArray("flag", I32, 1)
    inner = ir.Barrier(storage=False) if statement == "barrier" else ir.Let(ir.Local("f", I32), ir.UniformLoad(flag))
    made = program(ir.If(op("lt", LANE, u32(count)), (inner,)), shared=(flag,))
    with pytest.raises(interp.BarrierError, match=f"only {count} of 32 threads of workgroup 0"):
        run(made)


def test_barrier_in_a_loop_with_different_trips():
    index = ir.Local("i", U32)
    made = program(loop(index, u32(0), op("add", LANE, u32(1)), u32(1), ir.Barrier(storage=False)))
    with pytest.raises(interp.BarrierError, match="only 31 of 32"):
        run(made)


def test_barrier_under_a_condition_of_the_workgroup():
    made = program(ir.If(op("eq", GROUP, u32(1)), (ir.Barrier(storage=True),)), workgroups=3)
    run(made)


def test_uniform_load_broadcasts_and_orders_shared_memory():
    flag, out = ir.SharedArray("flag", I32, 1), buffer("out", I32)
    value = ir.Local("value", I32)
    made = program(
        ir.If(op("eq", LANE, u32(3)), (ir.SharedStore(flag, i32(0), i32(42)),)),
        ir.Let(value, ir.UniformLoad(flag)),
        ir.If(op("eq", LANE, u32(4)), (ir.SharedStore(flag, i32(0), i32(1)),)),
        ir.StoreElement(out, LANE, value),
        buffers=(out,),
        shared=(flag,),
    )
    assert (run(made, out=np.zeros(32, np.int32))["out"] == 42).all()


def test_shared_memory_that_nothing_wrote():
    partial, out = ir.SharedArray("partial", F32, 4), buffer("out")
    made = program(
        ir.StoreElement(out, LANE, ir.SharedLoad(partial, bits("and", LANE, u32(3)))), buffers=(out,), shared=(partial,)
    )
    with pytest.raises(interp.UninitializedError, match="word 0 of partial"):
        run(made, out=np.zeros(32, np.float32))


def test_scratch_that_nothing_wrote():
    scratch, out = buffer("scratch", U32, tensor=None), buffer("out", U32)
    made = program(ir.StoreElement(out, LANE, ir.Load(scratch, LANE)), buffers=(scratch, out), scratch=32)
    with pytest.raises(interp.UninitializedError, match="word 0 of scratch"):
        run(made, out=np.zeros(32, np.uint32), scratch=interp.make_scratch(made, {}, {}))


def test_scratch_carries_values_to_the_next_dispatch():
    scratch, out = buffer("scratch", U32, tensor=None), buffer("out", U32)
    count = ir.UniformField("groups", U32, Extent.of(1))
    first = ir.Dispatch(
        "first", 32, Extent.of(1), count, (scratch,), (), (ir.StoreElement(scratch, LANE, op("mul", LANE, LANE)),)
    )
    mirrored = ir.Load(scratch, op("sub", u32(31), LANE))
    second = ir.Dispatch("second", 32, Extent.of(1), count, (scratch, out), (), (ir.StoreElement(out, LANE, mirrored),))
    made = ir.Program("kernel", (first, second), (count,), Extent.of(32), ())
    result = run(made, out=np.zeros(32, np.uint32), scratch=interp.make_scratch(made, {}, {}))
    np.testing.assert_array_equal(result["out"], np.arange(31, -1, -1) ** 2)


@pytest.mark.parametrize("kind", ["load", "store", "shared", "negative"])
def test_index_outside(kind):
    x, out, partial = buffer("x", writable=False), buffer("out"), ir.SharedArray("partial", F32, 31)
    body = {
        "load": ir.StoreElement(out, LANE, ir.Load(x, op("add", LANE, u32(1)))),
        "store": ir.StoreElement(out, op("add", LANE, u32(1)), f32(0.0)),
        "shared": ir.SharedStore(partial, LANE, f32(0.0)),
        "negative": ir.StoreElement(out, op("sub", op("i32", LANE), i32(1)), f32(0.0)),
    }[kind]
    made = program(body, buffers=(x, out), shared=(partial,))
    with pytest.raises(interp.BoundsError, match=r"of 3[12] elements"):
        run(made, x=np.zeros(32, np.float32), out=np.zeros(32, np.float32))


def test_memory_under_a_false_mask_is_not_touched():
    x, out = buffer("x", writable=False), buffer("out")
    made = program(
        ir.If(
            op("lt", LANE, u32(5)),
            (ir.StoreElement(out, LANE, ir.Load(x, LANE)),),
            (ir.If(op("eq", LANE, u32(5)), (ir.StoreElement(out, LANE, f32(-1.0)),)),),
        ),
        buffers=(x, out),
    )
    result = run(made, x=np.arange(1, 6, dtype=np.float32), out=np.zeros(6, np.float32))
    assert result["out"].tolist() == [1, 2, 3, 4, 5, -1]


def test_of_two_branches_each_thread_takes_one():
    out = buffer("out")
    one, other = (ir.StoreElement(out, LANE, f32(number)) for number in (1.0, 2.0))
    result = run(program(ir.If(op("lt", LANE, u32(5)), (one,), (other,)), buffers=(out,)), out=np.zeros(32, np.float32))
    assert result["out"].tolist() == [1.0] * 5 + [2.0] * 27
