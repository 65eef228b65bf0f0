"""The emitted text: accepted by both shader compilers, and it means what the loop IR says, on every device."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from tests.wgsl.programs import (
    LOCAL_INDEX,
    NUMPY,
    THREADS,
    accepted,
    evaluate,
    i32,
    out_buffer,
    program,
    run,
    store_each,
)
from tilec.loop.ir import (
    Assign,
    Barrier,
    Bits,
    Buffer,
    Builtin,
    Comment,
    Component,
    Const,
    Declare,
    Expr,
    If,
    Let,
    Load,
    Local,
    Loop,
    Op,
    Select,
    SharedArray,
    SharedLoad,
    SharedStore,
    StoreElement,
    Uniform,
    UniformField,
    UniformLoad,
    Vector,
    While,
)
from tilec.types import DType, Extent, Symbol, apply
from tilec.wgsl import layout
from tilec.wgsl.emit import emit

F32, I32, U32, BOOL = DType.F32, DType.I32, DType.U32, DType.BOOL


def const(dtype: DType, value: float) -> Const:
    return Const(dtype, value)


def test_one_kernel_reads_like_written_text():
    rows = Extent.of(Symbol("M", "dim"))
    count = UniformField("workgroup_count", U32, extent=apply("ceildiv", rows, Extent.of(64)))
    size = UniformField("M", I32, extent=rows)
    source, out = Buffer("A", F32, "A", False), Buffer("B", F32, "B", True)
    index = Local("i", I32)
    first = Op("mul", (Builtin("workgroup"), const(U32, 64)), U32)
    one = program(
        [
            Let(index, i32(Op("add", (first, LOCAL_INDEX), U32))),
            If(
                Op("lt", (index, Uniform(size)), BOOL),
                (StoreElement(out, index, Op("mul", (Load(source, index), const(F32, 2)), F32)),),
            ),
        ],
        [source, out],
        uniforms=[size],
        workgroups=apply("ceildiv", rows, Extent.of(64)),
        count=count,
        name="double",
    )
    assert accepted(one).text == (
        "// Kernel double, written by tilec.\n"
        "\n"
        "struct Params {\n"
        "  M: i32,\n"
        "  workgroup_count: u32,  // ceildiv(M, 64)\n"
        "}\n"
        "\n"
        "@group(0) @binding(0) var<uniform> params: Params;\n"
        "@group(0) @binding(1) var<storage, read> A: array<f32>;\n"
        "@group(0) @binding(2) var<storage, read_write> B: array<f32>;\n"
        "\n"
        "@compute @workgroup_size(64)\n"
        "fn double_(\n"
        "  @builtin(local_invocation_index) local_index: u32,\n"
        "  @builtin(workgroup_id) group: vec3<u32>,\n"
        "  @builtin(num_workgroups) groups: vec3<u32>,\n"
        ") {\n"
        "  let workgroup_index = group.x + group.y * groups.x;\n"
        "  if (workgroup_index < params.workgroup_count) {\n"
        "    let i = bitcast<i32>(workgroup_index * 64u + local_index);\n"
        "    if (i < params.M) {\n"
        "      B[i] = A[i] * 2.0;\n"
        "    }\n"
        "  }\n"
        "}\n"
    )


SPECIAL_FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    1 / 3,
    1e-6,
    123456.789,
    16777217.0,
    1e10,
    3.4028234663852886e38,
    -3.4028234663852886e38,
    3.4028232e38,
    1.1754943508222875e-38,
    1.1754942e-38,
    1e-45,
    -1e-45,
    math.inf,
    -math.inf,
    math.nan,
    65504.0,
    2.0**-24,
    1e22,
    8388608.5,
]


def test_floats_keep_their_bits(device):
    # All in one program: a pipeline is slow to make.
    out = out_buffer(U32)
    body = [
        StoreElement(out, const(U32, place), Bits("bitcast", (const(F32, value),), U32))
        for place, value in enumerate(SPECIAL_FLOATS)
    ]
    got = run(device, program(body, [out]), {"Out": np.zeros(len(SPECIAL_FLOATS), np.uint32)})["Out"]
    expected = np.array(SPECIAL_FLOATS, np.float32).view(np.uint32)
    assert [hex(word) for word in got] == [hex(word) for word in expected]


def test_integers_keep_their_bits(device):
    values = [0, 1, -1, 2**31 - 1, -(2**31), 2**31, 2**32 - 1, 12345]
    out = out_buffer(U32)
    body = []
    for place, value in enumerate(values):
        unsigned = const(U32, value)
        signed = Bits("bitcast", (const(I32, value),), U32)
        body.append(StoreElement(out, const(U32, 2 * place), unsigned))
        body.append(StoreElement(out, const(U32, 2 * place + 1), signed))
    got = run(device, program(body, [out]), {"Out": np.zeros(2 * len(values), np.uint32)})["Out"]
    assert got.tolist() == [value % 2**32 for value in values for _ in range(2)]


# What a shader compiler refuses as a constant expression, or beside a run-time value; with what it should give.
HAZARDS: list[tuple[str, Expr, DType, float]] = [
    ("0 / 0", Op("div", (const(I32, 5), const(I32, 0)), I32), I32, 5),
    ("x / 0", Op("div", (i32(LOCAL_INDEX), const(I32, 0)), I32), I32, -1),
    ("x % 0", Op("rem", (i32(LOCAL_INDEX), const(I32, 0)), I32), I32, 0),
    ("u % 0", Op("rem", (LOCAL_INDEX, const(U32, 0)), U32), U32, 0),
    ("overflow", Op("add", (const(I32, 2**31 - 1), const(I32, 1)), I32), I32, -(2**31)),
    ("product", Op("mul", (const(I32, 65536), const(I32, 65536)), I32), I32, 0),
    ("u32 overflow", Op("sub", (const(U32, 0), const(U32, 1)), U32), U32, 2**32 - 1),
    ("lowest / -1", Op("div", (const(I32, -(2**31)), const(I32, -1)), I32), I32, -(2**31)),
    ("negate lowest", Op("neg", (const(I32, -(2**31)),), I32), I32, -(2**31)),
    ("negate twice", Op("neg", (Op("neg", (const(I32, -7),), I32),), I32), I32, -7),
    ("1 / 0", Op("div_f32", (const(F32, 1), const(F32, 0)), F32), F32, math.inf),
    ("float overflow", Op("mul", (const(F32, 3e38), const(F32, 10)), F32), F32, math.inf),
    ("sqrt(-1)", Op("isnan", (Op("sqrt", (const(F32, -1.0),), F32),), BOOL), BOOL, 1),
    ("exp(1000)", Op("exp", (const(F32, 1000.0),), F32), F32, math.inf),
    ("log(0)", Op("log", (const(F32, 0.0),), F32), F32, -math.inf),
    ("nan bits", Bits("bitcast", (const(U32, 0x7FC00001),), F32), F32, math.nan),
    ("i32(1e30)", Op("i32", (const(F32, 1e30),), I32), I32, 2**31 - 1),
    ("clamp", Op("clamp", (const(F32, 1), const(F32, 3), const(F32, 2)), F32), F32, 2),
    ("inf + 1", Op("add", (const(F32, math.inf), const(F32, 1.0)), F32), F32, math.inf),
]


@pytest.mark.parametrize(
    ("value", "dtype", "expected"), [hazard[1:] for hazard in HAZARDS], ids=[h[0] for h in HAZARDS]
)
def test_constants_never_upset_a_shader_compiler(lavapipe, value, dtype, expected):
    got = evaluate(lavapipe, value, dtype)
    if expected == -1:  # x / 0 is x
        np.testing.assert_array_equal(got, np.arange(THREADS))
    else:
        np.testing.assert_array_equal(got, np.full(THREADS, expected).astype(NUMPY.get(dtype, np.uint32)))


@pytest.mark.parametrize("amount", [0, 31, 32, 33, 64])
def test_shifts_by_constants_compile(amount):
    accepted(store_each(Bits("shl", (LOCAL_INDEX, const(U32, amount)), U32), U32))
    accepted(store_each(Bits("shr", (const(U32, 7), const(I32, amount)), U32), U32))


def test_constant_indices_outside_compile():
    shared = SharedArray("slots", F32, 4)
    source, out = Buffer("A", F32, "A", False), out_buffer(F32)
    body = [
        If(Op("lt", (LOCAL_INDEX, const(U32, 0)), BOOL), (SharedStore(shared, const(U32, 4), const(F32, 1)),)),
        StoreElement(out, const(I32, -1), SharedLoad(shared, const(I32, -1))),
        StoreElement(out, LOCAL_INDEX, Load(source, const(I32, -5))),
    ]
    accepted(program(body, [source, out], shared=[shared]))


# --- grammar ---------------------------------------------------------------------------------------------------

_I32_INFIX = ["add", "sub", "mul", "div", "rem"]
_BITS = ["and", "or", "xor", "shl", "shr"]
_RELATIONS = ["eq", "ne", "lt", "le", "gt", "ge"]


def test_every_pair_of_operators_parses_and_keeps_its_meaning(lavapipe):
    """Each operator inside each other one, on both sides: WGSL's grammar has pairs without any precedence."""
    x, y, z = (Bits("and", (i32(LOCAL_INDEX), const(I32, mask)), I32) for mask in (7, 13, 21))

    def binary(name: str, a: Expr, b: Expr) -> Expr:
        if name in _BITS:
            b = Bits("bitcast", (Bits("and", (b, const(I32, 3)), I32),), U32) if name in ("shl", "shr") else b
            return Bits(name, (a, b), I32)
        if name in _RELATIONS:
            return Select(Op(name, (a, b), BOOL), const(I32, 1), const(I32, 0))
        return Op(name, (a, b), I32)

    names = [*_I32_INFIX, *_BITS, *_RELATIONS]
    out = out_buffer(I32)
    body, expected = [], []
    values = [np.arange(THREADS, dtype=np.int64) & mask for mask in (7, 13, 21)]
    for outer in names:
        for inner in names:
            for is_left in (True, False):
                part = binary(inner, x, y)
                whole = binary(outer, part, z) if is_left else binary(outer, z, part)
                place = Op("add", (i32(LOCAL_INDEX), const(I32, THREADS * len(expected))), I32)
                body.append(StoreElement(out, place, whole))
                inside = _meaning(inner, values[0], values[1])
                pair = (inside, values[2]) if is_left else (values[2], inside)
                expected.append(_meaning(outer, *pair))
    got = run(lavapipe, program(body, [out]), {"Out": np.zeros(THREADS * len(expected), np.int32)})["Out"]
    np.testing.assert_array_equal(got, np.concatenate(expected).astype(np.int32))


def _meaning(name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    safe = np.where(b == 0, 1, b)
    quotient = np.where(b == 0, a, np.sign(a) * np.sign(safe) * (np.abs(a) // np.abs(safe)))
    match name:
        case "add" | "sub" | "mul":
            result = {"add": a + b, "sub": a - b, "mul": a * b}[name]
        case "div":
            result = quotient
        case "rem":
            result = np.where(b == 0, 0, a - b * quotient)
        case "and" | "or" | "xor":
            result = {"and": a & b, "or": a | b, "xor": a ^ b}[name]
        case "shl" | "shr":
            result = a << (b & 3) if name == "shl" else a >> (b & 3)
        case _:
            compare = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}
            result = compare[name].astype(np.int64)
    return result.astype(np.int32).astype(np.int64)


def test_logical_chains_mix_only_with_parentheses(lavapipe):
    a = Op("lt", (LOCAL_INDEX, const(U32, 32)), BOOL)
    b = Op("gt", (LOCAL_INDEX, const(U32, 16)), BOOL)
    c = Op("eq", (Bits("and", (LOCAL_INDEX, const(U32, 1)), U32), const(U32, 0)), BOOL)
    value = Op("or", (Op("and", (Op("and", (a, b), BOOL), c), BOOL), Op("not", (Op("or", (a, c), BOOL),), BOOL)), BOOL)
    i = np.arange(THREADS)
    expected = ((i < 32) & (i > 16) & (i % 2 == 0)) | ~((i < 32) | (i % 2 == 0))
    np.testing.assert_array_equal(evaluate(lavapipe, value, BOOL), expected)


def test_comparisons_as_arguments_are_no_templates():
    """`f(a < b, c > d)` would be read as `f(a<b, c>(d))`."""
    less = Op("lt", (LOCAL_INDEX, const(U32, 3)), BOOL)
    more = Op("gt", (LOCAL_INDEX, const(U32, 5)), BOOL)
    shift = Op("lt", (LOCAL_INDEX, Bits("shr", (LOCAL_INDEX, const(U32, 1)), U32)), BOOL)
    accepted(store_each(Select(less, Op("u32", (more,), U32), Op("u32", (shift,), U32)), U32))
    accepted(store_each(Select(Op("and", (less, more), BOOL), more, shift), BOOL))
    accepted(store_each(Op("where", (more, less, shift), BOOL), BOOL))


# --- size ------------------------------------------------------------------------------------------------------


def test_deep_expressions_are_cut(lavapipe):
    value: Expr = LOCAL_INDEX
    for _ in range(5000):
        value = Op("add", (const(U32, 1), value), U32)
    np.testing.assert_array_equal(evaluate(lavapipe, value, U32), np.arange(THREADS) + 5000)


def test_shared_parts_are_written_once(lavapipe):
    value: Expr = LOCAL_INDEX
    for _ in range(200):
        value = Op("add", (value, value), U32)
    text = emit(store_each(value, U32))
    assert len(text) < 20_000
    np.testing.assert_array_equal(evaluate(lavapipe, value, U32), np.zeros(THREADS))


# --- statements ------------------------------------------------------------------------------------------------


def test_loops_locals_and_ifs(device):
    total, index, done = Local("total", I32), Local("i", I32), Local("done", BOOL)
    body = [
        Declare(total, const(I32, 0)),
        Declare(done, const(BOOL, False)),
        Loop(
            index,
            const(I32, 0),
            i32(LOCAL_INDEX),
            const(I32, 2),
            (
                Assign(total, Op("add", (total, index), I32)),
                If(
                    Op("ge", (total, const(I32, 100)), BOOL),
                    (Assign(done, const(BOOL, True)),),
                    (Comment("not */ yet\nreturn;"),),
                ),
            ),
            done,
        ),
    ]
    expected = []
    for thread in range(THREADS):
        amount = 0
        for i in range(0, thread, 2):
            amount += i
            if amount >= 100:
                break
        expected.append(amount)
    np.testing.assert_array_equal(evaluate(device, total, I32, *body), expected)


def test_while_ends_at_its_bound(device):
    total, doubled = Local("total", U32), Local("doubled", U32)
    body = [
        Declare(total, LOCAL_INDEX),
        While(
            (Let(doubled, Op("mul", (total, const(U32, 2)), U32)),),
            Op("lt", (doubled, const(U32, 100)), BOOL),
            (Assign(total, Op("add", (total, const(U32, 1)), U32)),),
            20,
        ),
    ]
    expected = [min(max(thread, 50), thread + 20) for thread in range(THREADS)]
    np.testing.assert_array_equal(evaluate(device, total, U32, *body), expected)


def test_loop_bounds_are_taken_before_the_loop(lavapipe):
    stop, index = Local("stop", I32), Local("i", I32)
    body = [
        Declare(stop, const(I32, 10)),
        Loop(index, const(I32, 0), stop, const(I32, 1), (Assign(stop, Op("add", (stop, const(I32, 1)), I32)),)),
    ]
    np.testing.assert_array_equal(evaluate(lavapipe, stop, I32, *body), np.full(THREADS, 20))


def test_workgroup_memory_and_barriers(device):
    shared, flag = SharedArray("values", U32, THREADS), SharedArray("flag", BOOL, 1)
    chosen, other = Local("chosen", BOOL), Local("other", U32)
    mirrored = Op("sub", (const(U32, THREADS - 1), LOCAL_INDEX), U32)
    body = [
        SharedStore(shared, LOCAL_INDEX, Op("mul", (LOCAL_INDEX, const(U32, 3)), U32)),
        If(
            Op("eq", (LOCAL_INDEX, const(U32, 0)), BOOL),
            (SharedStore(flag, const(U32, 0), const(BOOL, True)),),
        ),
        Barrier(True),
        Let(chosen, UniformLoad(flag)),
        Declare(other, const(U32, 0)),
        # A barrier under a condition that Tint must know to be the same for all threads.
        If(chosen, (Barrier(False), Assign(other, SharedLoad(shared, mirrored)))),
    ]
    got = evaluate(device, other, U32, *body, shared=[shared, flag])
    np.testing.assert_array_equal(got, (THREADS - 1 - np.arange(THREADS)) * 3)


def test_vectors(device):
    source, out = Buffer("A", F32, "A", False, 4), Buffer("B", F32, "B", True, 4)
    loaded, changed = Local("x", F32, 4), Local("y", F32, 4)
    parts = tuple(Op("add", (Component(loaded, 3 - k), const(F32, k)), F32) for k in range(4))
    body = [
        Let(loaded, Load(source, LOCAL_INDEX)),
        Declare(changed, Vector(parts)),
        StoreElement(out, LOCAL_INDEX, changed),
    ]
    values = np.arange(4 * THREADS, dtype=np.float32)
    got = run(device, program(body, [source, out]), {"A": values, "B": np.zeros_like(values)})["B"]
    np.testing.assert_array_equal(got.reshape(-1, 4), values.reshape(-1, 4)[:, ::-1] + np.arange(4))


# --- names -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "target",
        "filter",
        "main",
        "max",
        "f32",
        "params",
        "local_index",
        "_",
        "__x",
        "a__b",
        "x" * 500,
        "9",
        "tëst",
        "*/",
        "",
    ],
)
def test_names_of_the_source_are_made_safe(lavapipe, name):
    source, out = Buffer(name, F32, name, False), out_buffer(F32)
    local = Local(name, F32)
    shared = SharedArray(name, F32, THREADS)
    field = UniformField(name, F32, scalar="s")
    value = Op("max", (Op("add", (local, SharedLoad(shared, LOCAL_INDEX)), F32), Uniform(field)), F32)
    body = [
        Let(local, Load(source, LOCAL_INDEX)),
        SharedStore(shared, LOCAL_INDEX, local),
        StoreElement(out, LOCAL_INDEX, value),
    ]
    one = program(body, [source, out], shared=[shared], uniforms=[field], name=name)
    values = np.arange(THREADS, dtype=np.float32)
    got = run(lavapipe, one, {name: values, "Out": np.zeros_like(values)}, scalars={"s": 10.0})["Out"]
    np.testing.assert_array_equal(got, np.maximum(2 * values, 10))


def test_text_is_a_function_of_the_program():
    one = store_each(Op("exp", (Op("f32", (LOCAL_INDEX,), F32),), F32), F32)
    assert emit(one) == emit(one)


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
    assert layout.uniform_offsets(built)["u"] == 12


def test_workgroups_fold_into_two_axes(lavapipe):
    assert layout.fold(0) == (0, 1, 1)
    assert layout.fold(65_535) == (65_535, 1, 1)
    x, y, _ = layout.fold(65_536)
    assert y == 2
    assert 65_536 <= x * y < 65_536 + y
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


def test_lines_know_their_source():
    from tilec.source import Source, Span
    from tilec.wgsl.emit import emit_module

    span = Span(Source("a.ph", "x = 1"), 0, 5)
    out = out_buffer(U32)
    emitted = emit_module(program([StoreElement(out, LOCAL_INDEX, LOCAL_INDEX, span=span)], [out]))
    [line] = emitted.spans
    assert emitted.text.split("\n")[line - 1].strip() == "Out[local_index] = local_index;"
