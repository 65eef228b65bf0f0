"""A kernel's tile IR as text, for people: `tilec compile --emit tile` and the messages of passes."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.tile import ir
from tilec.tile.walk import walk
from tilec.types import Atom, Bound, Extent, Opaque, Symbol, TileType


def print_kernel(kernel: ir.Kernel) -> str:
    """The whole kernel. Values are numbered in order, so equal kernels print equally."""
    printer = _Printer()
    for value in walk(kernel.body):
        printer.number(value)
    lines = [f"kernel {kernel.name}"]
    lines += [f"  {name} = {value}" for name, value in kernel.constants.items()]
    for tensor in kernel.tensors:
        dims = ", ".join(map(str, tensor.dims))
        lines.append(f"  {tensor.access} {tensor.name}: tensor<{tensor.dtype}>[{dims}]")
    lines += [f"  scalar {scalar.name}: {scalar.dtype}" for scalar in kernel.scalars]
    lines.append(f"  grid {', '.join(map(str, kernel.grid))}")
    for requirement in kernel.requirements:
        lines.append(f'  require {printer.expression(requirement.condition)}, "{requirement.message}"')
    return "\n".join(lines + printer.region(kernel.body, 1)) + "\n"


def print_value(value: ir.Value) -> str:
    """One instruction with what it holds; values are shown by the numbers that they have in the process."""
    printer = _Printer(uses_own_numbers=True)
    return "\n".join(printer.instruction(value, 0))


_MOST_PARTS = 100
"""Of a requirement's condition: it may use one part many times."""


class _Printer:
    def __init__(self, uses_own_numbers: bool = False) -> None:
        self._numbers: dict[int, int] = {}
        self._uses_own_numbers = uses_own_numbers

    def number(self, value: ir.Value) -> str:
        if self._uses_own_numbers:
            return f"%{value.number}"
        return f"%{self._numbers.setdefault(value.number, len(self._numbers))}"

    def extent(self, extent: Extent) -> str:
        def shown(atom: Atom) -> Extent | None:
            if isinstance(atom, Opaque) and isinstance(atom.value, ir.Value):
                return Extent.of(Symbol(self.number(atom.value), "loop"))
            return None

        return str(extent if extent.constant is not None else extent.substitute(shown))

    def type(self, tile: TileType) -> str:
        if not tile.shape:
            return str(tile.dtype)
        parts = [
            f"{self._bound(bound)} on {axis}"
            for axis, bounds in enumerate(tile.active)
            for bound in sorted(bounds, key=str)
        ]
        shape = ", ".join(map(self.extent, tile.shape))
        return f"{tile.dtype}[{shape}]" + (f" where {', '.join(parts)}" if parts else "")

    def _bound(self, bound: Bound) -> str:
        lane = "0" if bound.stretched else "i"
        return f"{self.extent(bound.start)} <= {lane} < {self.extent(bound.limit)}"

    def region(self, region: ir.Region, depth: int) -> list[str]:
        lines = [line for value in region.body for line in self.instruction(value, depth)]
        if region.yields:
            lines.append(f"{'  ' * depth}yield {self.all(region.yields)}")
        return lines

    def all(self, values: Sequence[ir.Value]) -> str:
        return ", ".join(map(self.number, values))

    def instruction(self, value: ir.Value, depth: int) -> list[str]:
        indent = "  " * depth
        match value:
            case ir.Store():
                indices = self._indices(value.indices)
                return [f"{indent}store {value.tensor}[{indices}] = {self.number(value.operand)}"]
            case ir.Report():
                shown = zip(value.names, value.values, strict=True)
                values = "".join(f", {name} = {self.number(one)}" for name, one in shown)
                return [f"{indent}{value.kind} {value.text!r} where {self.number(value.where)}{values}"]
            case ir.If():
                lines = [f"{indent}{self.number(value)} = if {self.number(value.condition)}"]
                lines += self.region(value.then, depth + 1)
                if value.otherwise.body or value.otherwise.yields:
                    lines += [f"{indent}else", *self.region(value.otherwise, depth + 1)]
                return lines
            case ir.For() | ir.While():
                return self._loop(value, depth)
        name = f" {value.name}" if value.name else ""
        return [f"{indent}{self.number(value)}{name}: {self.type(value.type)} = {self._operation(value)}"]

    def _loop(self, value: ir.For | ir.While, depth: int) -> list[str]:
        indent = "  " * depth
        carried = ", ".join(
            f"{self.number(argument)}{f' {argument.name}' if argument.name else ''} = {self.number(initial)}"
            for argument, initial in zip(value.carried, value.initial, strict=True)
        )
        carried = f" carrying {carried}" if carried else ""
        if isinstance(value, ir.While):
            lines = [f"{indent}{self.number(value)} = while, at most {value.bound} rounds{carried}"]
            lines += self.region(value.condition, depth + 1)
            return [*lines, f"{indent}do", *self.region(value.body, depth + 1)]
        until = "" if value.until is None else f" until {self.number(value.carried[value.until])}"
        bounds = f"{self.number(value.start)}, {self.number(value.stop)}, {value.step}"
        index = f"{self.number(value.index)} {value.index.name}".rstrip()
        lines = [f"{indent}{self.number(value)} = for {index} in range({bounds}){until}{carried}"]
        return lines + self.region(value.body, depth + 1)

    def _indices(self, indices: tuple[ir.AxisIndex, ...]) -> str:
        return ", ".join(
            f"{self.number(index.start)} :+ {self.extent(index.count)}"
            if isinstance(index, ir.SpanIndex)
            else self.number(index.index)
            for index in indices
        )

    def _operation(self, value: ir.Value) -> str:
        match value:
            case ir.Const() | ir.Scalar() | ir.Dim() | ir.BlockIndex() | ir.Argument() | ir.Iota():
                return self._leaf(value)
            case ir.Pointwise():
                return f"{value.op} {self.all(value.operands)}"
            case ir.Reduce() | ir.ActiveCount():
                name = value.op if isinstance(value, ir.Reduce) else "active_count"
                axes = " ".join(map(str, value.axes))
                return f"{name} {self.number(value.operand)} over {axes}{'' if value.keeps_axes else ', dropped'}"
            case ir.Load():
                fill = "" if value.fill is None else f" else {self.number(value.fill)}"
                return f"load {value.tensor}[{self._indices(value.indices)}]{fill}"
            case ir.Result():
                return f"result {value.index} of {self.number(value.producer)}"
        return self._rearrangement(value)

    @staticmethod
    def _leaf(value: ir.Value) -> str:
        match value:
            case ir.Const():
                return str(value.value).lower()
            case ir.Scalar():
                return f"scalar {value.parameter}"
            case ir.Dim():
                return f"dim {value.extent}"
            case ir.BlockIndex():
                return f"ctx.block.{'xyz'[value.axis]}"
            case ir.Iota():
                return f"iota {value.axis}"
        return "argument"

    def _rearrangement(self, value: ir.Value) -> str:
        match value:
            case ir.Pick():
                return f"pick {self.number(value.operand)} at {self.number(value.index)}"
            case ir.View():
                axes = ", ".join("new" if axis is None else str(axis) for axis in value.axes)
                return f"view {self.number(value.operand)} as [{axes}]"
            case ir.Broadcast():
                return f"broadcast {self.number(value.operand)}"
            case ir.Pad():
                return f"pad {self.number(value.operand)} with {self.number(value.fill)}"
            case ir.Update():
                return f"update {self.number(value.old)} with {self.number(value.new)}"
            case ir.Gradient():
                return f"gradient of {self.number(value.y)} by {self.number(value.x)}"
            case ir.Stop():
                return f"stop {self.number(value.operand)}"
        return type(value).__name__

    def expression(self, value: ir.Value) -> str:
        """A requirement's condition, which stands in no region, written out, as far as its first parts."""
        left = _MOST_PARTS

        def text(part: ir.Value) -> str:
            nonlocal left
            left -= 1
            if left < 0:
                return "..."
            match part:
                case ir.Pointwise():
                    return f"{part.op}({', '.join(map(text, part.operands))})"
                case ir.Scalar():
                    return part.parameter
                case ir.Dim():
                    return str(part.extent)
            return self._leaf(part)

        return text(value)
