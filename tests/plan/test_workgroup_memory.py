"""Workgroup memory stays within the device's, whatever types are reduced together."""

from __future__ import annotations

import pytest

from tests.diff.harness import LOOPS, Subject
from tests.fuzz.inputs import draw_data
from tilec.options import Options

COUNT = 20
NAMES = range(COUNT)
KERNEL = f"""
kernel run(A: tensor<f32>[M, N], J: tensor<i32>[M, N], B: tensor<f32>[M, 1]) {{
  let r = ctx.block.x * 8
  let x = A[r :+ 8, :]
  let j = J[r :+ 8, :]
{"".join(f"  let f{n} = rowmax(x * {n}.5)" + chr(10) for n in NAMES)}
{"".join(f"  let i{n} = rowsum(j * {n})" + chr(10) for n in NAMES)}
{"".join(f"  let b{n} = rowany(x > {n}.5)" + chr(10) for n in NAMES)}
  B[r :+ 8, :] = {" + ".join(f"f{n} + f32(i{n}) + f32(b{n})" for n in NAMES)}
}}
"""


@pytest.mark.parametrize("columns", [5, 700])
def test_batches_of_several_types_share_arrays(columns: int) -> None:
    subject = Subject(KERNEL, "run", {}, {})
    roles = {"A": "value", "J": "value", "B": "value"}
    subject.check(draw_data(subject, roles, {"M": 3, "N": columns}, "small", 1), LOOPS)
    program = subject.compiled(Options(), None).program
    for dispatch in program.dispatches:
        assert sum(4 * array.length for array in dispatch.shared) <= Options().limits.workgroup_bytes
