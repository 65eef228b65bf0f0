"""Why a value has no derivative with respect to another, in words."""

from __future__ import annotations

from tilec.tile import ir
from tilec.tile.gradient.depend import Dependence
from tilec.tile.walk import operands_of, stored_tensors, walk


def why_independent(kernel: ir.Kernel, y: ir.Value, x: ir.Value) -> str:
    """A clause for the diagnostic: what `y` was computed from instead."""
    if y in Dependence(kernel.body, x, through_all=True):
        if _is_stopped(y, x):
            return "what lies between them is stopped by `stop_grad`"
        return "only integers, conditions and conversions from them lie between"
    used = _used(kernel, y)
    tensor = _through_memory(kernel, x, used)
    if tensor is not None:
        return f"it was computed from `{tensor}` after the value was stored there, and stores have no derivative"
    if isinstance(x, ir.Load):
        for value in used:
            if isinstance(value, ir.Load) and value.tensor == x.tensor:
                line = value.span.source.line_column(value.span.start)[0]
                return f"it was computed from another read of `{x.tensor}`, in line {line}"
    return "nothing that it was computed from uses that value"


def _is_stopped(y: ir.Value, x: ir.Value) -> bool:
    pending, seen = [y], set()
    while pending:
        value = pending.pop()
        if value.number in seen or value is x:
            continue
        seen.add(value.number)
        if isinstance(value, ir.Stop):
            return True
        pending += operands_of(value)
    return False


def _used(kernel: ir.Kernel, y: ir.Value) -> list[ir.Value]:
    """All that `y` was computed from, with the regions of branches and loops."""
    inside: dict[int, list[ir.Value]] = {}
    for value in walk(kernel.body):
        if isinstance(value, ir.If | ir.For | ir.While):
            regions = (value.then, value.otherwise) if isinstance(value, ir.If) else (value.body,)
            inside[value.number] = [inner for region in regions for inner in walk(region)]
    pending, seen = [y], {}
    while pending:
        value = pending.pop()
        if value.number not in seen:
            seen[value.number] = value
            pending += [*operands_of(value), *inside.get(value.number, ())]
    return list(seen.values())


def _through_memory(kernel: ir.Kernel, x: ir.Value, used: list[ir.Value]) -> str | None:
    """A tensor that something that depends on `x` was stored to, and that `y` was computed from."""
    dependence = Dependence(kernel.body, x)
    stored = {
        tensor
        for value in walk(kernel.body)
        if isinstance(value, ir.Store) and value.operand in dependence
        for tensor in stored_tensors(value)
    }
    return next((value.tensor for value in used if isinstance(value, ir.Load) and value.tensor in stored), None)
