"""What a device can do, as data: the rates that predict a plan's time, and the limits that the plan is made under.

The planner measures nothing. A profile is either one of `KNOWN`, or measured by `tilec.runtime.profile` and given down.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilec.options import Limits


@dataclass(frozen=True, slots=True)
class Profile:
    """`bandwidth` is in bytes a second, read and written ones together, as a copy moves them; `operations` and
    `functions` (exponentials and the like) a second are of the whole device. `cores` run workgroups, `core_threads`
    threads each at once with so many registers together; `cache_bytes` is the cache that all cores share.
    `single_share` of the bandwidth is left where elements are loaded and stored one by one.

    `dispatch_seconds` is what a dispatch takes that has nothing to do, `round_seconds` how long a round waits for its
    first loads and its last lanes, `barrier_seconds` a barrier for each thread that meets it.
    """

    name: str
    limits: Limits
    bandwidth: float
    operations: float
    functions: float
    cores: int
    core_threads: int
    core_registers: int
    cache_bytes: int
    dispatch_seconds: float
    single_share: float = 1.0
    round_seconds: float = 0.0
    barrier_seconds: float = 0.0

    def resident(self, threads: int, registers: int = 0) -> int:
        """How many workgroups run at once, of so many threads with so many registers each."""
        at_once = min(self.core_threads, self.core_registers // max(1, registers))
        return self.cores * max(1, at_once // threads)


H200 = Profile(
    # Bandwidth and dispatches: `python -m tests.bench.gpu`, its column "copy". The rest: 132 cores at 1.98 GHz, each
    # with 128 lanes for arithmetic and 16 for functions.
    name="NVIDIA H200",
    limits=Limits(invocations=1024, workgroup_bytes=32768, subgroup=32),
    bandwidth=4.28e12,
    operations=132 * 128 * 1.98e9,
    functions=132 * 16 * 1.98e9,
    cores=132,
    core_threads=2048,
    core_registers=65536,
    cache_bytes=50 << 20,
    dispatch_seconds=2.3e-6,
    single_share=0.75,  # 8192 x 50257 by single elements against 8192 x 49152 by vectors
    round_seconds=1.2e-6,
)

KNOWN: dict[str, Profile] = {"h200": H200}
"""Profiles by the name that the command line takes."""


def profile_of(adapter: str) -> Profile | None:
    """The known profile of an adapter by its name, if there is one."""
    words = adapter.lower().split()
    return next((profile for name, profile in KNOWN.items() if name in words), None)
