"""A plan as text: dispatches, phases, rounds, what each sweep reads, computes and writes, and where values live."""

from __future__ import annotations

from dataclasses import replace

from tilec.plan.cost import PlanCost, RoundCost
from tilec.plan.cost_text import sweep_lines, written_text
from tilec.plan.guards import essential
from tilec.plan.ir import Dispatch, ForItem, IfItem, Item, Phase, Plan, Round, Sink, Slot, WhileItem
from tilec.plan.screened import screened_conditions
from tilec.plan.walk import children
from tilec.source import Span
from tilec.tile import ir as tile
from tilec.tile.affine import extent_of
from tilec.tile.walk import walk
from tilec.types import Atom, Extent, Opaque, Symbol


def print_plan(kernel: tile.Kernel, plan: Plan, cost: PlanCost | None = None) -> str:
    """The plan of `kernel`, readable top to bottom; with `cost` the bytes and the work of each sweep."""
    return _Printer(kernel, plan, cost).text()


class PlanNames:
    """How a plan's text calls values: by their names in the source, else by the expression that they come from."""

    def __init__(self, kernel: tile.Kernel) -> None:
        self._numbers = {value: number for number, value in enumerate(walk(kernel.body))}
        texts: dict[str, int] = {}
        for value in self._numbers:
            if not value.type.shape:
                texts[self.value(value)] = texts.get(self.value(value), 0) + 1
        self._shared = {text for text, count in texts.items() if count > 1}
        """What several scalars are called: where they stand in a formula, numbers keep them apart."""

    def value(self, value: tile.Value) -> str:
        """Such as `x`, or `A[r :+ 8, :]` (in the file with its line)."""
        if value.name or value not in self._numbers:
            return loop_name(value.name)
        return source_text(value.span)

    def scalar(self, value: tile.Value) -> str:
        """A scalar in a formula: no two are called the same."""
        text = self.value(value)
        return f"{text}%{self._numbers[value]}" if text in self._shared and value in self._numbers else text

    def extent(self, extent: Extent) -> str:
        def shown(atom: Atom) -> Extent | None:
            if isinstance(atom, Opaque) and isinstance(atom.value, tile.Value):
                return Extent.of(Symbol(self.scalar(atom.value), "loop"))
            if isinstance(atom, Symbol) and atom.kind == "loop":
                return Extent.of(Symbol(loop_name(atom.name), "loop"))
            return None

        return str(extent if extent.constant is not None else extent.substitute(shown))

    def access(self, value: tile.Load | tile.Store) -> str:
        """A tensor with the spans of an access, such as `Logits[8 * ctx.block.x :+ 8, 0 :+ V]`."""
        texts = []
        for index in value.indices:
            if isinstance(index, tile.PointIndex):
                texts.append(self.extent(extent_of(index.index)))
            else:
                texts.append(f"{self.extent(extent_of(index.start))} :+ {self.extent(index.count)}")
        return f"{value.tensor}[{', '.join(texts)}]"


_LONGEST = 48
"""Characters of an expression that are shown."""


def source_text(span: Span) -> str:
    """An expression of the source, with its place: `` `rowvar(x)` (stats.ph:5) ``."""
    text = " ".join(span.text.split())
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    source = span.source
    name = source.name if source.is_std else source.name.replace("\\", "/").rpartition("/")[2]
    place = f"{name}:{span.line}"
    return f"`{text}` ({place})" if text else place


def loop_name(name: str) -> str:
    """The source's name of a loop index: behind the point stands a number of this process."""
    return name.partition(".")[0] or "i"


class _Printer:
    def __init__(self, kernel: tile.Kernel, plan: Plan, cost: PlanCost | None) -> None:
        self.kernel = kernel
        self.plan = plan
        self.names = PlanNames(kernel)
        self.costs: dict[Round, RoundCost] = {}
        for dispatch in cost.dispatches if cost is not None else []:
            self.costs.update(dispatch.rounds)
        self.lines: list[str] = []
        self.phase = Phase(())
        """The one that is being told."""

    def text(self) -> str:
        grid = " x ".join(str(extent) for extent in self.kernel.grid)
        dispatches = _count(len(self.plan.dispatches), "dispatch", "es")
        self._line(0, f"plan of {self.kernel.name}: {grid} blocks, {dispatches}")
        for guard in essential(self.plan.guards):
            self._line(1, f"only for {guard}")
        for tensor, slot in self.plan.shadows.items():
            self._line(1, f"{tensor} is worked on as 32-bit elements, since its words are shared: {_slot(slot)}")
        for slot in dict.fromkeys(self.plan.homes.values()):
            self._line(1, f"scratch {_slot(slot)}")
        for number, dispatch in enumerate(self.plan.dispatches):
            self._dispatch(number, dispatch)
        return "\n".join(self.lines) + "\n"

    def _line(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text)

    def _dispatch(self, number: int, dispatch: Dispatch) -> None:
        if dispatch.kind in ("pack", "unpack"):
            verb = "packs" if dispatch.kind == "pack" else "unpacks"
            self._line(0, f"dispatch {number}: {verb} {dispatch.tensor}, {dispatch.threads} threads a workgroup")
            return
        if dispatch.kind in ("split", "finish"):
            self._step(number, dispatch)
            return
        if dispatch.kind == "block":
            how = "one workgroup a block"
        elif dispatch.merges_blocks:
            how = "the jobs of all blocks over workgroups"
        else:
            how = "the jobs of each block over workgroups"
        self._line(0, f"dispatch {number}: {how}, {dispatch.threads} threads each")
        self._items(dispatch.items, 1)

    def _step(self, number: int, dispatch: Dispatch) -> None:
        share = "finishes" if dispatch.sweep is None else f"{dispatch.parts} workgroups share a job's sweep"
        self._line(0, f"dispatch {number}: {share}, {dispatch.threads} threads each")
        self._phase(replace(dispatch.phase, items=[]), 1)
        if dispatch.combined:
            self._line(2, "combines the states of the parts")
        for item in dispatch.narrow:
            self._narrow(item, 2)
        if dispatch.sweep is not None:
            self._wide(dispatch.sweep, 2)

    def _items(self, items: list[Item], depth: int) -> None:
        for item in items:
            if getattr(item, "fence", False):
                self._line(depth, "storage barrier")
            match item:
                case Phase():
                    self._phase(item, depth)
                case Round():
                    if item.wide:
                        self._wide(item, depth)
                    self._narrow(item, depth)
                case IfItem():
                    self._line(depth, "if:")
                    self._items(item.then, depth + 1)
                    if item.otherwise:
                        self._line(depth, "else:")
                        self._items(item.otherwise, depth + 1)
                case ForItem():
                    name = loop_name(item.node.index.name)
                    self._line(depth, f"for {name}, step {item.node.step}{_carried(item)}:")
                    self._items(item.body, depth + 1)
                case WhileItem():
                    self._line(depth, f"while, at most {item.node.bound} rounds{_carried(item)}:")
                    self._items(item.condition, depth + 1)
                    self._items(item.body, depth + 1)

    def _phase(self, phase: Phase, depth: int) -> None:
        mapping, self.phase = phase.mapping, phase
        jobs = " x ".join(map(str, phase.kept)) if phase.kept else "1"
        how = f"{_count(mapping.lanes, 'lane')} a job, {_count(mapping.jobs, 'job')} at once"
        if mapping.cluster > 1:
            how += f", {mapping.cluster} lanes combine by shuffles"
        if mapping.granule > 1:
            how += f", {mapping.granule} elements together"
        if mapping.resident:
            kept = f"{mapping.resident} granules a lane in registers"
            rest = f", the rest streamed {mapping.unroll} at a time"
            how += f", the first {kept}{rest}" if mapping.streams_rest else f", a row of {kept}"
        else:
            how += f", streamed {mapping.unroll} granules at a time"
        if phase.rows is not None:
            how += ", rows begin between vectors"
        if mapping.turns > 1:
            how += f", {mapping.turns} jobs in turn"
        self._line(depth, f"{jobs} jobs a block: {how}")
        self._items(phase.items, depth + 1)

    def _wide(self, item: Round, depth: int) -> None:
        extents = " x ".join(map(str, item.swept)) or "1"
        self._line(depth, f"sweep over {extents}{', backwards' if item.is_backwards else ''}")
        cost = self.costs.get(item)
        if cost is None:
            reads = sorted({name for sink in item.wide for name in self._reads(sink)})
            if reads:
                self._line(depth + 1, f"reads {', '.join(reads)}")
        else:
            for text in sweep_lines(cost):
                self._line(depth + 1, text)
        needs = [sink.needs for sink in item.wide if sink.needs]
        for need in needs[0] if needs else ():
            if all(need in several for several in needs):
                verb = "holds" if need.is_true else "does not hold"
                self._line(depth + 1, f"reduces only where {self.names.value(need.condition)} {verb}")
        for sink in item.wide:
            self._line(depth + 1, self._with_bytes(sink, item))
        for condition in screened_conditions(self.plan.homes, self.phase, item):
            self._line(depth + 1, f"apart: what {self.names.value(condition)} singles out")

    def _narrow(self, item: Round, depth: int) -> None:
        for sink in item.narrow:
            self._line(depth, f"once a {'block' if sink.is_once else 'job'}: {self._with_bytes(sink, item)}")

    def _with_bytes(self, sink: Sink, item: Round) -> str:
        cost = self.costs.get(item)
        if cost is None or sink.kind not in ("store", "publish", "carry"):
            return self._sink(sink)
        place = self.names.access(sink.store) if sink.kind == "store" else f"scratch {sink.target.name}"
        return self._sink(sink) + written_text(cost, place)

    def _sink(self, sink: Sink) -> str:
        value = sink.value
        match sink.kind:
            case "reduce":
                if not value.name and not sink.operand.name and _is_part(sink.operand.span, value.span):
                    return f"{sink.reduction.op} for {source_text(value.span)}"
                made = _named(value) or f" for {source_text(value.span)}"
                return f"{sink.reduction.op} of {self._short(sink.operand)}{made}"
            case "pick":
                return f"pick from {self.names.value(sink.operand)} by the lane that owns the element{_named(value)}"
            case "store":
                ending = ", a word a lane" if sink.granular else ""
                return f"stores {self.names.access(sink.store)}{ending}"
            case "report":
                return f"tells where {self.names.value(sink.operand)} holds ({sink.report.kind})"
            case "publish":
                return f"keeps {self.names.value(value)}{_named(value)} in scratch {sink.target.name}"
        return f"carries {self.names.value(value)} in scratch {sink.target.name}"

    def _short(self, value: tile.Value) -> str:
        """The value without its place, where another place follows."""
        return self.names.value(value).partition("` (")[0] + ("" if value.name else "`")

    def _reads(self, sink: Sink) -> set[str]:
        """Tensors and slots that the sink's elements are read from."""
        found: set[str] = set()
        seen: set[tile.Value] = set()
        stack = [(sink.operand, sink.roles)]
        if sink.operand.type.rank < len(sink.roles):
            stack = [(sink.operand, sink.roles[len(sink.roles) - sink.operand.type.rank :])]
        while stack:
            value, roles = stack.pop()
            if value in seen:
                continue
            seen.add(value)
            if value in self.plan.homes and value is not sink.value:
                found.add(f"scratch {self.plan.homes[value].name}")
            elif isinstance(value, tile.Load):
                found.add(self.names.access(value))
            elif not isinstance(value, tile.Reduce):
                stack.extend(children(value, roles))
        return found


def _is_part(span: Span, whole: Span) -> bool:
    """Whether the expression already shows in the other."""
    return span.source is whole.source and whole.start <= span.start and span.end <= whole.end


def _named(value: tile.Value) -> str:
    return f" ({value.name})" if value.name else ""


def _slot(slot: Slot) -> str:
    scope = "for the launch" if slot.is_shared else "a block"
    return f"{slot.name}: {slot.dtype}[{', '.join(map(str, slot.shape))}] {scope}"


def _carried(item: ForItem | WhileItem) -> str:
    names = [slot.name for slot in item.carried if slot is not None]
    registers = sum(slot is None for slot in item.carried)
    parts = ([f"{registers} in registers"] if registers else []) + [f"{name} in scratch" for name in names]
    return f", carrying {', '.join(parts)}" if parts else ""


def _count(number: int | Extent, noun: str, ending: str = "s") -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}{ending}"
