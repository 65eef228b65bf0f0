"""Few jobs with long sweeps: several workgroups share a job's sweep, a dispatch a sweep.

Each leaves the states of its part in scratch memory. The next dispatch combines them in a fixed order, every workgroup
for itself, goes on to the next sweep, and does the narrow work that stands between; a last one finishes what is left.
Nothing else has to change: what the plan calls own is met by the same lane of the same part, and what it separates by a
fence is separated by a dispatch.
"""

from __future__ import annotations

from dataclasses import replace

from tilec.facts import Facts
from tilec.options import Options
from tilec.plan.groups import component_dtypes
from tilec.plan.ir import Dispatch, Phase, Round, Slot
from tilec.tile import ir as tile
from tilec.types import ONE, Extent, apply, element_count

_WORTH_SPLITTING = 1 << 15
"""Elements of a workgroup's sweep that are worth another dispatch."""
_ELEMENTS_A_PART = 1 << 12
_SINGLE_ELEMENTS_A_PART = 1 << 13
_SINGLE_MOST_PARTS = 512
_LANES_OF_A_PART, _ELEMENTS_A_LANE = 256, 16
"""Of a part of a row: small ones, so that they are many."""
_FEW_THREADS = 1 << 15
"""A GPU with so many threads at work still has room."""
_ENOUGH_THREADS = 1 << 17
_CPU_FEW_WORKGROUPS = 8
_CPU_ENOUGH_WORKGROUPS = 32


def split_long_sweeps(
    kernel: tile.Kernel, dispatches: list[Dispatch], facts: Facts, options: Options
) -> list[Dispatch]:
    """Turns every dispatch of few jobs with long sweeps into one a sweep, and one that finishes where there is more to
    do. `options.split` stands for the length that is worth it, and parts are then as small as can be."""
    result: list[Dispatch] = []
    for dispatch in dispatches:
        if not _can_split(kernel, dispatch, options):
            result.append(dispatch)
        elif all(extent.is_one for extent in (*kernel.grid, *dispatch.phase.kept)):
            result += _split_single(dispatch, facts, options)
        else:
            result += _split_few(kernel, dispatch, facts, options)
    return result


def _can_split(kernel: tile.Kernel, dispatch: Dispatch, options: Options) -> bool:
    """Whether the dispatch is nothing but rounds, of which every one that reduces sweeps an axis."""
    if dispatch.kind != "jobs" or dispatch.phase.rows is not None:
        return False
    rounds = [item for item in dispatch.phase.items if isinstance(item, Round)]
    wide = [item for item in rounds if item.wide]
    if len(rounds) < len(dispatch.phase.items) or not wide or not all(item.swept for item in wide):
        return False
    if not all(extent.is_for_host for item in wide for extent in item.swept):
        return False  # a launch must know how many parts there are
    has_states = any(sink.kind in ("reduce", "pick") for item in wide for sink in item.wide)
    return not has_states or len(kernel.tensors) < options.limits.storage_buffers


def _sweeps(phase: Phase) -> list[Extent]:
    return [element_count(item.swept) for item in phase.items if isinstance(item, Round) and item.wide]


def _split_single(dispatch: Dispatch, facts: Facts, options: Options) -> list[Dispatch]:
    """The only job of the whole launch: it is split unless it is known to be short."""
    worth = _WORTH_SPLITTING if options.split is None else options.split
    phase = dispatch.phase
    if all(facts.at_most(total, worth) for total in _sweeps(phase)):
        return [dispatch]
    phase.mapping = replace(
        phase.mapping, lanes=dispatch.threads, jobs=1, resident=0, streams_rest=False, turns=1
    )
    smallest = _SINGLE_ELEMENTS_A_PART if options.split is None else _chunk(phase)
    return _steps(dispatch, ONE, Extent.of(smallest), Extent.of(_SINGLE_MOST_PARTS), options)


def _split_few(kernel: tile.Kernel, dispatch: Dispatch, facts: Facts, options: Options) -> list[Dispatch]:
    """Several jobs: they are split where they are known to be few and long."""
    phase, mapping = dispatch.phase, dispatch.phase.mapping
    jobs = element_count(kernel.grid) * element_count(phase.kept)
    few, enough = _FEW_THREADS // dispatch.threads, _ENOUGH_THREADS // min(dispatch.threads, _LANES_OF_A_PART)
    if options.limits.is_cpu:
        few, enough = _CPU_FEW_WORKGROUPS, _CPU_ENOUGH_WORKGROUPS
    if options.split is not None:
        if all(facts.at_most(total, options.split) for total in _sweeps(phase)):
            return [dispatch]
    elif not _are_few_and_long(dispatch, jobs, max(1, few), facts):
        return [dispatch]
    phase.mapping = mapping = replace(mapping, resident=0, streams_rest=False, turns=1)
    is_asked = bool(options.threads or kernel.threads)
    if mapping.lanes == dispatch.threads > _LANES_OF_A_PART and not (is_asked or options.limits.is_cpu):
        dispatch.threads = _LANES_OF_A_PART
        unroll = min(mapping.unroll, max(1, _ELEMENTS_A_LANE // mapping.granule))
        cluster = min(mapping.cluster, _LANES_OF_A_PART)
        phase.mapping = replace(mapping, lanes=_LANES_OF_A_PART, unroll=unroll, cluster=cluster)
    chunk = _chunk(phase)
    smallest = chunk if options.split is not None else max(chunk, _ELEMENTS_A_PART // mapping.jobs)
    at_once = apply("max", ONE, apply("ceildiv", jobs, Extent.of(mapping.jobs)))
    return _steps(dispatch, jobs, Extent.of(smallest), apply("ceildiv", Extent.of(enough), at_once), options)


def _are_few_and_long(dispatch: Dispatch, jobs: Extent, few: int, facts: Facts) -> bool:
    """The length is asked first, so that the number of rows makes no variants where rows are short."""
    mapping = dispatch.phase.mapping
    if mapping.lanes < dispatch.threads and not mapping.jobs_fastest:
        return False  # the rows are so short that a workgroup takes several
    bound = (_WORTH_SPLITTING // mapping.jobs,)
    is_long = any(facts.size_class(total, bound) == 1 for total in _sweeps(dispatch.phase))
    return is_long and facts.size_class(jobs, (few * mapping.jobs,)) == 0


def _chunk(phase: Phase) -> int:
    """Elements of one round of the loop over a sweep."""
    return phase.mapping.lanes * phase.mapping.granule * phase.mapping.unroll


def _steps(
    dispatch: Dispatch, jobs: Extent, smallest: Extent, most: Extent, options: Options
) -> list[Dispatch]:
    """A dispatch for each sweep of the dispatch's phase, and for narrow work that must not share one with a sweep."""
    found: list[Dispatch] = []
    combined: list[tuple[Round, tuple[Slot, ...]]] = []
    waiting: list[Round] = []

    def add(kind: str, narrow: list[Round], sweep: Round | None, parts: Extent, partials: tuple[Slot, ...]) -> None:
        step = Dispatch(kind, dispatch.threads, [dispatch.phase], vectors=dispatch.vectors, parts=parts)
        step.sweep, step.narrow = sweep, tuple(item for item in narrow if item.narrow)
        step.combined, step.partials = tuple(combined), partials
        found.append(step)

    for item in dispatch.phase.items:
        assert isinstance(item, Round)
        if not item.wide:
            waiting.append(item)
            continue
        is_fenced = item.fence or any(each.fence for each in waiting if not each.wide)
        if is_fenced and any(each.narrow for each in waiting):
            add("finish", waiting, None, ONE, ())
            waiting = []
        parts = apply("max", ONE, apply("min", apply("ceildiv", element_count(item.swept), smallest), most))
        partials = tuple(
            Slot(f"partial_{number}", dtype, (jobs, parts), is_shared=True)
            for number, dtype in enumerate(component_dtypes(item, "exp" in options.trusted))
        )
        add("split", waiting, item, parts, partials)
        if partials:
            combined.append((item, partials))
        waiting = [item]
    if any(each.narrow for each in waiting):
        add("finish", waiting, None, ONE, ())
    return found
