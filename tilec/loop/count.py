"""What only the lowered code says of a dispatch's cost: barriers and workgroup memory."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.loop import ir
from tilec.plan.cost import Lowered


def count_lowered(program: ir.Program) -> tuple[Lowered, ...]:
    """One entry a dispatch."""
    return tuple(_count(dispatch) for dispatch in program.dispatches)


def _count(dispatch: ir.Dispatch) -> Lowered:
    barriers, looped = _barriers(dispatch.body)
    return Lowered(barriers, looped, sum(4 * array.length for array in dispatch.shared))


def _barriers(statements: Sequence[ir.Statement]) -> tuple[int, int]:
    """Barriers met once, and those that stand in loops. Of two branches the one with more counts."""
    once = looped = 0
    for statement in statements:
        match statement:
            case ir.Barrier():
                once += 1
            case ir.Let(value=ir.UniformLoad()):  # it has a barrier on either side
                once += 2
            case ir.If():
                found = [_barriers(statement.then), _barriers(statement.otherwise)]
                once += max(one for one, _ in found)
                looped += max(many for _, many in found)
            case ir.Loop():
                looped += sum(_barriers(statement.body))
            case ir.While():
                looped += sum(_barriers((*statement.prelude, *statement.body)))
    return once, looped
