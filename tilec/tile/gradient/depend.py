"""What depends on a value, through branches and loops too."""

from __future__ import annotations

from tilec.tile import ir
from tilec.tile.gradient.paths import differentiable_operands
from tilec.tile.walk import operands_of, regions_of


class Dependence:
    """The values of a body that a derivative reaches from `x`."""

    def __init__(self, body: ir.Region, x: ir.Value, *, through_all: bool = False) -> None:
        """`through_all`: also what depends on `x` by integers, conditions and stopped values."""
        self._operands = operands_of if through_all else _operands
        self.reached: set[int] = {x.number}
        self._region(body)

    def __contains__(self, value: ir.Value) -> bool:
        return value.number in self.reached

    def _region(self, region: ir.Region) -> None:
        for value in region.body:
            match value:
                case ir.If():
                    self._region(value.then)
                    self._region(value.otherwise)
                case ir.For() | ir.While():
                    self._loop(value)
                case ir.Result(producer=producer, index=index):
                    if any(output in self for output in _outputs(producer, index)):
                        self.reached.add(value.number)
                case _:
                    if any(operand in self for operand in self._operands(value)):
                        self.reached.add(value.number)

    def _loop(self, loop: ir.For | ir.While) -> None:
        """The body again until no carried value is reached anew."""
        while True:
            for argument, initial, after in zip(loop.carried, loop.initial, loop.body.yields, strict=True):
                if initial in self or after in self:
                    self.reached.add(argument.number)
            before = len(self.reached)
            for region in regions_of(loop):
                self._region(region)
            if len(self.reached) == before:
                return

    def controls(self, y: ir.Value) -> list[ir.Value]:
        """The branches and loops on the way from `x` to `y`, whose own regions are not looked into."""
        found: dict[int, ir.Value] = {}
        seen: set[int] = set()
        stack = [y]
        while stack:
            value = stack.pop()
            if value.number in seen or value not in self:
                continue
            seen.add(value.number)
            if isinstance(value, ir.Result):
                producer = value.producer
                found.setdefault(producer.number, producer)
                stack += _sources(producer)
            else:
                stack += self._operands(value)
        return list(found.values())


def _operands(value: ir.Value) -> tuple[ir.Value, ...]:
    if isinstance(value, ir.Gradient):
        return (value.y, value.x)
    return differentiable_operands(value)


def _outputs(producer: ir.Value, index: int) -> tuple[ir.Value, ...]:
    match producer:
        case ir.If(then=then, otherwise=otherwise):
            return (then.yields[index], otherwise.yields[index])
        case ir.For(carried=carried) | ir.While(carried=carried):
            return (carried[index],)
    return ()


def _sources(producer: ir.Value) -> list[ir.Value]:
    """Everything that the control's regions use, and what it starts with."""
    sources = list(operands_of(producer))
    pending = list(regions_of(producer))
    while pending:
        region = pending.pop()
        for value in region.body:
            sources += operands_of(value)
            pending += regions_of(value)
    return sources
