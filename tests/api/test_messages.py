"""What a call with the wrong thing is told, in full."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import tilec

F32 = np.float32
SOURCE = """
kernel scaled(A: tensor<f32|f16>[M, V], T: tensor<i32>[M], L: tensor<f32>[M], rate: f32 = 1.0, n: i32 = 2) {
  let r = ctx.block.x * 8
  L[r :+ 8, new] = pick(A[r :+ 8, :], T[r :+ 8, new]) * rate * f32(n)
}
"""
A, T = np.ones((4, 3), F32), np.zeros(4, np.int32)
LIST = [[0.1, 0.2, 0.3]] * 4


@pytest.fixture(scope="module")
def scaled() -> Any:
    return tilec.compile(source=SOURCE).scaled


def told(call: Any) -> str:
    with pytest.raises((tilec.TilecError, TypeError)) as found:
        call()
    return str(found.value)


@pytest.mark.parametrize(
    ("a", "t", "expected"),
    [
        (LIST, T, "A: a list of float64 numbers for f32 holds values that it would round; to convert it all the same "
         "pass np.asarray(A, dtype=np.float32)"),
        (tuple(LIST), T, "A: a tuple of float64 numbers for f32 holds values that it would round; to convert it all "
         "the same pass np.asarray(A, dtype=np.float32)"),
        (np.array(LIST), T, "A: a float64 array for f32 holds values that it would round; to convert it all the same "
         "pass A.astype(np.float32)"),
        (torch.tensor(LIST, dtype=torch.float64), T, "A: a float64 tensor for f32 holds values that it would round; "
         "to convert it all the same pass A.to(torch.float32)"),
        (A, [0.5, 1, 2, 0], "T: a list of float64 numbers for i32 holds numbers that are no integers of that type; to "
         "convert it all the same pass np.asarray(T, dtype=np.int32)"),
        (A, torch.full((4,), 0.5), "T: a float32 tensor for i32 holds numbers that are no integers of that type; to "
         "convert it all the same pass T.to(torch.int32)"),
        (None, T, "A: None was given where the kernel takes tensor<f32|f16>[M, V]"),
        (A, None, "T: None was given where the kernel takes tensor<i32>[M]"),
        (3.0, T, "A: a number, 3.0, was given where the kernel takes tensor<f32|f16>[M, V]"),
        ("abc", T, "A: a string, 'abc', was given where the kernel takes tensor<f32|f16>[M, V]"),
        ([[1.0], [1.0, 2.0]], T, "A: a list whose rows differ in length is not an array"),
        (np.array([["a"]]), T, "A: an array of strings is not an array of numbers"),
        ([["a"]], T, "A: a list of strings is not an array of numbers"),
        ([[None]], T, "A: a list of objects is not an array of numbers"),
        ({1: 2}, T, "A: a dict is not an array of numbers"),
        (A[0], T, "A: an array of shape [3] has 1 axis where the kernel takes 2: A: tensor<f32>[M, V]"),
        (torch.ones(4, 3, device="meta"), T, "A: the tensor is on meta; pass A.cpu()"),
    ],
)  # fmt: skip
def test_tensors(scaled: Any, a: Any, t: Any, expected: str):
    assert told(lambda: scaled(a, t, device="numpy")) == expected


def test_the_conversions_that_are_proposed_are_accepted(scaled: Any):
    for a in (np.asarray(LIST, dtype=np.float32), torch.tensor(LIST, dtype=torch.float64).to(torch.float32)):
        assert np.allclose(scaled(a, T, device="numpy").L, 0.2)
    assert scaled(A, np.asarray([0.5, 1, 2, 0], dtype=np.int32), device="numpy").L.shape == (4,)


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ({"rate": None}, "rate: None was given for a scalar of type f32: pass a number"),
        ({"rate": "3"}, "rate: the string '3' was given for a scalar of type f32: pass a number"),
        ({"rate": [1.0]}, "rate: a list was given for a scalar of type f32: pass a number"),
        ({"rate": np.ones(2)}, "rate: an array of shape [2] was given for a scalar of type f32: pass one number"),
        ({"n": 2.5}, "n: 2.5 is no integer, and n is i32"),
        ({"Rate": 2}, "scaled: Rate is no parameter; did you mean rate?"),
        ({"m": 2}, "scaled: m is no parameter; did you mean M?"),
        ({"lr": 2}, "scaled: lr is no parameter; there is A, T, L, rate, n"),
        ({"grid": (1,)}, "scaled: grid is no parameter: how many blocks there are, and of how many threads, follows "
         "from the kernel"),
        ({"dtypes": {"B": "f16"}}, "scaled: dtypes: B is no tensor parameter or type variable; there is A, T, L"),
        ({"device": torch.device("cpu")}, 'a device is a name such as "numpy" or "vulkan", an index of '
         "tilec.devices() or a tilec.Device, not device(type='cpu')"),
    ],
)  # fmt: skip
def test_scalars_and_names(scaled: Any, named: dict[str, Any], expected: str):
    assert told(lambda: scaled(A, T, **named)) == expected


def test_numbers_of_other_kinds_are_scalars(scaled: Any):
    for rate in (2, np.float64(2), torch.tensor(2.0), np.array([2.0])):
        assert scaled(A, T, rate=rate, device="numpy").L[0] == 4.0


def test_devices_of_other_libraries(scaled: Any):
    reached = "GPUs are reached through Vulkan, Metal or D3D12, and the best one is taken where none is named"
    text = told(lambda: scaled(A, T, device="cuda"))
    assert text.startswith(f"no device is called 'cuda': {reached}; there is 0: ")
    assert text.endswith('; and "numpy", the interpreter')
    assert reached in told(lambda: tilec.device("cuda:0"))
    assert "numpy" not in told(lambda: tilec.device("cuda:0"))  # it is none that could be opened
    assert told(lambda: tilec.device("numpy")) == (
        'the interpreter is no device to open: "numpy" is for a call, device="numpy", and for `tilec run`'
    )
    assert "is one of the processor; there is 0: " in told(lambda: scaled(A, T, device="cpu"))


def test_a_launch_as_in_triton(scaled: Any):
    assert told(lambda: scaled[(1,)](A, T)) == (
        "scaled[...]: a kernel has its grid from its stores: call it, scaled(...)"
    )


def test_a_text_for_a_path():
    assert told(lambda: tilec.compile(SOURCE)) == "this is the text of a program, not a path: compile(source=...)"


def test_only_float_tensors_are_proposed_for_gradients(scaled: Any):
    assert told(lambda: scaled.grad("B")) == "scaled: no tensor is called 'B'; there is A, L"


def test_what_was_refused_is_refused_again():
    """Kernels are kept by what they were derived for; one that does not compile must not be."""
    source = """
kernel k(A: tensor<f32>[M, V], Weight: tensor<f32>[V], L: tensor<f32>[M], const n: i32 = 1) {
  require n > 0, "positive"
  let r = ctx.block.x * 8
  L[r :+ 8, new] = rowsum(A[r :+ 8, :] * Weight[new, :]) * f32(n)
}
"""
    kernel = tilec.compile(source=source).k
    for _ in range(2):
        assert "no gradient kernel of `k` with respect to `Weight`" in told(lambda: kernel.grad("Weight"))
        assert "positive" in told(lambda: kernel.specialize(n=0))
