"""States of sums that are relative to a reference, which moves while the sweep finds it: see `tilec.tile.moments`.

Moving the reference by e turns sum(w (x - d)^k exp(q (x - d))) into exp(q e) times a mixture of it and of the sums with
lower powers, which the state carries too. It moves once for a block of values, never for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilec.loop import ir
from tilec.loop.lower.arith import compare, const
from tilec.loop.lower.code import Code
from tilec.loop.lower.states import BestState, Evaluate, Exchange, PickState, PlainState, State, op_of, tree
from tilec.plan.groups import Group, group_states
from tilec.plan.ir import Round
from tilec.tile import ir as tile
from tilec.tile.make import reduced_type
from tilec.tile.moments import Term
from tilec.types import DType

_LOWEST = -3.4028234663852886e38
_VANISHES = -104.0
"""Its exponential is 0 in f32, as that of everything below, which hardware need not know of -inf."""
_INFINITY_BITS, _MAGNITUDE_BITS = 0x7F800000, 0x7FFFFFFF
_F32 = DType.F32
_ZERO, _ONE = ir.Const(_F32, 0.0), ir.Const(_F32, 1.0)
_NAN = ir.Const(_F32, float("nan"))
_PLAIN = Term(exponent=1)


def _f32(op: str, *operands: ir.Expr) -> ir.Expr:
    return ir.Op(op, operands, _F32)


def _product(code: Code, factors: Sequence[ir.Expr]) -> ir.Expr:
    result = factors[0] if factors else _ONE
    for factor in factors[1:]:
        result = _f32("mul", result, factor)
    return code.let("term", result)


def _mixed(sums: Mapping[Term, ir.Expr], term: Term, count: ir.Expr | None, move: ir.Expr) -> ir.Expr:
    """The sum of `term` after the reference moved by -`move`, but for the exponential. `count`: that of no factor."""

    def lower(power: int) -> ir.Expr:
        found = sums.get(term.with_power(power), count)
        assert found is not None
        return found

    match term.power:
        case 0:
            return sums[term]
        case 1:
            return _f32("add", sums[term], _f32("mul", move, lower(0)))
    twice = _f32("mul", ir.Const(_F32, 2.0), lower(1))
    mixed = _f32("add", sums[term], _f32("mul", move, _f32("add", twice, _f32("mul", move, lower(0)))))
    # Infinite sums of lower powers must not make NaN where the reference stays, or where this sum is infinite itself.
    stays = compare("eq", move, _ZERO)
    is_infinite = compare("gt", _f32("abs", sums[term]), ir.Const(_F32, -_LOWEST))
    return ir.Select(op_of("or", DType.BOOL, stays, is_infinite), sums[term], mixed)


# --- relative to a maximum -----------------------------------------------------------------------------------


class ShiftedState(State):
    """A maximum and sums over it: what `rest`, the `max` of the same values, and moments are made of.

    The maximum starts at the lowest finite number, so that no shift is ever infinite minus infinite. Hardware maxima
    drop a NaN, so the largest magnitude as an integer is kept too: beyond infinity's are the NaNs'. A NaN decides the
    results in the end, and +inf makes the sums irrelevant: exponentials need no guard but the one against -inf. Where
    the built-in `exp` is trusted with NaN and -inf, not even that: a NaN in the sum tells of one in the values.
    """

    def __init__(self, group: Group, trusts_exp: bool) -> None:
        super().__init__(group.reductions, group.inputs)
        self.trusts_exp = trusts_exp
        self.terms = group.terms
        self.neutral = ir.Const(_F32, float("-inf")) if group.terms == (_PLAIN,) else None
        self.moments = {moment.reduction: moment.term for moment in group.moments}
        operand, axes = group.reductions[0].operand, group.reductions[0].axes
        shape = reduced_type(operand.type, axes, keeps_axes=True).with_dtype(DType.I32)
        self.count = tile.ActiveCount(shape, group.reductions[0].span, operand, axes)
        self.is_far = any(term.power and not term.exponent for term in group.terms)

    def declare(self, code: Code, levels: int) -> None:
        self.peak = code.declare("peak", ir.Const(_F32, _LOWEST))
        self.levels: list[dict[Term, ir.Local]] = [{} for _ in range(levels + 1)]
        for term in self.terms:
            hint = "exp_sum" if term == _PLAIN else "moment"
            for level in range(levels + 1):
                self.levels[level][term] = code.declare(hint if not level else f"{hint}_{16**level}", _ZERO)
        if not self.trusts_exp:
            self.magnitude = code.declare("magnitude", ir.Const(DType.U32, 0))

    @staticmethod
    def _shift(code: Code, peak: ir.Expr) -> ir.Expr:
        """What is subtracted: the maximum, or 0 where that is +inf."""
        is_huge = compare("gt_fast", peak, ir.Const(_F32, -_LOWEST))
        return code.let("shift", ir.Select(is_huge, _ZERO, peak))

    def _exponential(self, below: ir.Expr) -> ir.Expr:
        return _f32("exp_fast", below if self.trusts_exp else _f32("max_fast", below, ir.Const(_F32, _VANISHES)))

    def _moves(self, code: Code, peak: ir.Expr, reference: ir.Expr) -> tuple[ir.Expr, ir.Expr, ir.Expr]:
        """How far below the new reference the old one is, no further than exponentials and then numbers go; and its
        exponential."""
        below = _f32("sub", peak, reference)
        near = far = below
        if any(term.power for term in self.terms):
            below = code.let("move", below)
            near = code.let("near", _f32("max_fast", below, ir.Const(_F32, _VANISHES)))
            far = code.let("far", _f32("max_fast", below, ir.Const(_F32, _LOWEST))) if self.is_far else near
        return near, far, code.let("scale", self._exponential(below))

    @staticmethod
    def _moved(sums: Mapping[Term, ir.Expr], term: Term, moves: tuple[ir.Expr, ir.Expr, ir.Expr]) -> ir.Expr:
        near, far, scale = moves
        mixed = _mixed(sums, term, None, near if term.exponent else far)
        for _ in range(term.exponent):
            mixed = _f32("mul", mixed, scale)
        return mixed

    def update(self, code: Code, values: list[list[ir.Expr]], positions: list[ir.Expr]) -> None:
        x = values[0]
        weights = dict(zip(self.inputs, values, strict=True))
        peak = code.let("new_peak", tree(code, "max_fast", x))
        with code.when(compare("gt_fast", peak, self.peak)):
            # Over the maximum itself: what has been summed is nothing beside +inf, and 0 times inf would be NaN.
            moves = self._moves(code, self.peak, peak)
            for sums in self.levels:
                for term in self.terms:  # the highest power of a kind first
                    code.assign(sums[term], self._moved(sums, term, moves))
            code.assign(self.peak, peak)
        shift = self._shift(code, self.peak)
        below = [_f32("sub", value, shift) for value in x]
        if any(term.power or term.masks for term in self.terms):
            below = [code.let("below", each) for each in below]
        exponentials = [code.let("term", self._exponential(each)) for each in below]
        for term in self.terms:
            addends: list[ir.Expr] = []
            for number, (difference, exponential) in enumerate(zip(below, exponentials, strict=True)):
                factors = [difference] * term.power + [exponential] * term.exponent
                factors = ([] if term.weight is None else [weights[term.weight][number]]) + factors
                value = _product(code, factors)
                if term.masks:
                    value = ir.Select(compare("lt", difference, ir.Const(_F32, _LOWEST)), _ZERO, value)
                addends.append(value)
            total = self.levels[0][term]
            code.assign(total, _f32("add", total, tree(code, "add", addends)))
        if self.trusts_exp:
            return
        magnitudes = [_magnitude(value) for value in x]
        code.assign(self.magnitude, op_of("max_fast", DType.U32, self.magnitude, tree(code, "max_fast", magnitudes)))

    def settle(self, code: Code, level: int) -> None:
        for term in self.terms:
            low, high = self.levels[level][term], self.levels[level + 1][term]
            code.assign(high, _f32("add", high, low))
            code.assign(low, _ZERO)

    def components(self, code: Code) -> list[ir.Expr]:
        sums = [tree(code, "add", [sums[term] for sums in self.levels]) for term in self.terms]
        return [self.peak, *sums, *([] if self.trusts_exp else [_is_nan(code, self.magnitude)])]

    def _split(self, components: Sequence[ir.Expr]) -> tuple[ir.Expr, dict[Term, ir.Expr], list[ir.Expr]]:
        """The maximum, the sums, and whether there is a NaN if that is carried."""
        count = len(self.terms)
        sums = dict(zip(self.terms, components[1 : count + 1], strict=True))
        return components[0], sums, list(components[count + 1 :])

    def _all_moved(self, code: Code, part: Sequence[ir.Expr], peak: ir.Expr) -> list[ir.Expr]:
        """A part's sums over the maximum of all parts."""
        own, sums, _ = self._split(part)
        if self.terms == (_PLAIN,):
            scale = self._exponential(_f32("sub", own, peak))
            return [code.let("term", _f32("mul", sums[_PLAIN], scale))]
        moves = self._moves(code, own, peak)
        return [code.let("term", self._moved(sums, term, moves)) for term in self.terms]

    def fold(self, code: Code, parts: list[list[ir.Expr]]) -> list[ir.Expr]:
        peak = tree(code, "max_fast", [part[0] for part in parts])
        shift = self._shift(code, peak)
        moved = [self._all_moved(code, part, shift) for part in parts]
        totals = [tree(code, "add", several) for several in zip(*moved, strict=True)]
        flags = zip(*(self._split(part)[2] for part in parts), strict=True)
        return [peak, *totals, *(tree(code, "or", several) for several in flags)]

    def across(self, code: Code, parts: list[ir.Expr], exchange: Exchange) -> list[ir.Expr]:
        """The maximum first: then each lane rescales once, and plain sums are the same bits in every lane."""
        own, _, flags = self._split(parts)
        peak = code.let("peak", exchange.highest(own))
        moved = self._all_moved(code, parts, self._shift(code, peak))
        return [
            peak, *(exchange.reduce("add", each) for each in moved), *(exchange.reduce("or", each) for each in flags)
        ]  # fmt: skip

    def results(self, code: Code, components: list[ir.Expr], evaluate: Evaluate) -> list[tuple[tile.Value, ir.Expr]]:
        peak, sums, flags = self._split(components)
        total = sums[_PLAIN]
        has_nan = flags[0] if flags else _is_nan(code, _magnitude(total))
        boolean = DType.BOOL
        is_empty = code.let("is_empty", compare("eq", total, _ZERO))
        is_huge = code.let("is_huge", compare("gt", peak, ir.Const(_F32, -_LOWEST)))
        found: list[tuple[tile.Value, ir.Expr]] = []
        for reduction in self.reductions:
            is_nan: ir.Expr = has_nan
            if reduction in self.moments:
                # A maximum of -inf, of lanes that are all -inf, leaves NaN too; of no lanes it leaves 0.
                is_low = op_of("and", boolean, is_empty, compare("gt", evaluate(self.count), const(0)))
                is_nan = op_of("or", boolean, op_of("or", boolean, has_nan, is_huge), is_low)
                value = sums[self.moments[reduction]]
            elif reduction.op == "max":
                value = ir.Select(is_empty, ir.Const(_F32, float("-inf")), peak)
            else:
                is_infinite = op_of("or", boolean, is_empty, is_huge)
                value = _f32("log", code.let("safe", ir.Select(is_infinite, _ONE, total)))
            found.append((reduction, code.let(reduction.name or reduction.op, ir.Select(is_nan, _NAN, value))))
        return found


def _is_nan(code: Code, magnitude: ir.Expr) -> ir.Expr:
    return code.let("has_nan", compare("gt", magnitude, const(_INFINITY_BITS, DType.U32)))


def _magnitude(value: ir.Expr) -> ir.Expr:
    """The bits of the float without its sign: an integer that grows with the magnitude, NaNs' beyond infinity's."""
    bits = ir.Bits("bitcast", (value,), DType.U32)
    return ir.Bits("and", (bits, const(_MAGNITUDE_BITS, DType.U32)), DType.U32)


# --- relative to a mean --------------------------------------------------------------------------------------


class MeanState(State):
    """Sums of powers of the distance from a mean, by the update of Chan, Golub and LeVeque.

    The reference follows the running mean, so that no small difference of large sums is ever taken; it need not be the
    mean exactly, since the sum of first powers is carried and not taken for 0. In the end the reference moves to the
    mean as the program computes it.
    """

    def __init__(self, group: Group) -> None:
        super().__init__(group.reductions, group.inputs)
        assert group.reference is not None
        self.center = group.reference.center
        self.terms = group.terms
        self.moments = {moment.reduction: moment.term for moment in group.moments}

    def declare(self, code: Code, levels: int) -> None:
        self.levels: list[list[ir.Local]] = []
        for level in range(levels + 1):
            hints = ["count", "reference", *("moment" for _ in self.terms)]
            self.levels.append([code.declare(hint if not level else f"{hint}_{16**level}", _ZERO) for hint in hints])

    def update(self, code: Code, values: list[list[ir.Expr]], positions: list[ir.Expr]) -> None:
        x = values[0]
        weights = dict(zip(self.inputs, values, strict=True))
        size = len(x)
        count, reference, *totals = self.levels[0]
        # Scaled before they are added, since a mean of finite values is finite; so is what lies between two means.
        parts = x if size == 1 else [_f32("mul", value, ir.Const(_F32, 1.0 / size)) for value in x]
        mean = tree(code, "add", parts)
        joined = code.let("joined", _f32("add", count, ir.Const(_F32, float(size))))
        share = code.let("share", _f32("div_f32", ir.Const(_F32, float(size)), joined))
        rest = _f32("mul", reference, _f32("sub", _ONE, share))
        moved = code.let("reference", _f32("add", rest, _f32("mul", mean, share)))
        # At first the sums of nothing move, and stay 0: a reference that is not finite makes NaN of every result.
        move = code.let("move", _f32("sub", reference, moved))
        sums = dict(zip(self.terms, totals, strict=True))
        below = [code.let("below", _f32("sub", value, moved)) for value in x]
        for term, total in sums.items():  # the highest power of a weight first
            addends: list[ir.Expr] = []
            for number, difference in enumerate(below):
                factors = ([] if term.weight is None else [weights[term.weight][number]]) + [difference] * term.power
                addends.append(_product(code, factors))
            code.assign(total, _f32("add", _mixed(sums, term, count, move), tree(code, "add", addends)))
        code.assign(count, joined)
        code.assign(reference, moved)

    def settle(self, code: Code, level: int) -> None:
        low, high = self.levels[level], self.levels[level + 1]
        for local, value in zip(high, self.fold(code, [list(high), list(low)]), strict=True):
            code.assign(local, value)
        for local in low:
            code.assign(local, _ZERO)

    def components(self, code: Code) -> list[ir.Expr]:
        return self.fold(code, [list(level) for level in self.levels]) if len(self.levels) > 1 else [*self.levels[0]]

    def fold(self, code: Code, parts: list[list[ir.Expr]]) -> list[ir.Expr]:
        count = tree(code, "add", [part[0] for part in parts])
        share = self._share(code, count)
        reference = tree(code, "add", [_f32("mul", part[1], _f32("mul", part[0], share)) for part in parts])
        moved = [self._all_moved(code, part, reference) for part in parts]
        return [count, reference, *(tree(code, "add", several) for several in zip(*moved, strict=True))]

    def across(self, code: Code, parts: list[ir.Expr], exchange: Exchange) -> list[ir.Expr]:
        """The common reference first: then plain sums are the same bits in every lane."""
        count = exchange.reduce("add", parts[0])
        own = _f32("mul", parts[1], _f32("mul", parts[0], self._share(code, count)))
        reference = exchange.reduce("add", code.let("part", own))
        return [count, reference, *(exchange.reduce("add", each) for each in self._all_moved(code, parts, reference))]

    @staticmethod
    def _share(code: Code, count: ir.Expr) -> ir.Expr:
        return code.let("share", _f32("div_f32", _ONE, _f32("max_fast", count, _ONE)))

    def _all_moved(self, code: Code, part: Sequence[ir.Expr], reference: ir.Expr) -> list[ir.Expr]:
        """A part's sums relative to the reference of all parts."""
        move = code.let("move", _f32("sub", part[1], reference))
        sums = dict(zip(self.terms, part[2:], strict=True))
        return [code.let("term", _mixed(sums, term, part[0], move)) for term in self.terms]

    def results(self, code: Code, components: list[ir.Expr], evaluate: Evaluate) -> list[tuple[tile.Value, ir.Expr]]:
        count, reference, *totals = components
        sums = dict(zip(self.terms, totals, strict=True))
        center = evaluate(self.center)
        boolean = DType.BOOL
        is_empty = code.let("is_empty", compare("eq", count, _ZERO))
        is_finite = code.let("is_finite", op_of("isfinite", boolean, center))
        move = code.let("move", ir.Select(is_finite, _f32("sub", reference, center), _ZERO))
        # The mean of values that are all finite may be infinite; what is squared is then.
        are_finite = op_of("isfinite", boolean, reference)
        overflows = code.let(
            "overflows", op_of("and", boolean, are_finite, op_of("not", boolean, op_of("isnan", boolean, center)))
        )
        found: list[tuple[tile.Value, ir.Expr]] = []
        for reduction in self.reductions:
            term = self.moments[reduction]
            value = code.let("moment", _mixed(sums, term, count, move))
            if term == Term(power=2):
                is_lost = op_of("or", boolean, op_of("not", boolean, is_finite), op_of("isnan", boolean, value))
                special: ir.Expr = ir.Select(overflows, ir.Const(_F32, float("inf")), _NAN)
                value = ir.Select(is_lost, special, value)
            else:
                value = ir.Select(is_finite, value, _NAN)
            found.append((reduction, code.let(reduction.name or reduction.op, ir.Select(is_empty, _ZERO, value))))
        return found


def make_states(item: Round, trusts_exp: bool) -> list[State]:
    """The states of all reductions of a round, in the order of `group_states`, and of its picks."""
    states: list[State] = []
    for group in group_states(item.reductions):
        match group.kind:
            case "shifted":
                states.append(ShiftedState(group, trusts_exp))
            case "mean":
                states.append(MeanState(group))
            case "best":
                states.append(BestState(group.reductions[0]))
            case _:
                states.append(PlainState(group.reductions[0]))
    return states + [PickState(sink.pick) for sink in item.picks]
