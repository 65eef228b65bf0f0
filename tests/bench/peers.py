"""What tilec is measured against: the hand-written WGSL of seed_shape.wgsl, NumPy, and torch on the CPU."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tilec.runtime.arrays import DeviceArray
from tilec.runtime.compute import Device
from tilec.runtime.memory import Launch

_WGSL = Path(__file__).with_name("seed_shape.wgsl")
TORCH_THREADS = 2


def seed_shape(
    device: Device, entry: str, logits: DeviceArray, target: DeviceArray, loss: DeviceArray, *scalars: float
) -> Callable[[], object] | None:
    """One submission of the hand-written kernel: `forward`, or `loss_and_gradient` with alpha, beta and scale.

    None where it cannot run: it has one workgroup a row, and an axis holds 65,535.
    """
    rows, columns = logits.shape
    if rows > device.limits["max-compute-workgroups-per-dimension"]:
        return None
    alpha, beta, scale = scalars or (0.0, 0.0, 1.0)
    uniforms = device.create_buffer(16, uniform=True)
    device.write(uniforms, struct.pack("<Ifff", columns, alpha, beta, scale))
    pipeline = device.compute_pipeline(_WGSL.read_text(), entry, ("uniform", "read_write", "read", "read_write"))
    launch = Launch(pipeline, (uniforms, logits.buffer, target.buffer, loss.buffer), (rows, 1, 1))
    return lambda: device.run([launch])


def exact(logits: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Cross-entropy of each row in float64."""
    x = logits.astype(np.float64)
    top = x.max(axis=1, keepdims=True)
    return top + np.log(np.exp(x - top).sum(axis=1, keepdims=True)) - np.take_along_axis(x, target, axis=1)


def exact_training(
    logits: np.ndarray, target: np.ndarray, alpha: float, beta: float, scale: float
) -> tuple[np.ndarray, np.ndarray]:
    """Loss and gradient of each row in float64, with label smoothing and the squared logsumexp."""
    x = logits.astype(np.float64)
    top = x.max(axis=1, keepdims=True)
    shifted = np.exp(x - top)
    total = shifted.sum(axis=1, keepdims=True)
    lse = top + np.log(total)
    answer = np.take_along_axis(x, target, axis=1)
    loss = lse - (1 - alpha) * answer - alpha * x.mean(axis=1, keepdims=True) + beta * lse**2
    gradient = shifted / total * (1 + 2 * beta * lse) - alpha / x.shape[1]
    np.put_along_axis(gradient, target, np.take_along_axis(gradient, target, axis=1) - (1 - alpha), axis=1)
    return loss, gradient * scale


def in_numpy(x: np.ndarray, target: np.ndarray) -> Callable[[], object]:
    """Cross-entropy in float32, as one writes it in NumPy."""

    def run() -> np.ndarray:
        top = x.max(axis=1, keepdims=True)
        return top + np.log(np.exp(x - top).sum(axis=1, keepdims=True)) - np.take_along_axis(x, target, axis=1)

    return run


def training_in_numpy(x: np.ndarray, target: np.ndarray) -> Callable[[], object]:
    """Cross-entropy and its gradient in float32."""
    rows = np.arange(len(x))

    def run() -> tuple[np.ndarray, np.ndarray]:
        top = x.max(axis=1, keepdims=True)
        gradient = np.exp(x - top)
        total = gradient.sum(axis=1, keepdims=True)
        loss = top + np.log(total) - np.take_along_axis(x, target, axis=1)
        gradient /= total
        gradient[rows, target[:, 0]] -= 1.0
        return loss, gradient

    return run


def in_torch(x: np.ndarray, target: np.ndarray) -> Callable[[], object] | None:
    """`cross_entropy` on the CPU without autograd. None without torch."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(TORCH_THREADS)
    logits, classes = torch.from_numpy(x), torch.from_numpy(target[:, 0].astype(np.int64))

    def run() -> object:
        with torch.inference_mode():
            return torch.nn.functional.cross_entropy(logits, classes, reduction="none")

    return run


def training_in_torch(x: np.ndarray, target: np.ndarray) -> Callable[[], object] | None:
    """`cross_entropy` and its gradient on the CPU through autograd. None without torch."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(TORCH_THREADS)
    logits, classes = torch.from_numpy(x).requires_grad_(), torch.from_numpy(target[:, 0].astype(np.int64))

    def run() -> object:
        loss = torch.nn.functional.cross_entropy(logits, classes, reduction="sum")
        return torch.autograd.grad(loss, logits)

    return run
