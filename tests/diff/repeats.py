"""Many launches of one kernel on one input: the results have the same bits, or there is a race."""

from __future__ import annotations

import hashlib

import numpy as np

from tests.diff.harness import Data, Execution, Subject


def different_results(subject: Subject, data: Data, device: str, count: int) -> int:
    """How many different results `count` launches gave; each begins with the same bytes, also in what it updates."""
    execution = Execution(device, known=False, device=device)
    seen: set[bytes] = set()
    for _ in range(count):
        digest = hashlib.sha256()
        for name, array in sorted(subject.run(execution, data).items()):
            digest.update(name.encode() + np.ascontiguousarray(array).tobytes())
        seen.add(digest.digest())
    return len(seen)
