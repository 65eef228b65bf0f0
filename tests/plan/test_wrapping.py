"""Starts and counts that are not negative as integers, and wrap to negative ones as i32s: no lane is outside."""

from __future__ import annotations

import numpy as np
import pytest

from tests.diff.harness import DEVICES, LOOPS, NAIVE_DEVICE, Data, Execution, Subject
from tests.sema.support import run_kernel

EXECUTIONS = (LOOPS[0], LOOPS[3], DEVICES[0], NAIVE_DEVICE)
HIGHEST = 2**31 - 1
SIZE = 8


def wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


CASES = {
    # Each with the start of `count` elements as Python has it, without wrapping.
    "a sum": ("max(n, 0) + 16", lambda n: max(n, 0) + 16),
    "a product": ("max(n, 0) * 2 + 1", lambda n: max(n, 0) * 2 + 1),
    "a product that comes round": ("max(n, 0) * 4", lambda n: max(n, 0) * 4),
    "a square": ("n * n", lambda n: n * n),
    "a difference": ("M - max(n, 0) - 16", lambda n: SIZE - max(n, 0) - 16),
    "an opposite": ("-n", lambda n: -n),
    "the larger": ("max(max(n, 0) + 16, 3)", lambda n: max(wrapped(max(n, 0) + 16), 3)),
    "the smaller": ("min(n - 16, n)", lambda n: min(wrapped(n - 16), n)),
    "a quotient": ("div(max(n, 0) + 16, 536870912) + 3", lambda n: int(wrapped(max(n, 0) + 16) / 2**29) + 3),
    "a number of blocks": (
        "ceildiv(max(n, 0) + 16, 536870912) + 3",
        lambda n: -(-wrapped(max(n, 0) + 16) // 2**29) + 3,
    ),
    "a remainder": ("(max(n, 0) + 16) % 8", lambda n: int(np.fmod(wrapped(max(n, 0) + 16), 8))),
}
NUMBERS = (HIGHEST, HIGHEST - 3, 2**30 + 3, 3 * 2**29 + 2, 2, -3, -HIGHEST - 1)
KERNELS = {
    "a span": "B[{start} :+ 4] = A[{start} :+ 4] + 1.0",
    "a span of a number": "B[{start} :+ 4] = 5.0",
    "a read": "B[0 :+ 4] = A[{start} :+ 4] else 7.0",
    "a sum of what is read": "B[0] = sum(A[{start} :+ 4])",
    "a point": "B[{start}] = A[{start}] + 1.0",
    "a loop": "for i in range({start}, {start} + 4) {{\n    B[i] = A[i] + 1.0\n  }}",
    "a row": "B[0 :+ 4] = 2.0\n  if A[{start}] > 0.0 {{\n    B[1] = A[{start}]\n  }}",
}


def kernel(body: str, source: str = "parameter") -> str:
    """With n as a scalar parameter, or read from memory."""
    parameter, read = ("n: i32", "") if source == "parameter" else ("N: tensor<i32>[1]", "let n = N[0]\n  ")
    return f"kernel k(A: tensor<f32>[M], B: tensor<f32>[{SIZE}], {parameter}) {{\n  {read}B[:] = 0.0\n  {body}\n}}\n"


def expected(what: str, start: int) -> np.ndarray:
    """By single elements, from the contract: outside nothing is written, and what is read is inactive, or 0."""
    a, b = np.arange(1, SIZE + 1, dtype=np.float32), np.zeros(SIZE, np.float32)
    inside = [start + lane for lane in range(4) if 0 <= start + lane < SIZE]
    match what:
        case "a span" | "a loop":
            b[inside] = a[inside] + 1
        case "a span of a number":
            b[inside] = 5
        case "a read":
            b[:4] = [a[start + lane] if start + lane in inside else 7 for lane in range(4)]
        case "a sum of what is read":
            b[0] = sum(a[each] for each in inside)
        case "a point" if 0 <= start < SIZE:
            b[start] = a[start] + 1
        case "a row":
            b[:4] = 2
            if 0 <= start < SIZE:
                b[1] = a[start]
    return b


def check(what: str, case: str, source: str, executions: tuple[Execution, ...]) -> None:
    formula, start = CASES[case]
    subject = Subject(kernel(KERNELS[what].format(start=formula), source))
    a, b = np.arange(1, SIZE + 1, dtype=np.float32), np.zeros(SIZE, np.float32)
    for n in NUMBERS:
        first = wrapped(start(n))
        if what == "a loop" and wrapped(first + 4) < first:
            continue  # it ends before it begins
        tensors, scalars = {"A": a, "N": np.array([n], np.int32)}, {"n": n}
        tensors, scalars = ({"A": a}, scalars) if source == "parameter" else (tensors, {})
        found = run_kernel(subject.kernel, tensors, **scalars)["B"]
        np.testing.assert_array_equal(found, expected(what, first), err_msg=f"n = {n}")
        assert subject.check(Data({**tensors, "B": b}, scalars, {"M": SIZE}), executions).silent == 0


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("what", KERNELS)
def test_no_lane_is_outside(what: str, case: str) -> None:
    check(what, case, "parameter", EXECUTIONS)


@pytest.mark.parametrize("case", CASES)
def test_no_lane_is_outside_where_data_says(case: str) -> None:
    check("a span", case, "data", EXECUTIONS[:2])


COUNTS = {
    "max(n, 0) * 4": lambda n: max(n, 0) * 4,
    "max(n, 0) + 16": lambda n: max(n, 0) + 16,
    "n * 4": lambda n: n * 4,
}


@pytest.mark.parametrize("count", COUNTS)
def test_a_count_is_what_it_wraps_to(count: str) -> None:
    subject, a = Subject(kernel(f"B[0] = sum(A[0 :+ {count}])")), np.arange(1, SIZE + 1, dtype=np.float32)
    for n in (HIGHEST, HIGHEST - 3, 2**31 - 9, 3, 0, -3, -HIGHEST - 1):
        number = max(0, wrapped(COUNTS[count](n)))
        assert run_kernel(subject.kernel, {"A": a}, n=n)["B"][0] == a[:number].sum()
        data = Data({"A": a, "B": np.zeros(SIZE, np.float32)}, {"n": n}, {"M": SIZE})
        assert subject.check(data, EXECUTIONS).silent == 0
