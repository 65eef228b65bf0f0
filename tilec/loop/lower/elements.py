"""The elements of a sweep, a granule at a time: their numbers, their indices, whether they exist."""

from __future__ import annotations

from dataclasses import dataclass

from tilec.loop import ir
from tilec.loop.lower.arith import add, compare, const, divide, multiply, remainder, signed, subtract, unsigned
from tilec.loop.lower.code import ZERO, atom_key
from tilec.loop.lower.evaluate import Evaluator
from tilec.loop.lower.frame import Frame
from tilec.plan.ir import Mapping, Round, Rows
from tilec.types import DType, Extent


@dataclass(slots=True)
class Element:
    """One element of a sweep: the index of each role, and whether it exists (None: it does)."""

    index: dict[str, ir.Expr]
    exists: ir.Expr | None
    number: ir.Expr


class Elements:
    """Makes the elements that a lane takes."""

    def __init__(self, frame: Frame, evaluator: Evaluator, mapping: Mapping) -> None:
        self.frame = frame
        self.code = frame.code
        self.evaluator = evaluator
        self.mapping = mapping
        self.part: tuple[ir.Expr, ir.Expr] | None = None
        """Where a resident sweep begins and ends, None for all of it."""

    def whole_granules(self, rows: Rows) -> tuple[ir.Expr, ir.Expr]:
        """The first element of a row's first granule that begins on a vector, and the one behind its last."""
        key = ("whole granules", rows)
        found = self.code.find(key)
        if found is None:
            let, granule = self.code.let, self.mapping.granule
            pitch = self.evaluator.extent(rows.pitch)
            row = add(self.evaluator.extent(rows.start), self.frame.index.get("k0", ZERO))
            begins = let("begins", multiply(unsigned(row), unsigned(pitch)))
            missing = ir.Op("sub", (const(0, DType.U32), begins), DType.U32)
            head = let("head", signed(ir.Bits("and", (missing, const(granule - 1, DType.U32)), DType.U32)))
            whole = ir.Bits("and", (subtract(pitch, head), const(-granule)), DType.I32)
            self.code.remember(key, head)
            found = head
            self.code.remember((*key, "end"), let("end", add(head, whole)))
        end = self.code.find((*key, "end"))
        assert end is not None
        return found, end

    def end_lanes(self, rows: Rows) -> tuple[ir.Expr, ir.Expr]:
        """The lanes that take what a row has before its whole granules, and behind them. A row's end may share a vector
        with the next row's beginning: the same lane takes both, so that no barrier is needed between the rows."""
        if self.mapping.lanes == 1:
            return ZERO, ZERO
        row = add(self.evaluator.extent(rows.start), self.frame.index.get("k0", ZERO))
        parity = self.code.let("parity", ir.Bits("and", (row, const(1)), DType.I32))
        return parity, self.code.let("other", subtract(const(1), parity))

    def end(self, item: Round, start: ir.Expr, total: Extent) -> list[Element]:
        """The elements of a granule that begins before the sweep or ends behind it."""
        extent = unsigned(self.evaluator.extent(total))
        found: list[Element] = []
        for part in range(self.mapping.granule):
            place = self.code.let("c", add(start, const(part)))
            self._is_part(place, start, part)
            exists = self.code.let("exists", compare("lt", unsigned(place), extent))
            found.append(self._element(item, place, exists))
        return found

    def resident(self, item: Round) -> list[Element]:
        """The lane's elements of a sweep that is unrolled as a whole, made once a job."""
        extent = self.evaluator.extent(item.swept[0]) if self.part is None else self.part[1]
        lanes, granule = self.mapping.lanes, self.mapping.granule
        found: list[Element] = []
        base: ir.Expr = ZERO
        for number in range(self.mapping.resident):
            for part in range(granule):
                first = number * lanes * granule + part
                key = ("resident", item.swept, number, part)
                position = self.code.find(key)
                if position is None:
                    place = add(multiply(self.frame.lane, const(granule)), const(first))
                    position = self.code.let("c", add(self.part[0], place) if self.part is not None else place)
                    self.code.remember(key, position)
                base = position if part == 0 else base
                self._is_part(position, base, part)
                last = first + (lanes - 1) * granule
                exists = None
                if last >= self.mapping.width:
                    exists = self._exists(base if self.mapping.is_whole else position, extent)
                found.append(Element({"s0": position}, exists, position))
        return found

    def granule(self, item: Round, start: ir.Expr, offset: int, total: Extent | None) -> list[Element]:
        """The elements of a granule at `start + offset`, of which the first exists; the others if below `total`."""
        code = self.code
        base = code.let("c", add(start, const(offset)))
        found: list[Element] = []
        for part in range(self.mapping.granule):
            place = code.let("c", add(base, const(part)))
            self._is_part(place, base, part)
            exists = self._exists(place, self.evaluator.extent(total)) if part and total is not None else None
            found.append(self._element(item, place, exists))
        return found

    def _exists(self, position: ir.Expr, extent: ir.Expr) -> ir.Expr:
        key = ("exists", atom_key(position), atom_key(extent))
        found = self.code.find(key)
        if found is None:
            found = self.code.let("exists", compare("lt", position, extent))
            self.code.remember(key, found)
        return found

    def _is_part(self, place: ir.Expr, base: ir.Expr, part: int) -> None:
        if self.mapping.granule > 1 and isinstance(place, ir.Local):
            self.frame.parts[place.number] = (base, part)

    def _element(self, item: Round, number: ir.Expr, exists: ir.Expr | None) -> Element:
        """The element with this number in the order of the swept axes, the last fastest."""
        index: dict[str, ir.Expr] = {}
        rest = number
        for axis in range(len(item.swept) - 1, 0, -1):
            extent = self.evaluator.extent(item.swept[axis])
            index[f"s{axis}"] = self.code.let("index", remainder(rest, extent))
            rest = self.code.let("rest", divide(rest, extent))
        if item.swept:
            index["s0"] = rest
        return Element(index, exists, number)
