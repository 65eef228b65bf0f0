"""Rows that begin between vectors: where they can be read and written as vectors all the same.

A lane takes the vectors that lie in a row, and single lanes the elements before the first and behind the last. A vector
that two rows share has one owner: as many rows in turn by the same lanes as make an aligned stretch.
"""

from __future__ import annotations

from tilec.facts import Facts
from tilec.options import Options
from tilec.plan.ir import Item, Phase, Round, Rows, Sink, Slot
from tilec.plan.vectors import PACKED, accesses_of
from tilec.plan.walk import Access
from tilec.tile import ir as tile
from tilec.tile.affine import extent_of
from tilec.types import Extent, Symbol, element_count

FEW_WORKGROUPS, _CPU_FEW_ROWS = 128, 64
"""Rows in turn are not worth it for fewer workgroups, about as many as multiprocessors: some would be idle."""
_SHORT_ROW, _SHORT_PACKED_ROW = 1023, 63
_GRANULES = 4
"""A row has at least so many granules: its first and its last one differ."""
_BLOCK = Symbol("ctx.block.x", "block")


def choose_rows(
    kernel: tile.Kernel, items: list[Item], homes: dict[tile.Value, Slot], facts: Facts, options: Options
) -> None:
    """Fills in `Phase.rows`, the granule and the sinks of a plan of one phase whose rows start between vectors."""
    if len(items) != 1 or not isinstance(items[0], Phase) or options.rows is False:
        return
    phase = items[0]
    pitch = _pitch(phase)
    if pitch is None or len(phase.kept) > 1 or not all(extent.is_one for extent in kernel.grid[1:]):
        return
    if not all(extent.is_for_host for extent in phase.kept):
        return  # only dispatches whose jobs a launch can count take rows in turn
    uses = accesses_of(phase, homes, {tensor.name for tensor in kernel.tensors})
    rows = ("point", ".") if all(extent.is_one for extent in phase.kept) else ("k0",)
    starts = _starts(kernel, uses, pitch, rows)
    start = next(iter(starts.values()), None)
    if start is None:
        return
    tensors = frozenset(name for name, own in starts.items() if own == start)
    granule = 8 if any(kernel.tensor(name).dtype in PACKED for name in tensors) else 4
    written = {access.tensor for _, access in uses if access.writes} & tensors
    if facts.divides(8, pitch) or not _is_worth_it(kernel, pitch, granule, written, facts, options):
        return
    common = next((size for size in (4, 2) if facts.divides(size, pitch)), 1)
    turns = granule // common if written else 1
    if turns > 1 and not _are_numbered(kernel, phase, start, turns):
        return
    jobs = element_count(kernel.grid) * element_count(phase.kept)
    few = (_CPU_FEW_ROWS if options.limits.is_cpu else FEW_WORKGROUPS) * turns
    if options.rows is None and facts.size_class(jobs, (few - 1,)) != 1:
        return
    phase.rows = Rows(start, pitch, turns, tensors)
    phase.granule, phase.is_whole = granule, True
    for item in phase.items:
        for sink in item.wide if isinstance(item, Round) else ():
            sink.is_whole = _is_inside(kernel, sink)


def _pitch(phase: Phase) -> Extent | None:
    """The one extent that all sweeps of straight rounds have."""
    rounds = [item for item in phase.items if isinstance(item, Round)]
    swept = {item.swept for item in rounds if item.wide}
    if len(rounds) < len(phase.items) or len(swept) != 1:
        return None
    (extents,) = swept
    has_bounds = any(_is_bounded(sink) for item in rounds for sink in item.wide)
    return extents[0] if len(extents) == 1 and not has_bounds else None


def _is_bounded(sink: Sink) -> bool:
    """Whether it is not done for all elements of the sweep."""
    operand = sink.operand.type
    offset = len(sink.roles) - operand.rank
    return any(bounds and sink.roles[offset + axis] == "s0" for axis, bounds in enumerate(operand.active))


def _is_inside(kernel: tile.Kernel, sink: Sink) -> bool:
    """Whether no element of the sweep is stored outside its tensor: rows elsewhere may begin at any column."""
    if sink.kind != "store":
        return True
    places = zip(sink.store.indices, kernel.tensor(sink.store.tensor).dims, strict=True)
    spans = [(extent_of(index.start), index.count, dim) for index, dim in places if isinstance(index, tile.SpanIndex)]
    return all(
        start.is_nonnegative and (dim - start - count).is_nonnegative
        for (start, count, dim), role in zip(spans, sink.roles, strict=True)
        if role.startswith("s")
    )


def _starts(
    kernel: tile.Kernel, uses: list[tuple[Sink, Access]], pitch: Extent, rows: tuple[str, ...]
) -> dict[str, Extent]:
    """The row at which a tensor's accesses start, of those whose rows are swept from end to end, a row a job: `rows`
    are the roles of such an axis. Those that are stored come first."""
    found: dict[str, Extent] = {}
    refused: set[str] = set()
    for access in sorted((access for _, access in uses), key=lambda access: not access.writes):
        name = access.tensor
        is_swept = not access.is_narrow and access.roles[-1] == "s0"
        if is_swept and access.roles[0] in rows and _is_whole_row(kernel, access, pitch):
            if found.setdefault(name, access.starts[0]) != access.starts[0]:
                refused.add(name)
        elif is_swept or access.writes:
            refused.add(name)
    return {name: start for name, start in found.items() if name not in refused}


def _is_whole_row(kernel: tile.Kernel, access: Access, pitch: Extent) -> bool:
    parameter = kernel.tensor(access.tensor)
    if len(parameter.dims) != 2 or parameter.dims[-1] != pitch or access.starts[-1] != Extent(()):
        return False
    if parameter.dtype.size not in (2, 4):
        return False
    # With a fill each element is read in a block of its own, and would read its vector again.
    return not (isinstance(access.load, tile.Load) and access.load.fill is not None)


def _is_worth_it(
    kernel: tile.Kernel, pitch: Extent, granule: int, written: set[str], facts: Facts, options: Options
) -> bool:
    """Rows of enough elements; on a software device only to do without shadows."""
    is_packed = any(kernel.tensor(name).dtype in PACKED for name in written)
    if options.rows is None and options.limits.is_cpu and not is_packed:
        return False
    short = _GRANULES * granule - 1
    if options.rows is None:
        short = _SHORT_PACKED_ROW if is_packed else _SHORT_ROW
    return facts.size_class(pitch, (short,)) == 1


def _are_numbered(kernel: tile.Kernel, phase: Phase, start: Extent, turns: int) -> bool:
    """Whether the job's number among those of all blocks is the row's number, but for a multiple of `turns`."""
    rest = start
    if not kernel.grid[0].is_one:
        rest = start - element_count(phase.kept) * Extent.of(_BLOCK)
    return rest.constant is not None and rest.constant % turns == 0
