"""The schedule as data: which work is done in which sweep, by whom, and where values live meanwhile.

A *sink* is work that must happen: a reduction, a store, the publishing of a value in scratch memory. A *phase* is a
loop over *jobs*, the positions of its kept axes; a job is a list of rounds and control flow, and a *round* is one sweep
over the swept axes, the combination of its states over the job's lanes, and the narrow work that follows. Everything
that is no sink is recomputed from loads, registers and scratch wherever a sink needs it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from tilec.tile import ir as tile
from tilec.tile.needed import Need
from tilec.tile.reports import Layout
from tilec.types import ONE, DType, Extent, element_count

# A role says by what an axis is indexed: "k0", "k1", ... the kept axes of the phase, "s0", ... the swept axes of the
# round, "." an axis of extent 1.
Roles: TypeAlias = "tuple[str, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """Scratch memory for one value: `shape` elements of 4 bytes for each block (for the whole launch if
    `is_shared`). `shape` is of dims and scalars, so that a launch knows it; where data counts a value's lanes, it has
    room for as many as may be active. An axis that `wraps` keeps lane i at i modulo its extent."""

    name: str
    dtype: DType
    shape: tuple[Extent, ...]
    is_shared: bool = False
    wraps: tuple[bool, ...] = ()

    @property
    def size(self) -> Extent:
        return element_count(self.shape)


@dataclass(slots=True, eq=False)
class Sink:
    """`kind`: "reduce" (value: Reduce), "pick" (Pick, read by the lane that owns the element), "store" (Store),
    "publish" (any value, into `slot`), "carry" (a yielded value, into the `slot` of the loop's carried argument) or
    "report" (Report, into the log).

    `roles` are those of the axes of the operand (reduce), the picked row's axes (pick), the spans (store) or the value.
    `granular`: a store of a packed type whose words each have one owner (`Phase.granule` elements at a time).
    `is_whole`: it is done for all elements of a granule or for none. `is_once`: done by the first job of a block only.
    `needs`: the result of a reduction or pick is needed only where these hold, which is known before the sweep.
    """

    kind: str
    value: tile.Value
    position: int
    slot: Slot | None = None
    roles: Roles = ()
    granular: bool = False
    is_whole: bool = False
    is_once: bool = False
    needs: tuple[Need, ...] = ()

    @property
    def reduction(self) -> tile.Reduce:
        """The value of a sink of kind "reduce"."""
        assert isinstance(self.value, tile.Reduce)
        return self.value

    @property
    def pick(self) -> tile.Pick:
        """The value of a sink of kind "pick"."""
        assert isinstance(self.value, tile.Pick)
        return self.value

    @property
    def store(self) -> tile.Store:
        """The value of a sink of kind "store"."""
        assert isinstance(self.value, tile.Store)
        return self.value

    @property
    def report(self) -> tile.Report:
        """The value of a sink of kind "report"."""
        assert isinstance(self.value, tile.Report)
        return self.value

    @property
    def target(self) -> Slot:
        """The slot that a sink of kind "publish" or "carry" fills."""
        assert self.slot is not None
        return self.slot

    @property
    def operand(self) -> tile.Value:
        """What the sink evaluates."""
        if isinstance(self.value, (tile.Reduce, tile.Store, tile.Pick)) and self.kind in ("reduce", "store", "pick"):
            return self.value.operand
        return self.value.where if isinstance(self.value, tile.Report) else self.value

    @property
    def shape(self) -> tuple[Extent, ...]:
        """Extents of the axes that `roles` speak of."""
        if self.kind == "store":
            return self.value.type.shape
        if self.kind == "pick":
            return (*self.value.type.shape[:-1], self.operand.type.shape[-1])
        return self.operand.type.shape

    @property
    def is_narrow(self) -> bool:
        """Done once a job, not once an element."""
        is_per_element = self.kind not in ("reduce", "pick")
        return is_per_element and not any(role.startswith("s") for role in self.roles)


@dataclass(slots=True, eq=False)
class Round:
    """One sweep over `swept` (no sweep if no sink is wide), then the combine, then the narrow sinks.

    `fence`: a storage barrier stands before it, since it touches memory that other lanes of the job have touched.
    `is_backwards`: a streamed sweep that begins with the elements that the sweep before it read last.
    """

    swept: tuple[Extent, ...]
    sinks: list[Sink] = field(default_factory=list)
    fence: bool = False
    is_backwards: bool = False

    @property
    def wide(self) -> list[Sink]:
        return [sink for sink in self.sinks if not sink.is_narrow]

    @property
    def reductions(self) -> list[tile.Reduce]:
        return [sink.reduction for sink in self.wide if sink.kind == "reduce"]

    @property
    def picks(self) -> list[Sink]:
        return [sink for sink in self.wide if sink.kind == "pick"]

    @property
    def narrow(self) -> list[Sink]:
        return [sink for sink in self.sinks if sink.is_narrow]


@dataclass(slots=True, eq=False)
class IfItem:
    node: tile.If
    then: list[Item]
    otherwise: list[Item]
    fence: bool = False


@dataclass(slots=True, eq=False)
class ForItem:
    """`carried[k]` is the slot of carried argument k, None if it lives in a register. `fence`: a storage barrier stands
    before it; `fences_rounds`: one ends every round of the loop too (inside a job; phases always end with one)."""

    node: tile.For
    body: list[Item]
    carried: tuple[Slot | None, ...]
    fence: bool = False
    fences_rounds: bool = False


@dataclass(slots=True, eq=False)
class WhileItem:
    node: tile.While
    condition: list[Item]
    body: list[Item]
    carried: tuple[Slot | None, ...]
    fence: bool = False
    fences_rounds: bool = False


@dataclass(frozen=True, slots=True)
class Mapping:
    """How a phase's jobs meet threads: `lanes` threads a job, `jobs` jobs at once in a workgroup.

    `granule` elements of the last swept axis go to one lane together. `unroll` granules are in flight in the main loop.
    `resident`: each round's whole sweep is unrolled (at most so many granules a lane), and what a lane has loaded stays
    in its registers from round to round; 0 if streamed. `width` is how many elements such a sweep is known to have.
    `streams_rest`: only that many elements at the beginning are kept, and behind them each sweep is streamed.
    `screened`: whether a condition of a store, such as `iota == target`, singles out one of so many elements is asked
    first, and they are computed without it if not; 0: it is computed for each.
    `turns`: so many neighbouring jobs go to the same lanes one after the other, where blocks merge.
    `longest`: no streamed sweep has more elements, as far as the plan knows.
    `cluster` lanes combine their states by shuffles; 1: through workgroup memory alone. `jobs_fastest`: neighbouring
    threads take neighbouring jobs (the kept axis is the contiguous one), else neighbouring lanes of one job.
    """

    lanes: int
    jobs: int
    granule: int = 1
    is_whole: bool = False
    unroll: int = 1
    resident: int = 0
    width: int = 0
    jobs_fastest: bool = False
    cluster: int = 1
    streams_rest: bool = False
    screened: int = 0
    turns: int = 1
    longest: int = 1 << 31

    @property
    def threads(self) -> int:
        return self.lanes * self.jobs


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of `tensors` that begin between vectors: job k of a block has row `start` + k, of `pitch` elements, swept
    from end to end. The same lanes take `turns` rows one after the other, the first of which begins on a vector."""

    start: Extent
    pitch: Extent
    turns: int
    tensors: frozenset[str]


@dataclass(slots=True, eq=False)
class Phase:
    """`kept` are the extents of the job axes. `items` are rounds and control flow inside one job. `granule`
    elements of the swept axis go to one lane together (words of packed stores, vectors); `is_whole` if every sweep is a
    multiple of it, or but for the ends of `rows`; `mapping` says the rest."""

    kept: tuple[Extent, ...]
    items: list[Item] = field(default_factory=list)
    mapping: Mapping = Mapping(1, 1)
    granule: int = 1
    is_whole: bool = False
    rows: Rows | None = None

    @property
    def job_items(self) -> list[JobItem]:
        """The items: no phase stands inside a job."""
        return [item for item in self.items if not isinstance(item, Phase)]


ControlItem: TypeAlias = "IfItem | ForItem | WhileItem"
JobItem: TypeAlias = "Round | ControlItem"
Item: TypeAlias = "JobItem | Phase"


@dataclass(slots=True, eq=False)
class Dispatch:
    """`kind`: "jobs" (one phase; the jobs of all blocks are spread over workgroups; `merges_blocks` if a workgroup may
    take jobs of several blocks), "block" (one workgroup a block runs `items` in order, with barriers between), "split"
    and "finish" (a step of one phase of rounds), "unpack" and "pack" (a packed tensor into its shadow of 32-bit
    elements and back). `vectors` are the tensors whose words it reads and writes four at a time.

    A step: every workgroup combines the states of the `combined` rounds, which earlier steps have left in slots, a slot
    a component of [jobs, parts]; the first one of a job does the narrow work of the rounds `narrow`; then `parts`
    workgroups share a job's part of `sweep` and leave its states in `partials`. A "finish" has no sweep.
    """

    kind: str
    threads: int
    items: list[Item] = field(default_factory=list)
    merges_blocks: bool = False
    tensor: str | None = None
    vectors: frozenset[str] = frozenset()
    parts: Extent = ONE
    combined: tuple[tuple[Round, tuple[Slot, ...]], ...] = ()
    narrow: tuple[Round, ...] = ()
    sweep: Round | None = None
    partials: tuple[Slot, ...] = ()

    @property
    def phase(self) -> Phase:
        """The phase of a dispatch of kind "jobs", "split" or "finish"."""
        phase = self.items[0]
        assert isinstance(phase, Phase)
        return phase


@dataclass(slots=True, eq=False)
class Plan:
    """`shadows` maps a packed tensor that is stored where words are shared to the slot that stands for it meanwhile.

    `slots` are all scratch slots in order; `homes` the slot of each published value or carried argument; `needed` the
    conditions without which a load is not needed; `workgroup_words` is how much workgroup memory there is, `subgroup`
    how many neighbouring threads may shuffle, `trusts_exp` whether the built-in exponential is right for NaN and -inf;
    `skips_branches` whether a branch that no thread takes costs nothing (a software device executes both sides); `log`
    how a debug build's log lies in memory."""

    dispatches: list[Dispatch]
    slots: list[Slot]
    homes: dict[tile.Value, Slot]
    shadows: dict[str, Slot]
    guards: list[str]
    needed: dict[tile.Value, tuple[Need, ...]]
    workgroup_words: int = 4096
    subgroup: int = 1
    trusts_exp: bool = False
    skips_branches: bool = True
    log: Layout | None = None
