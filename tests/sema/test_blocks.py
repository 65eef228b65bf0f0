"""The grid, and the rules between blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sema.support import build, codes, run


def kernel(body: str, attributes: str = "") -> str:
    return f"""{attributes}
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, V], C: tensor<f32>[M], D: tensor<f32>[K, V], n: i32) {{
  {body}
}}"""


@pytest.mark.parametrize(
    ("body", "grid"),
    [
        ("B[:, :] = A[:, :]", ("1", "1", "1")),
        ("let r = ctx.block.x * 8\n  B[r :+ 8, :] = A[r :+ 8, :]", ("ceildiv(M, 8)", "1", "1")),
        ("let r = 8 * program_id(0)\n  B[r :+ 8, :] = A[r :+ 8, :]", ("ceildiv(M, 8)", "1", "1")),
        ("B[ctx.block.x, :] = A[ctx.block.x, :]", ("M", "1", "1")),
        ("B[ctx.block.y, ctx.block.x * 4 :+ 4] = 0.0", ("ceildiv(V, 4)", "M", "1")),
        ("for i in range(0, 64, 8) {\n  let r = ctx.block.x * 64 + i\n  B[r :+ 8, :] = A[r :+ 8, :]\n  }",
         ("ceildiv(M, 64)", "1", "1")),
        ("let r = ctx.block.x * 8\n  B[r :+ 8, :] = A[r + 1 :+ 8, :] else 0.0", ("ceildiv(M, 8)", "1", "1")),
        ("D[ctx.block.x, :] = colsum(A[ctx.block.x * 64 :+ 64, :])", ("K", "1", "1")),
        ("if ctx.block.x == 0 {\n    C[0] = A[ctx.block.x * 2, 0]\n  }", ("ceildiv(M, 2)", "1", "1")),
    ],
)  # fmt: skip
def test_inferred_grid(body: str, grid: tuple[str, ...]):
    assert tuple(map(str, build(kernel(body)).grid)) == grid


def test_declared_grid_and_other_attributes():
    text = kernel("D[ctx.block.x, :] = colsum(A[ctx.block.x * 64 :+ 64, :])", "@grid(ceildiv(M, 64))\n@threads(64)")
    assert str(build(text).grid[0]) == "ceildiv(M, 64)"
    assert build(text).threads == 64
    text = "@threads(T)\nkernel k(A: tensor<f32>[1], const T: i32 = 32) {\n  A[0] = 1.0\n}"
    assert build(text).threads == 32
    assert build(text, T=128).threads == 128


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("B[ctx.block.x * 8 :+ 8, :] = 0.0\n  D[ctx.block.x * 4 :+ 4, :] = 0.0", ["E0401"]),
        ("C[ctx.block.x % 4] = 0.0", ["E0402"]),
        ("C[ctx.block.x * where(M > 0.0, 8, M)] = 0.0", ["E0402"]),
        ("C[ctx.block.x * i32(A[0, 0])] = 0.0", ["E0402"]),
        ("let c = ctx.block.x * 8 * i32(A[0, 0])\n  C[c :+ 8] = 0.0", ["E0402"]),
        ("C[ctx.block.x * max(ceildiv(M, i32(C[0])), 1)] = A[0, 0]", ["E0402"]),
        ("var q = 1\n  for j in range(0, n) {\n    q = q * 2\n  }\n  C[ctx.block.x * q] = 0.0", ["E0402"]),
        ("for j in range(1, n) {\n    C[ctx.block.x * j] = 0.0\n  }", ["E0402"]),
        ("let r = ctx.block.x * 8\n  B[r :+ 8, :] = 0.0\n  C[0] = 1.0", ["E0404"]),
        ("B[ctx.block.x * 8 :+ 16, :] = 0.0", ["E0404"]),
        ("B[ctx.block.y * 8 :+ 8, :] = 0.0\n  C[ctx.block.x] = 0.0", ["E0404", "E0404"]),
        ("let i = ctx.block.x * 8\n  C[i :+ 8] = C[i :+ 8] + C[0]", ["E0405"]),
        ("let i = ctx.block.x * 8\n  C[i :+ 8] = C[i + 1 :+ 8] else 0.0", ["E0405"]),
        ("let i = ctx.block.x * 8\n  C[i :+ 8] = C[i :+ 8] + C[i + n]", ["E0406"]),
        ("let i = ctx.block.x * 8\n  C[i :+ 8] = C[i :+ 8] * 2.0", []),
        ("let i = ctx.block.x * 8\n  for j in range(0, 8) {\n    C[i + j] += 1.0\n  }", []),
        ("let i = ctx.block.x * 8\n  for j in range(0, 9) {\n    C[i + j] += 1.0\n  }", ["E0406"]),
        ("let i = ctx.block.x * 8\n  C[i + 1 :+ 7] = C[i + 2]", ["W0302"]),
        ("C[ctx.block.x * 8 + n :+ 8] = 0.0", []),
        ("if ctx.block.x == 0 {\n    C[0] = 1.0\n  }\n  B[ctx.block.x, :] = 0.0", []),
        ("if n > 0 {\n    C[0] = 1.0\n  }\n  B[ctx.block.x, :] = 0.0", ["W0401"]),
        # Two blocks, each alone in its branch.
        (
            "if ctx.block.x == 0 {\n    C[0] = 1.0\n  }\n  if ctx.block.x == 1 {\n    C[0] = 2.0\n  }\n"
            "  B[ctx.block.x, :] = 0.0",
            ["W0401"],
        ),
        (
            "if ctx.block.x == 0 {\n    C[0] = 1.0\n  }\n  if ctx.block.x == 1 {\n    B[0, :] = C[0]\n  }\n"
            "  D[ctx.block.x, :] = 0.0",
            ["E0406"],
        ),
    ],
)
def test_rules_between_blocks(body: str, expected: list[str]):
    found = [code for code in codes(kernel(body)) if code not in ("W0201", "W0202")]
    assert found == [code for code in expected if code != "W0302"]


@pytest.mark.parametrize("part", ["ctx.block.y * 8", "i32(A[ctx.block.x, 0])"])
def test_what_differs_between_blocks_shifts_their_cells(part: str):
    """Blocks (0, 1) and (1, 0) meet, and so do any two where data says so."""
    begin = f"let i = ctx.block.x * 8 + {part}\n  "
    for body, expected in ("C[i :+ 8] = 0.0", "W0401"), ("C[i :+ 8] = C[i :+ 8] + 1.0", "E0406"):
        found = codes(kernel(begin + body, "@grid(2, 2)" if "y" in part else "@grid(2)"))
        assert [code for code in found if code not in ("W0201", "W0202")] == [expected]


SPANS = st.tuples(st.integers(0, 9), st.integers(-3, 6), st.integers(0, 3), st.integers(1, 10), st.booleans())


@settings(max_examples=150, deadline=None)
@given(st.lists(SPANS, min_size=1, max_size=3), st.integers(1, 4))
def test_what_is_accepted_never_collides(spans: list[tuple[int, int, int, int, bool]], rounds: int):
    """Accesses `s * block + c + t * i :+ n`, stores and loads, against what each block really touches."""
    lines, touched = [], []
    for factor, offset, stride, count, is_store in spans:
        span = f"{factor} * b + {offset} + {stride} * i :+ {count}"
        lines.append(f"C[{span}] = 0.0" if is_store else f"D[0 :+ {count}] = C[{span}] else 0.0")
        touched.append(lambda b, s=(factor, offset, stride, count): {
            s[0] * b + s[1] + s[2] * i + j for i in range(rounds) for j in range(s[3])
        })  # fmt: skip
    text = f"""
@grid(3)
@disjoint(D)
kernel k(C: tensor<f32>[N], D: tensor<f32>[N]) {{
  let b = ctx.block.x
  for i in range(0, {rounds}) {{
    {chr(10).join(lines)}
  }}
}}"""
    found = codes(text)
    if any(code in ("E0404", "E0405", "E0406", "W0401") for code in found):
        return
    for (_, _, _, _, is_store), own in zip(spans, touched, strict=True):
        for (_, _, _, _, is_other_store), other in zip(spans, touched, strict=True):
            if is_store or is_other_store:
                assert not any(own(a) & other(b) for a in range(3) for b in range(3) if a != b)


def test_disjoint_asserts():
    text = kernel("let i = ctx.block.x * 8\n  C[i :+ 8] = C[i :+ 8] + C[i + n]", "@disjoint(C)")
    assert [code for code in codes(text) if code.startswith("E")] == []
    assert build(text).tensor("C").access == "inout"


def test_blocks_of_two_axes_and_their_values():
    text = """
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, V]) {
  let r = ctx.block.y * 2
  let c = ctx.block.x * 3
  B[r :+ 2, c :+ 3] = A[r :+ 2, c :+ 3] + f32(ctx.block.y * 100 + ctx.block.x)
}"""
    a = np.arange(35, dtype=np.float32).reshape(5, 7)
    rows, columns = np.arange(5)[:, None] // 2, np.arange(7) // 3
    np.testing.assert_array_equal(run(text, {"A": a})["B"], a + rows * 100 + columns)
