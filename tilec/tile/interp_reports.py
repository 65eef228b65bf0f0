"""What a report tells, as the specification has it: its lanes in row-major order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tilec.tile import ir
from tilec.tile.reports import KINDS, MOST_PRINTED, Record, site_of

if TYPE_CHECKING:
    from tilec.tile.interp_frame import Frame


def report(frame: Frame, value: ir.Report) -> None:
    """Adds to the log what the report tells of in each block of the frame."""
    log = frame.memory.log
    if log is None:
        return
    where = frame.get(value.where)
    rank = len(where.masks)
    x, y, z = frame.blocks
    blocks = (x.astype(np.int64) + log.grid[0] * (y + log.grid[1] * z.astype(np.int64))).tolist()
    shape = (len(blocks), *where.shape)
    lanes = np.broadcast_to(where.data.astype(np.bool_) & where.active(), shape)
    values = [np.broadcast_to(frame.get(one).at_rank(rank).data, shape) for one in value.values]
    site = site_of(value)
    for row, block in enumerate(blocks):
        found = np.argwhere(np.asarray(lanes[row]))
        if value.kind == "print":
            found = found[:MOST_PRINTED]
        if len(found):
            log.count(site, len(found))
        for index in found[: KINDS[value.kind]].tolist():
            at = (row, *index)
            log.records.append(Record(site, block, tuple(index), tuple(array[at].item() for array in values)))
