"""Which tensors a dispatch reads and writes four words at a time.

A lane then takes a granule of neighbouring elements, and every granule of a row is whole: the row length, the rows'
pitch and the starts of the spans are multiples of it. Single elements of such a tensor can still be read (a pick), not
stored.
"""

from __future__ import annotations

from tilec.facts import Facts
from tilec.plan.ir import Dispatch, Phase, Sink, Slot
from tilec.plan.packed import all_phases
from tilec.plan.schedule import phase_rounds
from tilec.plan.walk import Access, Walker
from tilec.tile import ir as tile
from tilec.tile.affine import extent_of
from tilec.types import Bound, DType, Extent, Symbol

_WORDS = 4
PACKED = (DType.F16, DType.BF16)


def choose_vectors(
    kernel: tile.Kernel,
    dispatches: list[Dispatch],
    homes: dict[tile.Value, Slot],
    shadows: dict[str, Slot],
    facts: Facts,
) -> None:
    """Fills in `Dispatch.vectors` and widens the granules of the phases that use them."""
    names = {tensor.name for tensor in kernel.tensors} - set(shadows)
    for dispatch in dispatches:
        rows = [phase.rows for phase in all_phases(dispatch.items) if phase.rows is not None]
        if rows:
            dispatch.vectors = rows[0].tensors
            continue
        uses = {phase: accesses_of(phase, homes, names) for phase in all_phases(dispatch.items)}
        chosen = _candidates(kernel, uses, facts)
        if not chosen:
            continue
        dispatch.vectors = frozenset(chosen)
        for phase, accesses in uses.items():
            own = [kernel.tensor(name).dtype for name in chosen if any(a.memory == name for _, a in accesses)]
            if own and _is_regular(phase, facts):
                phase.granule = max(phase.granule, 8 if any(dtype in PACKED for dtype in own) else _WORDS)
                phase.is_whole = True
                for sink in (sink for item in phase_rounds(phase.items) for sink in item.wide):
                    sink.is_whole = _is_whole(kernel, sink, phase.granule, facts)


def accesses_of(phase: Phase, homes: dict[tile.Value, Slot], names: set[str]) -> list[tuple[Sink, Access]]:
    """All accesses of tensors by the phase's sinks."""
    sinks = [sink for item in phase_rounds(phase.items) for sink in item.sinks]
    walker = Walker(homes, {sink.value for sink in sinks if sink.kind in ("reduce", "pick")}, names)
    return [
        (sink, access)
        for sink in sinks
        for access in walker.needs(sink, sink.roles).accesses
        if isinstance(access.memory, str)
    ]


def _candidates(kernel: tile.Kernel, uses: dict[Phase, list[tuple[Sink, Access]]], facts: Facts) -> list[str]:
    swept: dict[str, bool] = {}
    for phase, accesses in uses.items():
        regular = _is_regular(phase, facts)
        for sink, access in accesses:
            name = access.tensor
            is_swept = not access.is_narrow and access.roles[-1] == "s0"
            fits = regular and _is_aligned(kernel, sink, access, facts) if is_swept else not access.writes
            swept[name] = swept.get(name, True) and fits
            if is_swept and fits:
                swept.setdefault(f"{name}\0", True)
    return [name for name, fits in swept.items() if fits and f"{name}\0" in swept]


def _elements(dtype: DType) -> int:
    """Elements of four words."""
    return _WORDS * dtype.elements_per_word


def _is_regular(phase: Phase, facts: Facts) -> bool:
    """Every sweep goes over one axis, in whole granules of the widest kind; one over no axis has a single element."""
    rounds = [item for item in phase_rounds(phase.items) if item.swept or item.wide]
    is_swept = any(item.swept for item in rounds)
    return is_swept and all(len(item.swept) == 1 and _divides(8, item.swept[0], facts) for item in rounds)


def _divides(divisor: int, extent: Extent, facts: Facts) -> bool:
    """Whether the divisor divides the extent whatever its block and loop indices are."""
    known = tuple(term for term in extent.terms if all(_is_known(atom) for atom in term[0]))
    rest = [factor for monomial, factor in extent.terms if (monomial, factor) not in known]
    return not any(factor % divisor for factor in rest) and facts.divides(divisor, Extent(known))


def _is_known(atom: object) -> bool:
    return isinstance(atom, Symbol) and atom.kind == "dim"


def _are_aligned(bounds: frozenset[Bound], divisor: int, facts: Facts) -> bool:
    """Whether the bounds hold for all elements of a granule or for none."""
    return all(
        bound.stretched or (_divides(divisor, bound.start, facts) and _divides(divisor, bound.limit, facts))
        for bound in bounds
    )


def _is_aligned(kernel: tile.Kernel, sink: Sink, access: Access, facts: Facts) -> bool:
    """Whether the access is made of whole vectors."""
    parameter = kernel.tensor(access.tensor)
    dtype = parameter.dtype
    if dtype.size not in (2, 4) or dtype is DType.BOOL:
        return False
    elements = _elements(dtype)
    if not _divides(elements, access.starts[-1], facts) or not _divides(elements, parameter.dims[-1], facts):
        return False
    value = access.load if access.load is not None else sink.value
    if isinstance(value, tile.Load):
        return value.fill is None  # its bounds come of the start and the dim, which are aligned
    return (dtype not in PACKED or sink.granular) and _is_whole(kernel, sink, elements, facts)


def _is_whole(kernel: tile.Kernel, sink: Sink, divisor: int, facts: Facts) -> bool:
    """Whether the sink is done for all elements of a granule or for none."""
    operand = sink.operand.type
    offset = len(sink.roles) - operand.rank
    for axis, bounds in enumerate(operand.active):
        if sink.roles[offset + axis].startswith("s") and not _are_aligned(bounds, divisor, facts):
            return False
    if sink.kind != "store":
        return True
    places = zip(sink.store.indices, kernel.tensor(sink.store.tensor).dims, strict=True)
    spans = [(index, dim) for index, dim in places if isinstance(index, tile.SpanIndex)]
    return all(
        _divides(divisor, extent_of(index.start), facts) and _divides(divisor, dim, facts)
        for (index, dim), role in zip(spans, sink.roles, strict=True)
        if role.startswith("s")
    )
