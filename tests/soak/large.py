"""`python -m tests.soak.large`: logits of 4 GiB through a device that binds much less at once; takes 15 GB of memory.

The training loss and its gradient in place, on rows by windows; rows at both ends and at half are checked in float64.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

import tilec
from tests.bench.cases import ROOT, train_expected

ROWS, COLUMNS = 8192, 131_072
CHECKED = (0, 1, ROWS // 2 - 1, ROWS // 2, ROWS - 1)
TRAIN_LOSS = ROOT / "examples" / "train_loss.ph"


def main() -> int:
    """1 if a checked row is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.large", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--device", default="lavapipe")
    opened = tilec.device(parser.parse_args().device)
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((ROWS, COLUMNS), dtype=np.float32)
    targets = rng.integers(0, COLUMNS, ROWS).astype(np.int32)
    rows, picked = logits[list(CHECKED)], targets[list(CHECKED)]
    start = time.perf_counter()
    result = tilec.compile(TRAIN_LOSS).train_loss(Logits=logits, Target=targets, device=opened)
    seconds = time.perf_counter() - start
    loss, gradient = train_expected(rows, picked, 0.0, 0.0)
    errors = (
        float(np.abs(np.asarray(result.Loss)[list(CHECKED)] - loss).max()),
        float(np.abs(np.asarray(result.Logits)[list(CHECKED)] - gradient).max()),
    )
    bound = opened.limits["max-storage-buffer-binding-size"]
    print(f"{logits.nbytes:,} bytes of logits, {bound:,} bound at once: {seconds:.1f} s; largest errors {errors}")
    return int(max(errors) > 1e-5)


if __name__ == "__main__":
    sys.exit(main())
