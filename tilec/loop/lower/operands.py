"""What an evaluation needs: the operands of a lane, those that are certain, and those to compute before a branch.

Every question is answered in bounded time: the walks stop at what is computed already, and after `_MOST_VISITS` values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from heapq import heappop, heappush

from tilec.loop import ir
from tilec.loop.lower.code import ZERO, Code
from tilec.loop.lower.decisions import Decisions, Indices, aligned, lane_key
from tilec.loop.lower.frame import Frame
from tilec.tile import ir as tile
from tilec.tile.walk import scalar_of

Place = tuple[tile.Value, Indices]
"""A lane of a value."""

_MOST_VISITS = 256
_DEEPEST_CHOICE = 28
"""Where blocks are nested so deep, a choice computes both sides: shader compilers allow about twice as many levels."""


def viewed(view: tile.View, indices: Indices) -> Indices:
    """The operand's indices under a view at `indices`."""
    result: list[ir.Expr] = [ZERO] * view.operand.type.rank
    for axis, source in enumerate(view.axes):
        if source is not None and not view.operand.type.shape[source].is_one:
            result[source] = indices[axis]
    return tuple(result)


def held_key(load: tile.Value, indices: Indices) -> Hashable:
    """By what is remembered how to make a lane out of packed registers."""
    return ("held", lane_key(load, indices))


class Operands:
    """Says which operands an evaluation needs, in one frame; `known` gives the atom of a lane that is there already."""

    def __init__(
        self, frame: Frame, decisions: Decisions, known: Callable[[tile.Value, Indices], ir.Expr | None]
    ) -> None:
        self.frame = frame
        self.decisions = decisions
        self.known = known
        self._code: Code = frame.code
        self.depth = 0
        """How many evaluations are under way, each in a block of the one before."""
        self._answers: dict[Hashable, tuple[int, bool]] = {}
        """What `branches` answered, and at which state of the code."""

    def forget(self) -> None:
        """An evaluation begins: registers may have changed since the last."""
        self._answers = {}

    def children(self, value: tile.Value, indices: Indices) -> list[Place]:
        """Operands that an evaluation needs unconditionally, and what both sides of a branch need."""
        places = self.certain(value, indices)
        if value in self.frame.available:
            return places
        match value:
            case tile.Pointwise(op="where", operands=(condition, *sides)) if [condition] == [v for v, _ in places]:
                places += self._shared(sides[0], sides[1], indices)
            case tile.Result(producer=tile.If() as node):
                sides = (node.then.yields[value.index], node.otherwise.yields[value.index])
                places += self._shared(*sides, indices)
            case tile.Pick():
                places += self._rows(value, indices)
        return places

    def held(self, value: tile.Value, indices: Indices) -> ir.Expr | None:
        """What makes the lane of a load out of packed registers, None if none hold it."""
        return self._code.find(held_key(value, indices)) if isinstance(value, tile.Load) else None

    def certain(self, value: tile.Value, indices: Indices) -> list[Place]:
        """Operands that an evaluation needs unconditionally, with their indices."""
        if value in self.frame.available or self.held(value, indices) is not None:
            return []
        match value:
            case tile.View():
                return [(value.operand, viewed(value, indices))]
            case tile.Load():
                scalars = (*(scalar_of(index) for index in value.indices), value.fill)
                return [(scalar, ()) for scalar in scalars if scalar is not None]
            case tile.Result(producer=tile.If() as node):
                return [(node.condition, ()), *self._passing_through(node, value.index, indices)]
        return [(operand, aligned(operand, indices)) for operand in self._own_lane(value, indices)]

    def _passing_through(self, node: tile.If, number: int, indices: Indices) -> list[Place]:
        """What a branch hands on from before the `if`: computed first, so that chains of `if`s do not nest."""
        outside = [
            region.yields[number]
            for region in (node.then, node.otherwise)
            if region.yields[number] not in self.frame.inside(region)
        ]
        return [(value, aligned(value, indices)) for value in outside]

    def _own_lane(self, value: tile.Value, indices: Indices) -> tuple[tile.Value, ...]:
        """Operands at the value's own position that are needed whichever lanes are active."""
        match value:
            case tile.Pointwise(op="where") if (side := self.decisions.side(value, indices)) is not None:
                return (side,)
            case tile.Pointwise(op="where") if self.branches(value, indices):
                return value.operands[:1]
            case tile.Pointwise():
                return value.operands
            case tile.Broadcast():
                return (value.operand,)
            case tile.Pad():
                return (value.operand if value.operand.type.is_fully_active else value.fill,)
            case tile.Update():
                return (value.new if value.new.type.is_fully_active else value.old,)
            case tile.Pick():
                return (value.index,)
        return ()

    def possible(self, value: tile.Value, indices: Indices) -> list[Place]:
        """Operands that an evaluation may need, both sides of a `where` among them."""
        match value:
            case tile.Pointwise(op="where") if (
                value not in self.frame.available and self.decisions.side(value, indices) is None
            ):
                return [(operand, aligned(operand, indices)) for operand in value.operands]
        return self.certain(value, indices)

    # --- branches --------------------------------------------------------------------------------------------

    def row_condition(self, value: tile.Value, indices: Indices, swept: frozenset[int]) -> Place | None:
        """The first undecided condition by which `value` skips reads that no index in `swept` changes, with its
        indices."""
        stack, seen = [(value, indices)], set[tile.Value]()
        while stack:
            current, own = stack.pop()
            if current in seen or self.known(current, own) is not None:
                continue
            seen.add(current)
            if isinstance(current, tile.Pointwise) and self._is_undecided(current, own):
                condition = aligned(current.operands[0], own)
                if not any(isinstance(index, ir.Local) and index.number in swept for index in condition):
                    return current.operands[0], condition
            stack.extend(self.certain(current, own))
        return None

    def _is_undecided(self, value: tile.Pointwise, indices: Indices) -> bool:
        """Whether a `where` becomes a branch: no branch around has decided it."""
        return value.op == "where" and self.decisions.side(value, indices) is None and self.branches(value, indices)

    def branches(self, where: tile.Pointwise, indices: Indices) -> bool:
        """Whether a `where` skips the side not taken: its condition is one value a row and a side reads memory."""
        condition, *sides = where.operands
        shape = condition.type.shape
        is_row_value = not shape or shape[-1].is_one
        if not is_row_value or not self.may_nest:
            return False
        key = lane_key(where, indices)
        state, answer = self._answers.get(key, (-1, False))
        if state != self._code.state:
            answer = any(self._reads_anew(side, aligned(side, indices)) for side in sides)
            self._answers[key] = self._code.state, answer
        return answer

    @property
    def may_nest(self) -> bool:
        """Whether a choice between two sides still becomes a branch."""
        return max(self._code.level, self.depth) < _DEEPEST_CHOICE

    def _reads_anew(self, value: tile.Value, indices: Indices) -> bool:
        """Whether computing the lane may read memory; yes if that is not found out soon."""
        stack, seen = [(value, indices)], set[tile.Value]()
        while stack:
            current, own = stack.pop()
            if current in seen or self.known(current, own) is not None:
                continue
            seen.add(current)
            if self.held(current, own) is not None:
                continue
            if isinstance(current, tile.Load | tile.Pick | tile.Update | tile.Pad) or current in self.frame.available:
                return True
            if len(seen) > _MOST_VISITS:
                return True
            stack.extend(self.possible(current, own))
        return False

    def _shared(self, chosen: tile.Value, other: tile.Value, indices: Indices) -> list[Place]:
        """The last values that both sides certainly need: computed before the branch, so that they are written once.

        Walks down from both sides at once, later instructions first; what is met from both sides is not entered.
        """
        marks: dict[Hashable, int] = {}
        heap: list[tuple[int, int, tile.Value, Indices]] = []
        waiting = {1: 0, 2: 0, 3: 0}

        def push(value: tile.Value, own: Indices, mark: int) -> None:
            if isinstance(value, tile.Const | tile.Scalar | tile.Dim) or self.known(value, own) is not None:
                return
            key = lane_key(value, own)
            before = marks.get(key, 0)
            marks[key] = before | mark
            if before == 0:
                heappush(heap, (-value.number, len(marks), value, own))
            else:
                waiting[before] -= 1
            waiting[marks[key]] += 1

        push(chosen, aligned(chosen, indices), 1)
        push(other, aligned(other, indices), 2)
        found: list[Place] = []
        while heap and len(marks) < _MOST_VISITS and (waiting[3] or (waiting[1] and waiting[2])):
            _, _, value, own = heappop(heap)
            mark = marks[lane_key(value, own)]
            waiting[mark] -= 1
            if mark == 3:
                found.append((value, own))
                continue
            for operand, inner in self.certain(value, own):
                push(operand, inner, mark)
        return found

    def _rows(self, pick: tile.Pick, indices: Indices) -> list[Place]:
        """What opens a block of its own in a picked operand and does not depend on the picked column: computed before,
        so that picks of picks do not nest."""
        column = ir.Local("column", pick.index.type.dtype)
        stack: list[Place] = [(pick.operand, (*aligned(pick.operand, indices)[:-1], column))]
        found: list[Place] = []
        seen: set[Hashable] = set()
        while stack and len(seen) < _MOST_VISITS:
            value, own = stack.pop()
            key = lane_key(value, own)
            if key in seen or self.known(value, own) is not None:
                continue
            seen.add(key)
            if isinstance(value, tile.Pick) and all(index is not column for index in own):
                found.append((value, own))
            else:
                stack.extend(self.certain(value, own))
        return found
