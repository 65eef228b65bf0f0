"""Which tensors are proved to be overwritten whole."""

from __future__ import annotations

import pytest

from tilec import driver
from tilec.source import Source
from tilec.tile.written import fully_written

ROWS = "A: tensor<f32>[M, N], Y: tensor<f32>[M, N]"
YES = {
    "rows": f"kernel k({ROWS}) {{\n  let r = ctx.block.x * 8\n  Y[r :+ 8, :] = A[r :+ 8, :]\n}}",
    "overlapping cells": f"@disjoint(Y)\nkernel k({ROWS}) {{\n  Y[ctx.block.x :+ 2, :] = 1.0\n}}",
    "points": "kernel k(A: tensor<f32>[M, N], Y: tensor<f32>[M]) {\n  Y[ctx.block.x] = sum(A[ctx.block.x, :])\n}",
    "whole": f"kernel k({ROWS}) {{\n  Y[:, :] = A[:, :] * 2.0\n}}",
    "a stretched row": "kernel k(W: tensor<f32>[1, N], Y: tensor<f32>[M, N]) {\n"
    "  let r = ctx.block.x * 8\n  Y[r :+ 8, :] = W[:, :] + 1.0\n}",
    "two axes of the grid": f"kernel k({ROWS}) {{\n  let r = ctx.block.x * 8\n  let c = ctx.block.y * 64\n"
    "  Y[r :+ 8, c :+ 64] = A[r :+ 8, c :+ 64]\n}",
}
NO = {
    "a part": f"@grid(1)\nkernel k({ROWS}) {{\n  Y[0 :+ 4, :] = A[0 :+ 4, :]\n}}",
    "gaps": f"@grid(ceildiv(M, 8))\nkernel k({ROWS}) {{\n  let r = ctx.block.x * 8\n  Y[r :+ 7, :] = A[r :+ 7, :]\n}}",
    "too few blocks": f"@grid(div(M, 8))\nkernel k({ROWS}) {{\n  let r = ctx.block.x * 8\n  Y[r :+ 8, :] = 1.0\n}}",
    "an offset": f"@grid(ceildiv(M, 8))\nkernel k({ROWS}) {{\n  let r = ctx.block.x * 8 + 1\n  Y[r :+ 8, :] = 1.0\n}}",
    "a shifted read": f"kernel k({ROWS}) {{\n  let r = ctx.block.x * 8\n  Y[r :+ 8, :] = A[r + 1 :+ 8, :]\n}}",
    "a smaller tensor": "kernel k(A: tensor<f32>[K, N], Y: tensor<f32>[M, N]) {\n"
    "  let r = ctx.block.x * 8\n  Y[r :+ 8, :] = A[r :+ 8, :]\n}",
    "a branch": f"kernel k({ROWS}, on: bool) {{\n  let r = ctx.block.x * 8\n  if on {{\n    Y[r :+ 8, :] = 1.0\n"
    "  }\n}",
    "a loop": f"kernel k({ROWS}) {{\n  for i in range(0, M) {{\n    Y[i, :] = 1.0\n  }}\n}}",
    "perhaps no block on another axis": f"@grid(ceildiv(M, 8), N)\n@disjoint(Y)\nkernel k({ROWS}) {{\n"
    "  let r = ctx.block.x * 8\n  Y[r :+ 8, :] = 1.0\n}",
    "a place from data": "@disjoint(Y)\nkernel k(T: tensor<i32>[M], Y: tensor<f32>[M]) {\n"
    "  Y[T[ctx.block.x]] = 1.0\n}",
}


def proved(text: str) -> bool:
    program = driver.parse_file(Source("k.ph", text + "\n")).program
    return "Y" in fully_written(driver.build_kernel(program, "k").kernel)


@pytest.mark.parametrize("case", YES)
def test_proved(case):
    assert proved(YES[case])


@pytest.mark.parametrize("case", NO)
def test_not_proved(case):
    assert not proved(NO[case])
