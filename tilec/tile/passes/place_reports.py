"""Gives every report what its order among the others is known by."""

from __future__ import annotations

from dataclasses import replace

from tilec.tile import ir
from tilec.tile.make import make_constant, make_pointwise
from tilec.tile.reports import ROUND, reports_in
from tilec.tile.rewrite import DROPPED, Dropped, Rewriter, rewrite
from tilec.types import SCALAR_I32, DType


def place_reports(kernel: ir.Kernel) -> ir.Kernel:
    """Needs: nothing. Gives: reports with their `path`, and with the numbers of the rounds of the loops around them; a
    `while` around one counts its rounds. Keeps: meaning, exactly."""
    if next(reports_in(kernel.body), None) is None:
        return kernel
    kernel = rewrite(kernel, _count_rounds)
    places: dict[int, tuple[tuple[int, ...], tuple[ir.Value, ...]]] = {}
    _find(kernel.body, (), (), places)

    def rule(rewriter: Rewriter, value: ir.Value) -> Dropped | None:
        if not isinstance(value, ir.Report):
            return None
        path, rounds = places[rewriter.original.number]
        rewriter.append(replace(value, path=path, rounds=rounds))
        return DROPPED

    return rewrite(kernel, rule)


def _find(
    region: ir.Region,
    path: tuple[int, ...],
    rounds: tuple[ir.Value, ...],
    places: dict[int, tuple[tuple[int, ...], tuple[ir.Value, ...]]],
) -> None:
    for position, value in enumerate(region.body):
        here = (*path, position)
        match value:
            case ir.Report():
                places[value.number] = here, rounds
            case ir.If(then=then, otherwise=otherwise):
                _find(then, (*here, 0), rounds, places)
                _find(otherwise, (*here, 1), rounds, places)
            case ir.For(index=index, body=body):
                _find(body, (*here, ROUND), (*rounds, index), places)
            case ir.While(condition=condition, body=body, carried=carried):
                # Only a loop with reports inside has a counter, as the last of what it carries.
                own = (*rounds, *carried[-1:])
                _find(condition, (*here, ROUND, 0), own, places)
                _find(body, (*here, ROUND, 1), own, places)


def _count_rounds(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    match value:
        case ir.While(condition=condition, body=body):
            if any(next(reports_in(region), None) is not None for region in (condition, body)):
                return count_rounds(rewriter, value)
    return None


def count_rounds(rewriter: Rewriter, loop: ir.While) -> ir.While:
    """The loop, appended, with the number of its rounds as the last value that it carries."""
    counter = ir.Argument(SCALAR_I32, loop.span, name="round")
    one = make_constant(1, DType.I32, loop.span)
    after = make_pointwise("add", (counter, one), loop.span)
    counted = ir.Region([*loop.body.body, one, after], (*loop.body.yields, after))
    zero = rewriter.append(make_constant(0, DType.I32, loop.span))
    carried, initial = (*loop.carried, counter), (*loop.initial, zero)
    new = replace(loop, carried=carried, initial=initial, body=counted)
    rewriter.append(new)
    return new
