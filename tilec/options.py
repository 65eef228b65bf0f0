"""One frozen set of options for a compilation. No globals and no environment below the command line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The device limits that a plan may depend on (defaults: what every WebGPU implementation has).

    `subgroup`: in every aligned run of so many threads of a workgroup, a power of two, each may read values of the
    others by shuffles; 1 where that is not known.
    """

    invocations: int = 256
    workgroup_bytes: int = 16384
    storage_buffers: int = 8
    workgroups_per_axis: int = 65535
    binding_bytes: int = 128 << 20
    subgroup: int = 1
    is_cpu: bool = False


@dataclass(frozen=True, slots=True)
class Options:
    """`fusion` False gives the naive plan. `verify` runs the verifiers after every pass. `threads` overrides the plan's
    workgroup size. `split` overrides how many elements a sweep must exceed for several workgroups to share it where
    jobs are few; `kept` how many values of a row a lane keeps in registers at most (0: every sweep reads them again);
    `rows` whether rows that begin between vectors are accessed as vectors (None: where it is worth it).
    `features` are WebGPU feature names that the output may use, `trusted` names of `TRUSTED`: built-ins
    that are known to be right on the device where the standard leaves them open."""

    fusion: bool = True
    verify: bool = False
    threads: int | None = None
    split: int | None = None
    rows: bool | None = None
    kept: int | None = None
    features: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    limits: Limits = Limits()
