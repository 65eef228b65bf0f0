"""The emitted text: accepted by both shader compilers, and it means what the loop IR says, on every device."""

from __future__ import annotations

import math

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
from tilec.wgsl.emit import emit
from tilec.wgsl.literals import is_plain

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


def test_what_compilers_may_read_as_zero_is_no_token():
    """Subnormals and -0 come from bits, as infinities and NaN do."""
    bits = [value for value in SPECIAL_FLOATS if not is_plain(F32, value)]
    assert repr(bits) == repr([-0.0, 1.1754942e-38, 1e-45, -1e-45, math.inf, -math.inf, math.nan])


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


@pytest.mark.parametrize(("storage", "barriers"), [
    (False, ["workgroupBarrier();"]), (True, ["workgroupBarrier();", "storageBarrier();"]),
])  # fmt: skip
def test_a_storage_barrier_orders_storage_too(storage, barriers):
    """The software devices order storage at any barrier: no run of theirs tells."""
    text = accepted(store_each(i32(Builtin("local_index")), DType.I32, Barrier(storage))).text
    assert [line.strip() for line in text.splitlines() if "Barrier" in line] == barriers


def test_remainders_of_signed_integers_are_not_left_to_the_driver():
    """Vulkan leaves those of negative ones undefined, and NVIDIA's driver gives others: no run of the software devices
    tells."""
    value = Op("rem", (i32(LOCAL_INDEX), const(I32, 3)), I32)
    assert "%" not in accepted(store_each(value, I32)).text


@pytest.mark.parametrize(("kind", "word"), [("f16", 0x40003C00), ("bf16", 0x40003F80)])
def test_of_a_packed_pair_the_first_is_the_low_half(device, kind, word):
    pair = Bits(f"helper:pack_{kind}", (Const(DType.F32, 1.0), Const(DType.F32, 2.0)), DType.U32)
    assert (evaluate(device, pair, DType.U32) == word).all()
