"""Rows whose results nothing needs: the plan's conditions, evaluated at the job at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from tilec.loop import ir
from tilec.loop.lower.arith import both
from tilec.loop.lower.decisions import Indices
from tilec.loop.lower.evaluate import Evaluator
from tilec.loop.lower.frame import Frame
from tilec.loop.lower.masks import Condition
from tilec.plan.ir import Roles, Sink
from tilec.plan.schedule import result_roles
from tilec.tile import ir as tile
from tilec.tile.needed import Need
from tilec.types import DType

Needed: TypeAlias = "tuple[tile.Value, Indices, bool]"
"""A condition at given indices, and whether it must be true or false."""


class NeededRows:
    """Writes the tests whether the job's row is needed."""

    def __init__(self, frame: Frame, evaluator: Evaluator) -> None:
        self.frame = frame
        self.code = frame.code
        self.evaluator = evaluator

    def needs_of(self, sink: Sink, common: set[Condition]) -> list[Needed]:
        """Where the result of a reduction or pick is needed."""
        return self.at_roles(sink.needs, result_roles(sink), common) if sink.needs else []

    def at_roles(self, needs: tuple[Need, ...], roles: Roles, common: set[Condition]) -> list[Needed]:
        """The conditions at the job's position: those that are active wherever `common` holds, still undecided."""
        found: list[Needed] = []
        for need in needs:
            own = tuple("." if axis is None else roles[axis] for axis in need.axes)
            bounds = {
                (bound, "." if bound.stretched else own[axis])
                for axis, several in enumerate(need.condition.type.active)
                for bound in several
            }
            if any(role.startswith("s") for role in own) or not bounds <= common:
                continue
            indices = tuple(self.frame.index[role] for role in own)
            if self.evaluator.decisions.of(need.condition, indices) is None:
                found.append((need.condition, indices, need.is_true))
        return found

    def all_hold(self, needs: Sequence[Needed]) -> ir.Expr | None:
        """One test for all of the conditions; None of none."""
        return both([self._holds(need) for need in needs])

    def _holds(self, need: Needed) -> ir.Expr:
        condition, indices, is_true = need
        test = self.evaluator.at(condition, indices)
        return test if is_true else self.code.let("is_not", ir.Op("not", (test,), DType.BOOL))

    @contextmanager
    def where_needed(self, needs: Sequence[Needed]) -> Iterator[None]:
        """A block of code for where all of the conditions hold."""
        with self.code.when(self.all_hold(needs)), self.evaluator.decisions.assuming(needs):
            yield
