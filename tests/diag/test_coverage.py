"""Blocks that leave elements of a stored tensor unwritten, and the hints of grids, taken literally."""

from __future__ import annotations

import numpy as np
import pytest

import tilec
from tests.diag.messages import first_lines, hints, told

WRONG_DIM = """
kernel k(Logits: tensor<f32>[R, C], Target: tensor<i32>[R], Loss: tensor<f32>[C]) {
  let r = ctx.block.x * 8
  let x = Logits[r :+ 8, :]
  let loss = logsumexp(x) - pick(x, Target[r :+ 8, new])
  Loss[r :+ 8, new] = loss
  Logits[r :+ 8, :] = grad(loss, x)
}
"""
COVERS = "`@grid(max(ceildiv(C, 8), ceildiv(R, 8)))` covers all"


def test_a_wrong_dim_is_asked_about_before_a_grid_is_proposed():
    assert hints(WRONG_DIM) == [
        "`Loss` ends at C there, and what is read for the value at R: is one dim meant for both?",
        f"`Loss` has C elements, `Logits` R rows: are they meant to be the same dim? Where they are not, {COVERS}",
    ]


def test_a_grid_that_leaves_rows_of_an_updated_tensor_out_is_told():
    found = told("@grid(ceildiv(C, 8))\n" + WRONG_DIM.strip())[-1]
    assert found == """\
warning[W0403]: `@grid` has too few blocks for all of `Logits`: with C = 64, R = 1000 there are 8, and 125 are needed
 --> my.ph:7:3
  |
7 |   Logits[r :+ 8, :] = grad(loss, x)
  |   ^^^^^^^^^^^^^^^^^ R rows, 8 a block
 ::: my.ph:1:1
  |
1 | @grid(ceildiv(C, 8))
  | -------------------- 8 blocks
  |
  = hint: `Logits` has R rows, `Loss` C elements: are they meant to be the same dim? Where they are not, \
`@grid(max(ceildiv(C, 8), ceildiv(R, 8)))` covers all of `Logits`"""


@pytest.mark.parametrize(
    ("attribute", "tensors", "body", "expected"),
    [
        ("@grid(4)", "A: tensor<f32>[M]", "A[ctx.block.x] = 0.0", "`@grid(M)` covers all of `A`"),
        ("@grid(4)", "A: tensor<f32>[8]", "A[ctx.block.x] = 0.0", "`@grid(8)` covers all of `A`"),
        ("@grid(div(M, 8))", "A: tensor<f32>[M]", "A[ctx.block.x * 8 :+ 8] = 0.0",
         "`@grid(max(div(M, 8), ceildiv(M, 8)))` covers all of `A`"),
        ("@grid(N, 2)", "A: tensor<f32>[M, N]", "A[ctx.block.y, ctx.block.x] = 0.0",
         "`@grid(N, M)` covers all of `A`"),
        ("", "A: tensor<f32>[M]", "A[ctx.block.x * 8 :+ 4] = 0.0",
         "take all 8, `:+ 8`, or begin at `ctx.block.x * 4`"),
        ("", "A: tensor<f32>[M, V]", "A[ctx.block.x * 2, :] = 0.0", "begin at `ctx.block.x`"),
    ],
)  # fmt: skip
def test_what_is_left_out(attribute: str, tensors: str, body: str, expected: str):
    assert hints(f"{attribute}\nkernel k({tensors}) {{\n  {body}\n}}") == [expected]


@pytest.mark.parametrize(
    ("attribute", "body"),
    [
        ("@grid(ceildiv(M, 8))", "A[ctx.block.x * 8 :+ 8] = 0.0"),
        ("@grid(M)", "A[ctx.block.x * 8 :+ 8] = 0.0"),
        ("@grid(div(M, 8) + 1)", "A[ctx.block.x * 8 :+ 8] = 0.0"),
        ("@grid(div(M + 7, 8))", "A[ctx.block.x * 8 :+ 8] = 0.0"),
        ("@grid(4)", 'require M <= 4, "few"\n  A[ctx.block.x] = 0.0'),
        ("@grid(n)", "A[ctx.block.x * 8 :+ 8] = 0.0"),
        ("@grid(4)\n@disjoint(A)", "for i in range(ctx.block.x, M, 4) {\n    A[i] = 0.0\n  }"),
        ("", "A[ctx.block.x * 2] = 0.0\n  A[ctx.block.x * 2 + 1] = 1.0"),
        ("", "for i in range(0, 8) {\n    A[ctx.block.x * 8 + i] = 0.0\n  }"),
        ("", "A[ctx.block.x * 2 :+ 1] *= 2.0"),
    ],
)
def test_what_is_covered_or_meant_is_not_told(attribute: str, body: str):
    found = first_lines(f"{attribute}\nkernel k(A: tensor<f32>[M], _n: i32, n: i32 = 1) {{\n  {body}\n}}")
    assert not [line for line in found if "W04" in line]


def test_the_grid_of_the_hint_does_every_row():
    """Taken literally, though the dims were wrong."""
    kernel = tilec.compile(source="@grid(max(ceildiv(C, 8), ceildiv(R, 8)))\n" + WRONG_DIM.strip()).k
    logits = np.random.default_rng(0).normal(size=(64, 10)).astype(np.float32)
    found = kernel(logits, np.zeros(64, np.int32), device="numpy").Logits
    assert np.abs(found.sum(1)).max() < 1e-5


def test_disagreeing_block_sizes_of_one_dim():
    body = "A[ctx.block.x * 8 :+ 8] = 0.0\n  B[ctx.block.x * 4 :+ 4] = 0.0"
    assert hints(f"kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {{\n  {body}\n}}") == [
        "take `M` by one block size, not by 8 here and 4 there; or "
        "`@grid(max(ceildiv(M, 8), ceildiv(M, 4)))` covers all"
    ]


def test_a_grid_of_two_axes_is_given_whole():
    body = "A[ctx.block.x, ctx.block.y] = 0.0\n  B[ctx.block.x, ctx.block.y] = 0.0"
    [hint] = hints(f"kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, W]) {{\n  {body}\n}}")
    assert hint == (
        "`A` has V columns, `B` W columns: are they meant to be the same dim? Where they are not, "
        "`@grid(M, max(V, W))` covers all"
    )
