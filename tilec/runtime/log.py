"""A debug build's log as words of memory: what a launch starts with, and what it says afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tilec.tile.reports import ROUND, Layout, Log, Number, Record
from tilec.types import DType

_EVERY_BLOCK = 0xFFFFFFFF
_DTYPES = {DType.F32: np.float32, DType.I32: np.int32, DType.U32: np.uint32, DType.BOOL: np.uint32}


def empty_log(layout: Layout, words: int, last_block: int = _EVERY_BLOCK) -> np.ndarray:
    """A log of at least that many words that nothing was told into; blocks behind `last_block` do not tell."""
    log = np.zeros(max(words, layout.head), np.uint32)
    log[0] = last_block
    for kind in layout.kinds:
        log[layout.kind_word(kind) + 1] = _EVERY_BLOCK
    return log


def overflow(layout: Layout, words: np.ndarray) -> int | None:
    """The last block of which the log has every record, and no later one need be told of; None: it has room for all.

    That is the first block that told anything of a kind that did not fit.
    """
    room = layout.room(len(words))
    full = [kind for kind in layout.kinds if words[layout.kind_word(kind)] > room]
    return max(int(words[layout.kind_word(kind) + 1]) for kind in full) if full else None


def read_log(layout: Layout, words: np.ndarray, grid: tuple[int, int, int]) -> Log:
    """What the words say."""
    log = Log(grid=grid)
    for number, site in enumerate(layout.sites):
        lanes = int(words[layout.site_word(number)])
        if lanes:
            log.count(site, lanes)
    found = sorted(_entries(layout, words), key=lambda entry: entry[0])
    log.records = [record for _, record in found]
    log.trim()
    return log


def _entries(layout: Layout, words: np.ndarray) -> Iterator[tuple[tuple[object, ...], Record]]:
    """Each record with what it is ordered by: the block, the place in the kernel with the rounds of loops, the lane."""
    room = layout.room(len(words))
    for place, kind in enumerate(layout.kinds):
        told = min(int(words[layout.kind_word(kind)]), room)
        start = layout.head + place * room * layout.record
        for row in words[start : start + told * layout.record].reshape(told, layout.record):
            number, block = int(row[0]), int(row[1])
            site, path = layout.sites[number], layout.paths[number]
            rounds = iter(row[2 : 2 + layout.rounds].view(np.int32).tolist())
            time = tuple(next(rounds) if step == ROUND else step for step in path)
            rest = row[2 + layout.rounds :]
            index = tuple(rest[: site.rank].tolist())
            yield (block, time, index), Record(site, block, index, _values(rest[layout.rank :], site.dtypes))


def _values(words: np.ndarray, dtypes: tuple[DType, ...]) -> tuple[Number, ...]:
    values: list[Number] = []
    for place, dtype in enumerate(dtypes):
        value = words[place : place + 1].view(_DTYPES[dtype]).item()
        values.append(bool(value) if dtype is DType.BOOL else value)
    return tuple(values)
