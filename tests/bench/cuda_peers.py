"""What the benchmarks of a CUDA machine time torch's contenders with: clocks, tensors, Liger-Kernel where it is."""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.bench.cases import storage

ROTATED_BYTES = 256 << 20


@dataclass(frozen=True)
class Timing:
    kernel: float
    whole: float


class Clock:
    """Times calls on a torch device; on the processor both times are the wall's."""

    def __init__(self, torch: Any, device: str, seconds: float) -> None:
        self.torch, self.device, self.seconds = torch, device, seconds
        self.is_cuda = device.startswith("cuda")

    def time(self, calls: Sequence[Callable[[], object]]) -> Timing:
        """Medians in milliseconds; the calls take turns, warmed for 0.3 s."""
        first = self._span(calls, len(calls))
        end = time.perf_counter() + (0.3 if self.is_cuda else 0.0)
        while time.perf_counter() < end:
            first = self._span(calls, len(calls))
        count = max(len(calls), min(256, round(5.0 / max(first, 1e-3))))
        samples = [self._span(calls, count)]
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end or len(samples) < 5:
            samples.append(self._span(calls, count))
        whole = statistics.median(samples)
        return Timing(self._kernels(calls, count) if self.is_cuda else whole, whole)

    def _span(self, calls: Sequence[Callable[[], object]], count: int) -> float:
        """Milliseconds a call, from the first to the end of the last."""
        if not self.is_cuda:
            start = time.perf_counter()
            for number in range(count):
                calls[number % len(calls)]()
            return 1e3 * (time.perf_counter() - start) / count
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.torch.cuda.synchronize()
        begin.record()
        for number in range(count):
            calls[number % len(calls)]()
        end.record()
        self.torch.cuda.synchronize()
        return begin.elapsed_time(end) / count

    def _kernels(self, calls: Sequence[Callable[[], object]], count: int) -> float:
        """Milliseconds a call of everything that ran on the device, the median of three profiles."""
        from torch.profiler import ProfilerActivity, profile

        samples = []
        for _ in range(3):
            self._span(calls, len(calls))
            with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as profiled:
                for number in range(count):
                    calls[number % len(calls)]()
                self.torch.cuda.synchronize()
            kinds = self.torch.autograd.DeviceType
            spent = sum(one.self_device_time_total for one in profiled.key_averages() if one.device_type == kinds.CUDA)
            samples.append(1e-3 * spent / count)
        return statistics.median(samples)


class Peers:
    """The contenders of torch for one cell, each as calls on rotated inputs and a check."""

    def __init__(self, torch: Any, device: str, clock: Clock) -> None:
        self.torch, self.device, self.clock = torch, device, clock
        self.liger, self.liger_problem = _liger(device)

    def tensor(self, array: np.ndarray, shape: Sequence[int]) -> Any:
        """The sample on the device, repeated to the shape."""
        if array.dtype.kind not in "fiu":  # ml_dtypes' bf16
            sample = self.torch.from_numpy(array.view(np.int16)).view(self.torch.bfloat16)
        else:
            sample = self.torch.from_numpy(array.copy())
        if array.dtype == np.int32:
            sample = sample.long()
        size = int(np.prod(shape))
        flat = sample.to(self.device).reshape(-1)
        return flat.repeat(-(-size // flat.numel()))[:size].reshape(tuple(shape)).contiguous()

    def host(self, tensor: Any, count: int) -> np.ndarray:
        """The first elements as NumPy's."""
        flat = tensor.detach().reshape(-1)[:count]
        if flat.dtype in (self.torch.bfloat16, self.torch.float16):
            name = "bf16" if flat.dtype == self.torch.bfloat16 else "f16"
            return flat.float().cpu().numpy().astype(storage(name))
        return flat.cpu().numpy()

    def copy(self, nbytes: int) -> float:
        """Milliseconds to read and write so many bytes each."""
        count = max(1, min(64, -(-ROTATED_BYTES // (2 * nbytes))))
        words = max(1, nbytes // 4)
        pairs = [
            [self.torch.zeros(words, dtype=self.torch.float32, device=self.device) for _ in range(2)]
            for _ in range(count)
        ]
        return self.clock.time([_copying(*pair) for pair in pairs]).kernel

    def attempt(
        self, name: str, row: dict[str, Any], make: Callable[[], tuple[list[Any], float]], problem: str = ""
    ) -> None:
        """Adds a contender's columns: its times, and its error over the bound; or why it has none."""
        if problem:
            row[f"{name} problem"] = problem
            return
        try:
            calls, error = make()
            timing = self.clock.time(calls)
            row |= {f"{name} kernel ms": timing.kernel, f"{name} whole ms": timing.whole, f"{name} error": error}
        except Exception as failure:  # a contender that fails must not lose the others
            row[f"{name} problem"] = f"{type(failure).__name__}: {failure}"[:300]
        gc.collect()
        if self.clock.is_cuda:
            self.torch.cuda.empty_cache()


def _copying(source: Any, target: Any) -> Callable[[], object]:
    return lambda: target.copy_(source)


def _liger(device: str) -> tuple[Any, str]:
    if not device.startswith("cuda"):
        return None, "needs CUDA"
    try:
        from importlib import import_module

        ops = {
            "LigerCrossEntropyFunction": "cross_entropy", "LigerSoftmaxFunction": "softmax",
            "LigerLayerNormFunction": "layer_norm", "LigerRMSNormFunction": "rms_norm",
        }  # fmt: skip
        found = {name: getattr(import_module(f"liger_kernel.ops.{module}"), name) for name, module in ops.items()}
    except ImportError as missing:
        return None, str(missing)
    return argparse.Namespace(**found), ""
