"""Threads that compile and launch kernels on one device at the same time."""

from __future__ import annotations

import threading
import time
import traceback
from dataclasses import dataclass, field

import numpy as np

import tilec
from tests.soak.jobs import Jobs, compile_module


@dataclass
class Tally:
    """What the threads did together; `failures` are tracebacks."""

    launches: int = 0
    modules: int = 0
    failures: list[str] = field(default_factory=list)


def run_threads(device: tilec.Device, count: int, seconds: float, seed: int = 0) -> Tally:
    """`count` threads for so long: on a module that all share, and on ones that each compiles for itself."""
    tally, lock = Tally(), threading.Lock()
    shared = compile_module()
    end = time.monotonic() + seconds

    def work(number: int) -> None:
        random = np.random.default_rng((seed, number))
        try:
            while time.monotonic() < end and not tally.failures:
                own = number % 2 == 1 and random.integers(3) == 0
                jobs = Jobs(compile_module() if own else shared, device, random)
                launches = sum(jobs.one() for _ in range(10))
                with lock:
                    tally.launches += launches
                    tally.modules += own
        except Exception:
            with lock:
                tally.failures.append(traceback.format_exc())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tally
