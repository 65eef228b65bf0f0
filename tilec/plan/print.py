"""A plan as text: dispatches, phases, rounds, what each sweep reads, computes and writes, and where values live."""

from __future__ import annotations

from tilec.plan.ir import Dispatch, ForItem, IfItem, Item, Phase, Plan, Round, Sink, Slot, WhileItem
from tilec.plan.walk import children
from tilec.tile import ir as tile
from tilec.tile.affine import extent_of
from tilec.types import Extent


def print_plan(kernel: tile.Kernel, plan: Plan) -> str:
    """The plan of `kernel`, readable top to bottom."""
    return _Printer(kernel, plan).text()


class _Printer:
    def __init__(self, kernel: tile.Kernel, plan: Plan) -> None:
        self.kernel = kernel
        self.plan = plan
        self.lines: list[str] = []

    def text(self) -> str:
        grid = " x ".join(str(extent) for extent in self.kernel.grid)
        dispatches = _count(len(self.plan.dispatches), "dispatch", "es")
        self._line(0, f"plan of {self.kernel.name}: {grid} blocks, {dispatches}")
        for guard in self.plan.guards:
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
        if dispatch.kind == "finish":
            self._line(0, f"dispatch {number}: combines the partial results, {dispatch.threads} threads")
            return
        if dispatch.kind == "split":
            how = f"{dispatch.parts} workgroups share the sweep"
        elif dispatch.kind == "block":
            how = "one workgroup a block"
        elif dispatch.merges_blocks:
            how = "the jobs of all blocks over workgroups"
        else:
            how = "the jobs of each block over workgroups"
        self._line(0, f"dispatch {number}: {how}, {dispatch.threads} threads each")
        self._items(dispatch.items, 1)

    def _items(self, items: list[Item], depth: int) -> None:
        for item in items:
            if getattr(item, "fence", False):
                self._line(depth, "storage barrier")
            match item:
                case Phase():
                    self._phase(item, depth)
                case Round():
                    self._round(item, depth)
                case IfItem():
                    self._line(depth, "if:")
                    self._items(item.then, depth + 1)
                    if item.otherwise:
                        self._line(depth, "else:")
                        self._items(item.otherwise, depth + 1)
                case ForItem():
                    name = item.node.index.name.partition(".")[0] or "i"
                    self._line(depth, f"for {name}, step {item.node.step}{_carried(item)}:")
                    self._items(item.body, depth + 1)
                case WhileItem():
                    self._line(depth, f"while, at most {item.node.bound} rounds{_carried(item)}:")
                    self._items(item.condition, depth + 1)
                    self._items(item.body, depth + 1)

    def _phase(self, phase: Phase, depth: int) -> None:
        mapping = phase.mapping
        jobs = " x ".join(map(str, phase.kept)) if phase.kept else "1"
        how = f"{_count(mapping.lanes, 'lane')} a job, {_count(mapping.jobs, 'job')} at once"
        if mapping.granule > 1:
            how += f", {mapping.granule} elements together"
        if mapping.resident:
            how += f", a row of {mapping.resident} granules a lane in registers"
        else:
            how += f", streamed {mapping.unroll} granules at a time"
        self._line(depth, f"{jobs} jobs a block: {how}")
        self._items(phase.items, depth + 1)

    def _round(self, item: Round, depth: int) -> None:
        if item.wide:
            self._line(depth, f"sweep over {' x '.join(map(str, item.swept)) or '1'}")
            reads = sorted({name for sink in item.wide for name in self._reads(sink)})
            if reads:
                self._line(depth + 1, f"reads {', '.join(reads)}")
            for sink in item.wide:
                self._line(depth + 1, _sink(sink))
        for sink in item.narrow:
            self._line(depth, f"once a {'block' if sink.is_once else 'job'}: {_sink(sink)}")

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
                found.add(f"{value.tensor}[{_starts(value)}]")
            elif not isinstance(value, tile.Reduce):
                stack.extend(children(value, roles))
        return found


def _starts(value: tile.Load | tile.Store) -> str:
    texts = []
    for index in value.indices:
        if isinstance(index, tile.PointIndex):
            texts.append(str(extent_of(index.index)))
        else:
            texts.append(f"{extent_of(index.start)} :+ {index.count}")
    return ", ".join(texts)


def _sink(sink: Sink) -> str:
    value = sink.value
    match sink.kind:
        case "reduce":
            return f"{sink.reduction.op} of %{sink.operand.number}{_named(value)}"
        case "pick":
            return f"pick from %{sink.operand.number} by the lane that owns the element{_named(value)}"
        case "store":
            return f"stores {sink.store.tensor}[{_starts(sink.store)}]" + (", a word a lane" if sink.granular else "")
        case "publish":
            return f"keeps %{value.number}{_named(value)} in scratch {sink.target.name}"
    return f"carries %{value.number} in scratch {sink.target.name}"


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
