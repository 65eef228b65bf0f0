"""Uniforms, workgroups and bindings: what the host fills in is what the shader reads."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import tilec
from tests.wgsl.programs import (
    LOCAL_INDEX,
    THREADS,
    accepted,
    out_buffer,
    program,
    run,
    store_each,
)
from tilec.loop.ir import (
    Buffer,
    Builtin,
    Const,
    If,
    Load,
    Op,
    Select,
    StoreElement,
    Uniform,
    UniformField,
)
from tilec.types import DType, Extent, Symbol
from tilec.wgsl import layout

F32, I32, U32, BOOL = DType.F32, DType.I32, DType.U32, DType.BOOL


def const(dtype: DType, value: float) -> Const:
    return Const(dtype, value)


# --- layout ----------------------------------------------------------------------------------------------------


def test_uniforms_arrive(device):
    rows = Extent.of(Symbol("M", "dim"))
    fields = [
        UniformField("a", F32, scalar="a"),
        UniformField("flag", BOOL, scalar="flag"),
        UniformField("n", I32, extent=rows * -2 + 1),
        UniformField("u", U32, scalar="u"),
    ]
    value = Select(Uniform(fields[1]), Uniform(fields[0]), const(F32, 0))
    for one in fields[2:]:
        value = Op("add", (value, Op("f32", (Uniform(one),), F32)), F32)
    built = store_each(value, F32, uniforms=fields)
    start = {"Out": np.zeros(THREADS, np.float32)}
    got = run(device, built, start, {"M": 8}, {"a": 0.5, "flag": True, "u": 2**31})["Out"]
    assert got[0] == 0.5 - 15 + 2**31
    got = run(device, built, start, {"M": 8}, {"a": math.inf, "flag": False, "u": 1})["Out"]
    assert got[0] == -14
    assert layout.uniform_size(built) == 32
    assert dict(zip((one.name for one in built.uniforms), layout.uniform_offsets(built), strict=True))["u"] == 12


def test_workgroups_fold_into_two_axes(lavapipe):
    assert layout.fold(0) == (0, 1, 1)
    assert layout.fold(65_535) == (65_535, 1, 1)
    for workgroups, rows in ((65_536, 2), (65_537, 2), (131_070, 2), (131_071, 3), (10**9 + 1, 15_260)):
        x, y, _ = layout.fold(workgroups)
        assert y == rows
        assert x <= 65_535
        assert workgroups <= x * y < workgroups + y
    rows = Extent.of(Symbol("M", "dim"))
    count = UniformField("workgroup_count", U32, extent=rows)
    out = out_buffer(U32)
    index = Builtin("workgroup")
    body = [
        If(
            Op("lt", (index, const(U32, 70_001)), BOOL),
            (StoreElement(out, index, Op("add", (index, const(U32, 1)), U32)),),
        )
    ]
    one = program(body, [out], workgroups=rows, count=count, threads=1)
    got = run(lavapipe, one, {"Out": np.zeros(70_001, np.uint32)}, {"M": 70_000})["Out"]
    np.testing.assert_array_equal(got[:-1], np.arange(70_000) + 1)
    assert got[-1] == 0  # the fold has 70,001 places, and the last one does nothing


def test_dispatches_share_bindings_and_keep_their_own_access():
    from tilec.loop.ir import Dispatch, Program
    from tilec.types import ONE, ZERO

    count = UniformField("workgroup_count", U32, extent=ONE)
    source = Buffer("A", F32, "A", False)
    written, seen = Buffer("scratch", F32, None, True), Buffer("scratch", U32, None, False)
    out = out_buffer(U32)
    first = Dispatch(
        "k", 64, ONE, count, (source, written), (), (StoreElement(written, LOCAL_INDEX, Load(source, LOCAL_INDEX)),)
    )
    second = Dispatch("k", 64, ONE, count, (seen, out), (), (StoreElement(out, LOCAL_INDEX, Load(seen, LOCAL_INDEX)),))
    one = Program("k", (first, second), (count,), ZERO, ())
    emitted = accepted(one)
    assert emitted.entries == ("k", "k_1")
    assert [(b.number, b.name, b.kind) for b in layout.bindings(one)] == [
        (0, "params", "uniform"), (1, "A", "read"), (2, "scratch", "read_write"), (3, "Out", "read_write"),
    ]  # fmt: skip
    assert [(b.number, b.kind) for b in layout.dispatch_bindings(one, second)] == [
        (0, "uniform"), (2, "read"), (3, "read_write"),
    ]  # fmt: skip
    assert re.search(r"binding\(2\) var<storage, read> scratch_1: array<u32>", emitted.text)


def test_without_uniforms_buffers_are_numbered_from_0():
    from tilec.loop.ir import Dispatch, Program
    from tilec.types import ONE, ZERO

    out, source = out_buffer(U32), Buffer("A", U32, "A", False)
    count = UniformField("workgroup_count", U32, extent=ONE)
    body = (StoreElement(out, LOCAL_INDEX, Load(source, LOCAL_INDEX)),)
    one = Program("k", (Dispatch("k", 64, ONE, count, (source, out), (), body),), (), ZERO, ())
    assert [(b.number, b.name) for b in layout.bindings(one)] == [(0, "A"), (1, "Out")]
    assert "binding(0) var<storage, read> A" in accepted(one).text


def test_lines_know_their_source():
    from tilec.source import Source, Span
    from tilec.wgsl.emit import emit_module

    span = Span(Source("a.ph", "x = 1"), 0, 5)
    out = out_buffer(U32)
    emitted = emit_module(program([StoreElement(out, LOCAL_INDEX, LOCAL_INDEX, span=span)], [out]))
    [line] = emitted.spans
    assert emitted.text.split("\n")[line - 1].strip() == "Out[local_index] = local_index;"


def test_nesting_is_measured_and_its_limit_is_what_tint_takes():
    out = out_buffer(U32)
    body: tuple = (StoreElement(out, LOCAL_INDEX, LOCAL_INDEX),)
    for _ in range(layout.DEEPEST_NESTING - 1):
        body = (If(Op("lt", (LOCAL_INDEX, const(U32, 3)), BOOL), body),)
    rows = Extent.of(Symbol("M", "dim"))
    one = program(body, [out], workgroups=rows, count=UniformField("workgroup_count", U32, extent=rows))
    assert layout.deepest_nesting(one) == layout.DEEPEST_NESTING
    accepted(one)


def test_a_kernel_nested_too_deep_for_shaders_is_refused_in_words():
    levels = 62
    text = f"kernel k(A: tensor<f32>[M], n: i32) {{\n{'if n > 0 {' * levels}\nA[:] += 1.0\n{'}' * levels}\n}}\n"
    with pytest.raises(tilec.CompileError, match="nested more than 60 levels deep"):
        tilec.compile(source=text).k.wgsl()
