"""What functions of tensors refuse, in words that name the tensor and the fix."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch

import tilec
from tests.torch.kernels import kernels
from tilec.torch import function

LOGITS, TARGET = torch.randn(4, 5), torch.tensor([1, 2, 3, 0])


def refused(call: Any, *words: str) -> None:
    with pytest.raises(tilec.ArrayError) as found:
        call()
    for word in words:
        assert word in str(found.value), str(found.value)


def test_tensors_of_other_devices():
    """Where there is no CUDA, torch's device for shapes alone stands for one."""
    loss_of = function(kernels().plain)
    refused(lambda: loss_of(LOGITS.to("meta"), TARGET), "Logits is on meta", "CPU tensors", "Logits.cpu()")
    refused(lambda: loss_of(LOGITS, TARGET.to("meta")), "Target is on meta")


def test_device_arrays():
    loss_of = function(kernels().plain)
    array = tilec.device("swiftshader").array(LOGITS)
    refused(lambda: loss_of(array, TARGET), "Logits is a device array", "Logits.numpy()")


def test_other_types_and_layouts():
    loss_of = function(kernels().plain, device="numpy")
    double = LOGITS.double().requires_grad_()
    refused(lambda: loss_of(double, TARGET), "Logits is torch.float64", "Logits.float()")
    refused(lambda: loss_of(LOGITS.to_sparse(), TARGET), "Logits", "to_dense()")
    refused(lambda: loss_of(LOGITS.to(torch.complex64), TARGET), "Logits")


def test_a_gradient_that_would_be_lost():
    loss_of = function(kernels().distance, "Loss", wrt="X", device="numpy")
    refused(lambda: loss_of(LOGITS, LOGITS.clone().requires_grad_()), "Y requires a gradient", "Y.detach()")
    scaled = function(kernels().ignoring, device="numpy")
    alpha = torch.tensor(0.1, requires_grad=True)
    refused(lambda: scaled(LOGITS, TARGET[:, None], alpha=alpha), "alpha requires a gradient")


def test_names():
    refused(lambda: function(kernels().plain, reduction="avg"), "none, sum, mean", "'avg'")
    refused(lambda: function(kernels().distance), "which tensor is the loss?", "Loss, Largest", "loss=")
    refused(lambda: function(kernels().plain, "Los"), "'Los'", "did you mean Loss?")
    refused(lambda: function(kernels().plain, wrt="Logit"), "'Logit'", "did you mean Logits?")
    refused(lambda: function(kernels().plain, wrt="Target"), "Target", "only floats have gradients")
    refused(lambda: function(kernels().updating), "updating updates X")
    refused(lambda: function(kernels().two_targets, ignore_index=0), "A, B", "target=")
    refused(lambda: function(kernels().two_targets, ignore_index=0, target="C"), "'C'", "A, B")


WEIGHTED = """
kernel weighted(Logits: tensor<f32>[M, V], Target: tensor<i32>[M], Weight: tensor<f32>[V], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  let t = Target[r :+ 8, new]
  let x = Logits[r :+ 8, :]
  Loss[r :+ 8, new] = (logsumexp(x) - pick(x, t)) * pick(Weight[:], t)
}
"""


def test_tensors_without_a_gradient_are_named_with_the_call_for_the_others():
    kernel = tilec.compile(source=WEIGHTED).weighted
    for wrt in (None, ("Logits", "Weight")):
        with pytest.raises(tilec.CompileError) as found:
            function(kernel, wrt=wrt)
        assert "no gradient kernel of `weighted`" in str(found.value)
        assert str(found.value).splitlines()[-1] == (
            "weighted: there are gradients with respect to Logits, not to Weight: "
            'tilec.torch.function(weighted, wrt="Logits")'
        )
    assert function(kernel, wrt="Logits").wrt == ("Logits",)


def test_ignoring_needs_a_loss_for_each_class():
    loss_of = function(kernels().total, ignore_index=-100, device="numpy")
    refused(lambda: loss_of(LOGITS, TARGET), "one loss a class", "Target of shape (4,) has 4", "Loss has 1")


def test_one_of_several_targets():
    x = LOGITS.clone().requires_grad_()
    loss = function(kernels().two_targets, ignore_index=2, target="A", device="numpy")(x, TARGET, TARGET.flip(0))
    assert loss[1] == 0
    loss.sum().backward()
    assert not x.grad[1].any()
    assert x.grad[0].any()


def test_what_autograd_itself_refuses():
    loss_of = function(kernels().plain, reduction="sum", device="numpy")
    x = LOGITS.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss_of(x, TARGET), x, create_graph=True)
    with pytest.raises(tilec.ArrayError, match="first derivatives"):
        (gradient.square().sum() + x.sum()).backward()
    y = x * 1.0
    loss = loss_of(y, TARGET)
    y.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_without_torch():
    code = "import sys; sys.modules['torch'] = None\nimport tilec, tilec.driver, tilec.runtime.call\nimport tilec.torch"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1] == 'ImportError: tilec.torch needs PyTorch: pip install "tilec[torch]"'
