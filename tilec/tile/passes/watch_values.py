"""Adds the reports that find where a NaN or an infinity comes from."""

from __future__ import annotations

from tilec.tile import ir
from tilec.tile.gradient.copy import Copier
from tilec.tile.make import make_constant, make_pointwise, make_reduce
from tilec.tile.passes.place_reports import count_rounds
from tilec.tile.rewrite import Rewriter, rewrite
from tilec.types import SCALAR_BOOL, DType

MAKERS = frozenset(
    (
        "add", "sub", "mul", "div_f32", "rem", "fma", "square", "sqrt", "rsqrt", "exp", "exp2", "expm1", "log", "log2",
        "log1p", "logaddexp", "pow", "softplus", "sin", "cos", "lse_add", "f16", "bf16",
    )
)  # fmt: skip
"""Rows that may give a NaN or an infinity for finite operands."""

_REDUCING = frozenset(("sum", "prod", "rest"))
_MOST_OPERANDS = 3


def watch_values(kernel: ir.Kernel) -> ir.Kernel:
    """Needs: no gradient. Gives: a report behind every instruction that may make a NaN or an infinity of finite
    operands (its values are what it made, then the operands), before every store of floats, and behind every `while`.
    Keeps: what is stored, exactly."""
    return rewrite(kernel, _watch)


def _watch(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    match value:
        case ir.Store(operand=operand) if operand.type.dtype is DType.F32:
            bad = _make(rewriter, value, "not", _make(rewriter, value, "isfinite", operand))
            _report(rewriter, value, "kept", bad, (operand,), (value.tensor,))
        case ir.Pointwise(op=op) if op in MAKERS and value.type.dtype is DType.F32:
            return _pointwise(rewriter, value)
        case ir.Reduce(op=op) if op in _REDUCING and value.type.dtype is DType.F32:
            return _reduce(rewriter, value)
        case ir.While():
            return _bounded(rewriter, value)
    return None


def _pointwise(rewriter: Rewriter, value: ir.Pointwise) -> ir.Value:
    made = rewriter.append(value)
    floats = [operand for operand in dict.fromkeys(value.operands) if operand.type.dtype is DType.F32]
    where = _make(rewriter, value, "not", _make(rewriter, value, "isfinite", made))
    for operand in floats:
        where = _make(rewriter, value, "and", where, _make(rewriter, value, "isfinite", operand))
    told = [operand for operand in floats if not isinstance(operand, ir.Const)][:_MOST_OPERANDS]
    values = (made, *told)
    _report(rewriter, value, "made", where, values, tuple(map(_called, values)))
    return made


def _reduce(rewriter: Rewriter, value: ir.Reduce) -> ir.Value:
    made = rewriter.append(value)
    bad = _make(rewriter, value, "not", _make(rewriter, value, "isfinite", value.operand))
    some = rewriter.append(make_reduce("any", bad, value.axes, value.span, keeps_axes=value.keeps_axes))
    is_odd = _make(rewriter, value, "not", _make(rewriter, value, "isfinite", made))
    where = _make(rewriter, value, "and", is_odd, _make(rewriter, value, "not", some))
    _report(rewriter, value, "made", where, (made,), (_called(made),))
    return made


def _bounded(rewriter: Rewriter, value: ir.While) -> ir.Value:
    """Tells if the loop was ended by its bound: after so many rounds the condition still holds."""
    loop = count_rounds(rewriter, value)
    results = [
        rewriter.append(ir.Result(argument.type, value.span, loop, number, name=argument.name))
        for number, argument in enumerate(loop.carried)
    ]
    copier = Copier()
    for argument, result in zip(loop.carried, results, strict=True):
        copier.replace(argument, result)
    silent = [one for one in loop.condition.body if not isinstance(one, ir.Report)]
    again = copier.copied(ir.Region(silent, loop.condition.yields))
    for one in again.body:
        rewriter.append(one)
    bound = rewriter.append(make_constant(loop.bound, DType.I32, value.span))
    is_full = _make(rewriter, value, "eq", results[-1], bound)
    where = _make(rewriter, value, "and", is_full, again.yields[0])
    _report(rewriter, value, "bound", where, (), (f"{loop.bound:,}",))
    return loop


def _make(rewriter: Rewriter, at: ir.Value, op: str, *operands: ir.Value) -> ir.Value:
    return rewriter.append(make_pointwise(op, operands, at.span))


def _report(
    rewriter: Rewriter, at: ir.Value, kind: str, where: ir.Value, values: tuple[ir.Value, ...], names: tuple[str, ...]
) -> None:
    rewriter.append(ir.Report(SCALAR_BOOL, at.span, kind, where, values, names[0], names[: len(values)]))


def _called(value: ir.Value) -> str:
    """The source's name for a value, or its text if that is short."""
    name = value.name.split(".")[0]
    text = " ".join(value.span.text.split())
    return name or (text if len(text) <= 40 else "it")
