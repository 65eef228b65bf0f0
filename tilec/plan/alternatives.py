"""Plans that may be faster than what the rules choose: `tilec bench --plans` shows, `tilec tune` tries them."""

from __future__ import annotations

from dataclasses import replace

from tilec.options import Options

_THREADS = (32, 64, 128, 256, 512, 1024)
_SPLITS = {"sweeps shared from 4096 elements on": 1 << 12, "sweeps not shared": 1 << 30}


def alternatives(options: Options) -> dict[str, Options]:
    """Options by a name for people, the given ones first. Several may give the same code."""
    found = {"default": options}
    for threads in _THREADS:
        if threads <= options.limits.invocations:
            found[f"{threads} threads"] = replace(options, threads=threads)
    return found | {name: replace(options, split=split) for name, split in _SPLITS.items()}


def naive(options: Options) -> Options:
    """The plan in which every value is kept in memory: what fusion is measured against."""
    return replace(options, fusion=False)
