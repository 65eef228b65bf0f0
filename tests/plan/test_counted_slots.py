"""Tiles that data, a block's number or a loop counts, kept in scratch memory: a launch knows how large it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.diff.harness import DEVICES, LOOPS, NAIVE_DEVICE, Data, Subject, zeros_for
from tilec import driver
from tilec.errors import CompileError, InternalError
from tilec.loop.verify import verify
from tilec.options import Options
from tilec.source import Source
from tilec.types import Extent, Symbol

EXECUTIONS = (LOOPS[0], LOOPS[3], LOOPS[6], DEVICES[0], NAIVE_DEVICE)
NAIVE, GROUPED = Options(fusion=False), Options()
DIMS = {"M": 5, "V": 12}

KERNELS = {
    "rows that the block's number counts": """
kernel run(X: tensor<f32>[M, V], S: tensor<f32>[M]) {
  let b = ctx.block.x
  S[b] = sum(rowmax(X[0 : b + 1, :]))
}
""",
    "rows that begin at the block's number": """
kernel run(X: tensor<f32>[M, V], S: tensor<f32>[M]) {
  let b = ctx.block.x
  S[b] = sum(rowmax(X[b :, b : V - b]))
}
""",
    "rows of an element of memory": """
kernel run(X: tensor<f32>[M, V], N: tensor<i32>[2], S: tensor<f32>[M]) {
  S[ctx.block.x] = sum(rowmax(X[0 :+ N[0], :])) + f32(ctx.block.x)
}
""",
    "a window that begins and ends where data says": """
kernel run(X: tensor<f32>[M, V], N: tensor<i32>[2], S: tensor<f32>[M]) {
  let x = X[N[0] :+ N[1], N[1] : N[0]] * 2.0
  S[ctx.block.x] = sum(x - rowmax(x)) + f32(ctx.block.x)
}
""",
    "columns that a loop counts": """
kernel run(X: tensor<f32>[M, V], S: tensor<f32>[M]) {
  let b = ctx.block.x
  var s = 0.0
  for i in range(b, V - 2, 3) {
    let x = X[b, new, 0 :+ i + 1]
    s = s * 0.5 + sum(x * x - rowmax(x))
  }
  S[b] = s
}
""",
    "rows that a scalar parameter counts": """
kernel run(X: tensor<f32>[M, V], S: tensor<f32>[M], k: i32) {
  let x = X[k :+ k + 3, 0 :+ k]
  S[ctx.block.x] = sum(x * 2.0 - rowmax(x)) + f32(ctx.block.x)
}
""",
    "a tile that a loop carries": """
kernel run(X: tensor<f32>[M, V], N: tensor<i32>[2], S: tensor<f32>[M]) {
  var x = X[N[0] :+ N[1], :]
  for i in range(0, 3) {
    x = x * 0.5 - sum(x) * 0.125
  }
  S[ctx.block.x] = sum(x) + f32(ctx.block.x)
}
""",
    "a tile of a tensor that a loop overwrites": """
kernel run(X: tensor<f32>[M, V], N: tensor<i32>[2], S: tensor<f32>[1]) {
  let x = X[N[0] :+ N[1], :]
  for i in range(0, 2) {
    X[:, 0 : V - 1] = X[:, 1 :] * 0.5
    S[0] = S[0] * 0.5 + sum(x) + sum(X[:, 0 :+ N[1]])
  }
}
""",
    "rows counted by what is overwritten": """
kernel run(X: tensor<f32>[M, V], N: tensor<i32>[2], Y: tensor<f32>[M, V], S: tensor<f32>[M, 1]) {
  let n = N[0]
  Y[0 :+ n, :] = X[0 :+ n, :] - rowmax(X[0 :+ n, :])
  S[0 :+ n, :] = rowsum(X[0 :+ n, :])
  N[0] = n % 7
}
""",
    "lengths with a bound of their own": """
kernel run(X: tensor<f32>[M, V], N: tensor<i32>[2], B: tensor<u8>[1], S: tensor<f32>[2]) {
  let n = N[0]
  var m = 2
  if N[1] > 3 { m = n % 5 + clamp(n, 4, 6) }
  let a = X[0, n % 7 :+ min(n, 15) + m] else 1.5
  let b = X[4, 0 :+ where(n > 4, 20, B[0])] else 0.5
  S[0] = sum(a - amax(a))
  S[1] = sum(b - amax(b))
}
""",
}  # fmt: skip
WITHOUT_DATA = [name for name, text in KERNELS.items() if "N[" not in text and "k:" not in text]
NUMBERS = [(3, 4), (-2, 6), (4, -3), (9, 9), (-40, 43), (40, 7)]


def draw(subject: Subject, n: tuple[int, int]) -> Data:
    rng = np.random.default_rng(2)
    arrays = zeros_for(subject.kernel, DIMS)
    for tensor in subject.kernel.tensors:
        array = arrays[tensor.name]
        if tensor.access == "out":
            continue
        if tensor.name == "N":
            array[...] = n
        elif array.dtype.kind == "f":
            array[...] = rng.standard_normal(array.shape)
        elif tensor.name == "B":
            array[...] = 29
    return Data(arrays, {scalar.name: n[0] for scalar in subject.kernel.scalars}, DIMS)


@pytest.mark.parametrize("name", KERNELS)
def test_every_plan_gives_what_is_right(name: str) -> None:
    subject = Subject(KERNELS[name])
    for n in NUMBERS[:1] if name in WITHOUT_DATA else NUMBERS:
        assert subject.check(draw(subject, n), EXECUTIONS).silent == 0


def slots_of(text: str, options: Options) -> dict[str, list[str]]:
    """Each slot's extents by the value's name, in a plan for any dims."""
    program = driver.parse_file(Source("case.ph", text)).program
    plan = driver.compile_built(driver.build_kernel(program, next(iter(program.kernels))).kernel, None, options).plan
    return {slot.name.partition("_")[0]: [str(extent) for extent in slot.shape] for slot in plan.slots}


@pytest.mark.parametrize(
    ("length", "room"),
    [
        ("0 :+ n", "V"),  # what lies inside the tensor
        ("n :+ m", "V"),  # from anywhere on
        ("0 :+ k", "min(max(k, 0), V)"),
        ("0 : min(n, 7)", "min(7, V)"),
        ("0 :+ 9", "9"),
    ],
)
def test_a_slot_has_room_for_the_lanes_that_there_may_be(length: str, room: str) -> None:
    text = f"""
kernel run(X: tensor<f32>[V], N: tensor<i32>[2], S: tensor<f32>[1], k: i32) {{
  let n = N[0]
  let m = N[1]
  let x = X[{length}] * 2.0
  S[0] = sum(x) * f32(m + k)
}}
"""
    assert slots_of(text, NAIVE)["x"] == [room]


CARRIED = """
kernel run(X: tensor<f32>[V], N: tensor<i32>[2], S: tensor<f32>[1]) {{
  var x = X[0 :+ {length}] else 1.0
  for i in range(0, 3) {{
    x = x - sum(x)
  }}
  S[0] = sum(x)
}}
"""


@pytest.mark.parametrize(
    ("length", "room"),
    [
        ("min(N[0], 9)", "9"),
        ("N[0] % 9", "8"),
        ("N[0] % V", "max(V - 1, 0)"),
        ("clamp(N[0], 2, 9)", "9"),
        ("V - max(N[0], 0)", "V"),  # of one i32, so that the difference stays in its range
        ("9 - (N[0] % 5) * 2", "17"),
    ],
)
def test_a_length_has_the_bound_of_its_formula(length: str, room: str) -> None:
    assert slots_of(CARRIED.format(length=length), GROUPED)["x"] == [room]


@pytest.mark.parametrize("options", [NAIVE, GROUPED], ids=["naive", "grouped"])
@pytest.mark.parametrize(
    "length",
    [
        "N[0]",
        "max(N[0], 4)",
        "N[0] % N[1]",
        "9 - N[0]",  # of a number below 0
        "9 - 2 * max(N[0], 0)",  # which wraps round
        "V - 9 - max(N[0], 0)",
        "V - max(N[0], 0) - max(N[1], 0)",
        "9 - min(max(N[0], 0), 65535) * min(max(N[1], 0), 65535)",
    ],
)
def test_a_length_without_a_bound_is_refused(length: str, options: Options) -> None:
    program = driver.parse_file(Source("case.ph", CARRIED.format(length=length))).program
    built = driver.build_kernel(program, "run").kernel
    with pytest.raises(CompileError, match="E0516"):
        driver.compile_built(built, None, options)


def test_what_only_data_counts_is_computed_again_where_nothing_needs_it_kept() -> None:
    subject = Subject("""
kernel run(X: tensor<f32>[M, V], N: tensor<i32>[2], S: tensor<f32>[M]) {
  let x = X[ctx.block.x, 3 :+ N[0]] else 1.0
  S[ctx.block.x] = sum(x * 2.0) - amax(x)
}
""")
    subject.check(draw(subject, (40, 0)), EXECUTIONS)


def test_a_program_that_no_launch_can_size_is_a_fault_of_the_compiler() -> None:
    program = driver.parse_file(Source("case.ph", KERNELS["rows that the block's number counts"])).program
    kernel = driver.build_kernel(program, "run").kernel
    lowered = driver.compile_built(kernel, None, NAIVE).program
    verify(lowered)
    block = Extent.of(Symbol("ctx.block.x", "block"))
    dispatch, field = lowered.dispatches[0], lowered.uniforms[0]
    for wrong in (
        replace(lowered, scratch_words=block),
        replace(lowered, dispatches=(replace(dispatch, workgroups=block + 1),)),
        replace(lowered, uniforms=(replace(field, extent=block),)),
    ):
        with pytest.raises(InternalError, match="no launch can know"):
            verify(wrong)
