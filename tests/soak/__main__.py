"""`python -m tests.soak --launches 100000` and `python -m tests.soak --threads 8 --seconds 60`: trust over time."""

from __future__ import annotations

import argparse
import sys
import time

import tilec
from tests.soak.memory import MOST_GROWTH, soak
from tests.soak.threads import run_threads


def main() -> int:
    """1 if memory grew, a result was wrong or a thread failed, 0 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="Launches kernels for long.")
    parser.add_argument("--device", default="lavapipe", help="an adapter's name (default: lavapipe)")
    parser.add_argument("--launches", type=int, default=0, help="launch so often, and watch memory")
    parser.add_argument("--threads", type=int, default=0, help="launch from so many threads at once")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the threads run (default: 60)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    device = tilec.device(arguments.device)
    is_well = True
    if arguments.threads:
        tally = run_threads(device, arguments.threads, arguments.seconds, arguments.seed)
        print(
            f"{arguments.threads} threads, {arguments.seconds:g} s on {device.name}: {tally.launches:,} launches, "
            f"{tally.modules:,} modules compiled, {len(tally.failures)} failures"
        )
        print(*tally.failures, sep="\n", end="")
        is_well = not tally.failures
    if arguments.launches:
        start = time.monotonic()
        result = soak(device, arguments.launches, seed=arguments.seed, tell=True)
        print(
            f"{result.launches:,} launches in {time.monotonic() - start:.0f} s on {device.name}: "
            f"{result.resident[result.warm] / 1e6:.0f} MB after the warm-up, then {100 * result.growth:.1f}% more"
        )
        is_well &= result.growth <= MOST_GROWTH
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
