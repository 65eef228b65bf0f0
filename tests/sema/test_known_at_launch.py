"""What a launch must know, of numbers that it knows and of others: it works, or is refused at its place."""

from __future__ import annotations

import pytest

from tests.diag.fixtures import diagnostics_of
from tilec.source import Source

KNOWN = {
    "a dim": "let q = M",
    "a scalar parameter": "let q = n",
    "a formula": "let q = max(ceildiv(n, 3) * 2 - div(V, 4), n + 1)",
    "bounds of a formula": "let q = clamp(n * n - 3, 1, V)",
    "a function of scalars": "let q = twice(n)",
}
COMPUTED = {
    "an element": "let q = N[0]",
    "a float element": "let q = i32(A[0, 0])",
    "a float parameter": "let q = i32(s)",
    "a choice": "let q = where(s > 0.0, n, 8)",
    "a choice of dims": "let q = where(M > 0.0, 8, M)",
    "a branch": "var q = n\n  if s > 0.0 {\n    q = M\n  }",
    "a loop": "var q = 1\n  for z in range(0, n) {\n    q = q + N[1] + z\n  }",
    "a while": "var q = n\n  while q < M {\n    q = q * 2\n  }",
    "a reduction": "let q = sum(i32(A[0, :] > 0.0))",
    "an argmax": "let q = argmax(A[0, :])",
    "a sign": "let q = sign(n)",
    "a cast and back": "let q = i32(u32(n))",
    "a quotient by data": "let q = ceildiv(M, N[0])",
    "a formula of data": "let q = max(min(div(V, N[0] + 1), M), ceildiv(n, 3) % 5)",
    "a function of data": "let q = twice(N[2])",
}
BOUNDED = ("a choice", "a choice of dims", "a branch", "a formula of data")

REFUSED = {
    "E0402": {  # how many blocks there are
        "the step of a store": "S[ctx.block.x * q] = 1.0",
        "the step of rows": "B[ctx.block.x * 8 * q :+ 8, :] = A[ctx.block.x * 8 * q :+ 8, :]",
        "the step of a second axis": "B[ctx.block.x * 4 :+ 4, ctx.block.y * q :+ 8] = 1.0",
        "the step in a formula": "B[ctx.block.x * max(q, 1) :+ 8, :] = 0.0",
        "the step of a load": "if ctx.block.x == 0 {\n    S[0] = A[ctx.block.x * q, 0]\n  }",
    },
    "E0516": {  # how much scratch memory there is
        "a carried tile": "var x = A[0 :+ q, :] else 0.0\n  for i in range(0, 3) {\n    x *= 2.0\n  }\n  S[0] = sum(x)",
    },
}
WORKS = {
    "a count": "let x = A[0 :+ q, 0 :+ q]\n  S[0] = sum(x - rowmax(x))",
    "a loop over a span": "for i in range(q, M) {\n    B[i, 0 :+ i] = A[i, 0 :+ i] - amax(A[i, 0 :+ i])\n  }",
    "a span": "B[q : q + 5, :] = A[q : q + 5, :] - rowmax(A[q : q + 5, :])",
    "a long sweep": "S[0] = sum(logsumexp(A[0 :+ q, :], axis: 0))",
    "an overwritten tile": "let x = A[0 :+ q, :]\n  A[1 :+ q, :] = x\n  S[0] = sum(x)",
    "a gradient": "let x = A[0 :+ q, :]\n  S[0] = sum(grad(logsumexp(x), x))",
}


def errors(value: str, use: str) -> set[str]:
    text = f"""fn twice(n) = n + n
kernel k(A: tensor<f32>[M, V], N: tensor<i32>[4], B: tensor<f32>[M, V], S: tensor<f32>[M], n: i32, s: f32) {{
  {value}
  {use}
}}
"""
    return {one.code for one in diagnostics_of(Source("k.ph", text)) if one.severity == "error"}


@pytest.mark.parametrize("code", REFUSED)
@pytest.mark.parametrize("value", COMPUTED)
def test_what_no_launch_knows_is_refused(value: str, code: str) -> None:
    for name, use in REFUSED[code].items():
        is_bounded = code == "E0516" and value in BOUNDED  # which is enough for scratch memory
        assert errors(COMPUTED[value], use) == (set() if is_bounded else {code}), name


@pytest.mark.parametrize("value", KNOWN)
def test_what_a_launch_knows_may_count_blocks_and_scratch(value: str) -> None:
    for uses in REFUSED.values():
        for name, use in uses.items():
            assert errors(KNOWN[value], use) <= {"E0404", "E0406"}, name


@pytest.mark.parametrize("value", COMPUTED)
def test_what_only_the_kernel_counts_needs_no_launch(value: str) -> None:
    for name, use in WORKS.items():
        assert errors(COMPUTED[value], use) == set(), name
