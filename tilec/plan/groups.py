"""Which reductions of a round share a state, and what the state consists of."""

from __future__ import annotations

from dataclasses import dataclass

from tilec.ops.reduce import REDUCTIONS
from tilec.plan.ir import Round
from tilec.tile import ir as tile
from tilec.tile.moments import Moment, Reference, Term, moment_of
from tilec.types import DType


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """`kind`: "plain" and "best" (one reduction), "shifted" (the maximum of some values, their `rest`, and moments
    relative to the maximum) or "mean" (moments relative to a mean). `terms` are the sums that the last two carry."""

    kind: str
    reductions: list[tile.Reduce]
    terms: tuple[Term, ...] = ()
    reference: Reference | None = None

    @property
    def inputs(self) -> list[tile.Value]:
        """What a sweep evaluates at each element for the state: what the moments are of, then their weights; or the
        operand."""
        first = self.reference.x if self.reference is not None else self.reductions[0].operand
        return list(dict.fromkeys([first, *(term.weight for term in self.terms if term.weight is not None)]))

    @property
    def moments(self) -> list[Moment]:
        return [moment for each in self.reductions if (moment := moment_of(each)) is not None]


def group_states(reductions: list[tile.Reduce]) -> list[Group]:
    """The reductions of a round, each in one group."""
    known = set(reductions)

    def shares_maximum(one: tile.Reduce, other: tile.Reduce) -> bool:
        return one.op in ("rest", "max") and one.operand is other.operand and one.axes == other.axes

    moments = [m for each in reductions if (m := moment_of(each)) is not None and m.reference.reduction in known]
    groups: list[Group] = []
    taken: set[tile.Value] = set()
    for first in [*(r for r in reductions if r.op == "rest"), *(m.reference.reduction for m in moments)]:
        if first in taken or first.op not in ("rest", "max"):
            continue
        same = [each for each in reductions if shares_maximum(each, first)]
        own = [moment for moment in moments if moment.reference.reduction in same]
        terms = _in_order([Term(exponent=1), *(term for moment in own for term in _closed(moment.term))])
        groups.append(Group("shifted", [*same, *(moment.reduction for moment in own)], terms))
        taken.update(groups[-1].reductions)
    for moment in moments:
        reference = moment.reference
        if moment.reduction in taken or reference.kind != "mean":
            continue
        own = [each for each in moments if each.reference == reference]
        terms = _in_order([term for each in own for term in _closed(each.term) if term != Term()])
        groups.append(Group("mean", [each.reduction for each in own], terms, reference))
        taken.update(groups[-1].reductions)
    return groups + [Group(_kind(each), [each]) for each in reductions if each not in taken]


def _closed(term: Term) -> list[Term]:
    """The term and those that moving its reference mixes into it."""
    return [term.with_power(power) for power in range(term.power, -1, -1)]


def _in_order(terms: list[Term]) -> tuple[Term, ...]:
    """Each once, high powers first: what is mixed into a sum is still the old one when sums move in this order."""
    return tuple(sorted(dict.fromkeys(terms), key=lambda term: -term.power))


def _kind(reduction: tile.Reduce) -> str:
    return "best" if REDUCTIONS[reduction.op].state == "best" else "plain"


def component_dtypes(item: Round, trusts_exp: bool) -> list[DType]:
    """The dtypes of the components of all states of a round: its reductions' in the order of `group_states`, then its
    picks'. An exponential that is trusted with NaN tells by itself of one."""
    dtypes: list[DType] = []
    for group in group_states(item.reductions):
        match group.kind:
            case "shifted":
                dtypes += [DType.F32, *(DType.F32 for _ in group.terms), *([] if trusts_exp else [DType.BOOL])]
            case "mean":
                dtypes += [DType.F32, DType.F32, *(DType.F32 for _ in group.terms)]
            case "best":
                dtypes += [group.reductions[0].operand.type.dtype, DType.I32]
            case _:
                dtypes.append(group.reductions[0].type.dtype)
    return dtypes + [sink.pick.type.dtype for sink in item.picks]
