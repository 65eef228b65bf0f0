"""Loops that only add to sums: their derivative is a loop over the same rounds, of any number.

`acc += f(chunk, w)` has one adjoint of `acc` for all rounds. Each round of the derivative computes `f` again, sends
that adjoint through it, and adds to the adjoints of what the loop uses from outside.
"""

from __future__ import annotations

from dataclasses import replace

from tilec.tile import ir
from tilec.tile.gradient.copy import Copier
from tilec.tile.gradient.depend import Dependence
from tilec.tile.gradient.emit import emit
from tilec.tile.gradient.ledger import Ledger
from tilec.tile.gradient.paths import order_between, sources
from tilec.tile.gradient.polynomial import Sum, Term
from tilec.tile.gradient.reverse import Reverse
from tilec.tile.gradient.sums import note_known, restrict
from tilec.tile.walk import operands_of, walk

# --- which loops ---------------------------------------------------------------------------------------------


def is_accumulation(control: ir.Value, dependence: Dependence, stored: frozenset[str]) -> bool:
    """Whether the loop's rounds add to what it carries, as far as that depends on `x`, and do nothing else with it.

    `stored`: the tensors that may be stored to before the derivative reads again what the rounds read.
    """
    if not isinstance(control, ir.For) or control.until is not None:
        return False
    sums = [index for index, argument in enumerate(control.carried) if argument in dependence]
    values = [control.body.yields[index] for index in sums]
    needed = _slice(control, values)
    if any(isinstance(value, ir.Load) and value.tensor in stored for value in needed):
        return False
    if any(isinstance(value, ir.Result | ir.Gradient) for value in needed):
        return False
    arguments = {control.carried[index].number for index in sums}
    reached = _reached(control, arguments)
    return all(_adds(control.carried[index], control.body.yields[index], reached) for index in sums)


def _reached(loop: ir.For, arguments: set[int]) -> set[int]:
    """The values of the body that are computed from the arguments in any way."""
    reached = set(arguments)
    for value in walk(loop.body):
        if any(operand.number in reached for operand in operands_of(value)):
            reached.add(value.number)
    return reached


def _adds(argument: ir.Value, value: ir.Value, reached: set[int]) -> bool:
    """Whether the value is the argument, plus and minus what is not computed from any sum."""
    if value is argument:
        return True
    match value:
        case ir.Pointwise(op="add", operands=(left, right)):
            if right.number not in reached:
                return _keeps_shape(value, left) and _adds(argument, left, reached)
            return left.number not in reached and _keeps_shape(value, right) and _adds(argument, right, reached)
        case ir.Pointwise(op="sub", operands=(left, right)):
            return right.number not in reached and _keeps_shape(value, left) and _adds(argument, left, reached)
        case ir.Pointwise(op="where", operands=(condition, left, right)):
            sides = (_keeps_shape(value, side) and _adds(argument, side, reached) for side in (left, right))
            return condition.number not in reached and all(sides)
        case ir.Update(old=old, new=ir.Pointwise(op="add" | "sub", operands=(left, right))) if left is old:
            return right.number not in reached and _adds(argument, old, reached)
        case ir.Update(old=old, new=ir.Pointwise(op="add", operands=(left, right))) if right is old:
            return left.number not in reached and _adds(argument, old, reached)
    return False


def _keeps_shape(value: ir.Value, operand: ir.Value) -> bool:
    return value.type == operand.type


def _slice(loop: ir.For, values: list[ir.Value]) -> list[ir.Value]:
    """The body's instructions that the values need, in order; arguments are followed to what the body yields."""
    inside = {value.number for value in walk(loop.body)}
    places = {argument.number: index for index, argument in enumerate(loop.carried)}
    seen: set[int] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value.number in seen:
            continue
        seen.add(value.number)
        if value.number in places:
            pending.append(loop.body.yields[places[value.number]])
        elif value.number in inside:
            pending += operands_of(value)
    return [value for value in loop.body.body if value.number in seen]


# --- the derivative ------------------------------------------------------------------------------------------


def send_through_loop(reverse: Reverse, loop: ir.For, adjoints: dict[int, Sum]) -> None:
    """Sends the adjoints of the loop's results, by their numbers, to what the loop starts with and uses."""
    ledger = reverse.ledger
    for index, terms in adjoints.items():
        reverse.give(loop.initial[index], terms)
    uses = [value for value in sources(loop) if reverse.wants(value) and _is_used(loop, value)]
    if not uses:
        return
    builder = _LoopBuilder(ledger, loop, {index: emit(ledger, terms) for index, terms in adjoints.items()}, uses)
    for value, result in zip(uses, builder.results(), strict=True):
        reverse.give(value, (Term(powers=((ledger.class_of(result), 1),)),))


def _is_used(loop: ir.For, value: ir.Value) -> bool:
    return any(operand is value for inner in walk(loop.body) for operand in operands_of(inner))


class _LoopBuilder:
    """Makes the loop that computes the adjoints of `uses`."""

    def __init__(self, ledger: Ledger, loop: ir.For, seeds: dict[int, ir.Value], uses: list[ir.Value]) -> None:
        self.ledger, self.loop, self.seeds, self.uses = ledger, loop, seeds, uses

    def results(self) -> list[ir.Value]:
        loop = self.loop
        ends = [loop.body.yields[index] for index in self.seeds]
        needed = _slice(loop, ends)
        numbers = {value.number for value in needed}
        state = [
            index
            for index, argument in enumerate(loop.carried)
            if index not in self.seeds and any(argument in operands_of(value) for value in needed)
        ]
        copier = Copier()
        counter = replace(loop.index)
        counter.name = f"{loop.index.name.split('.')[0]}.{counter.number}"
        copier.replace(loop.index, counter)
        arguments = {index: replace(loop.carried[index]) for index in state}
        for index in self.seeds:  # what the sums hold does not matter, only which lanes they have: no way back to that
            start = loop.initial[index]
            copier.replace(loop.carried[index], self.ledger.add(ir.Stop(start.type, self.ledger.span, start)))
        for index, argument in arguments.items():
            copier.replace(loop.carried[index], argument)
        body = [value for value in loop.body.body if value.number in numbers]
        yields = (*ends, *(loop.body.yields[index] for index in state))
        copy = copier.copied(ir.Region(body, yields))
        sums, contributions = self._round(copy)
        carried = (*arguments.values(), *sums)
        initial = (*(loop.initial[index] for index in state), *(self._zero(value) for value in self.uses))
        region = ir.Region(copy.body, (*copy.yields[len(ends) :], *contributions))
        new = ir.For(
            loop.type, self.ledger.span, counter, loop.start, loop.stop, loop.step, carried, initial, region, None
        )
        new = self.ledger.add(new)
        return [
            self.ledger.add(ir.Result(value.type, self.ledger.span, new, len(state) + place))
            for place, value in enumerate(self.uses)
        ]

    def _zero(self, value: ir.Value) -> ir.Value:
        return restrict(self.ledger, self.ledger.constant(0.0), value)

    def _round(self, copy: ir.Region) -> tuple[list[ir.Argument], list[ir.Value]]:
        """Appends to the copied body what adds one round to the adjoints; gives the sums and their new values."""
        inner = self.ledger.nested()
        for value in copy.body:
            inner.note(value)
            note_known(inner, value)
        ends = copy.yields[: len(self.seeds)]
        reverse = Reverse(inner, order_between(ends, self.uses), self.uses)
        for end, seed in zip(ends, self.seeds.values(), strict=True):
            inner.note(seed)
            reverse.give(end, (Term(powers=((inner.class_of(seed), 1),)),))
        sums, added = [], []
        for value, terms in zip(self.uses, reverse.run(), strict=True):
            argument = ir.Argument(value.type, self.ledger.span, name=value.name)
            total = inner.make("add", argument, restrict(inner, emit(inner, terms), value))
            inner.place(total, copy.body.append)
            sums.append(argument)
            added.append(total)
        return sums, added
