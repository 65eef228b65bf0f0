"""Many launches with changing shapes, and what they leave in memory."""

from __future__ import annotations

import gc
import resource
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import tilec
from tests.soak.jobs import Jobs, compile_module

WARM_UP = 0.2
"""The share of the launches after which memory has to stay as it is."""

MOST_GROWTH = 0.05


@dataclass(frozen=True)
class Soak:
    """Resident memory in bytes, at each of equally many launches; `warm` is how many of these are the warm-up."""

    launches: int
    resident: tuple[int, ...]
    warm: int

    @property
    def growth(self) -> float:
        """How much more memory there was at any time after the warm-up than at its end."""
        return max(self.resident[self.warm :]) / self.resident[self.warm] - 1


def resident_bytes() -> int:
    """Memory of this process in use, after a collection."""
    gc.collect()
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def soak(device: tilec.Device, launches: int, samples: int = 50, seed: int = 0, tell: bool = False) -> Soak:
    """Launches that often and looks at memory `samples` times on the way. Raises Wrong for a wrong result."""
    jobs = Jobs(compile_module(), device, np.random.default_rng(seed))
    resident: list[int] = []
    done = 0
    for sample in range(samples):
        while done < launches * (sample + 1) / samples:
            done += jobs.one()
        resident.append(resident_bytes())
        if tell:
            print(f"{done:,} launches: {resident[-1] / 1e6:.1f} MB", flush=True)
    return Soak(done, tuple(resident), int(samples * WARM_UP))
