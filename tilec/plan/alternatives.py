"""Plans that may be faster than what the rules choose: `tilec bench --plans` shows, `tilec tune` tries them."""

from __future__ import annotations

from dataclasses import replace

from tilec.options import Options

_THREADS = (32, 64, 128, 256, 512, 1024)
_MORE = 64
"""Values of a row that a lane keeps, of a longer one too: a quarter of what hardware can name."""
_SPLITS = {"sweeps shared from 4096 elements on": 1 << 12, "sweeps not shared": 1 << 30}


def alternatives(options: Options) -> dict[str, Options]:
    """Options by a name for people, the given ones first. Several may give the same code."""
    found = {"default": options, "nothing kept": replace(options, kept=0), "more kept": replace(options, kept=_MORE)}
    for threads in _THREADS:
        if threads <= options.limits.invocations:
            found[f"{threads} threads"] = replace(options, threads=threads)
            found[f"{threads} threads, nothing kept"] = replace(options, threads=threads, kept=0)
    return found | {name: replace(options, split=split) for name, split in _SPLITS.items()}


def naive(options: Options) -> Options:
    """The plan in which every value is kept in memory: what fusion is measured against."""
    return replace(options, fusion=False)
