"""Type rules by name: from the operands' types to the types they are converted to and the result's type.

Only `bool` to `i32` to `f32` is implicit. A *weak* operand (an integer literal, a dim, an `iota`, arithmetic of those)
has dtype i32 and adapts to u32 or f32 on the other side. A rule that refuses its operands
raises `TypeRuleError`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tilec.types import DType

F32, I32, U32, BOOL = DType.F32, DType.I32, DType.U32, DType.BOOL


@dataclass(frozen=True, slots=True)
class Operand:
    """What a rule sees of an operand: its compute dtype, and whether it is weak (then its dtype is I32)."""

    dtype: DType
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """What a rule gives: the dtype each operand is converted to, the result's, and whether the result is weak again."""

    operands: tuple[DType, ...]
    result: DType
    is_weak: bool = False


class TypeRuleError(Exception):
    """Operands that a rule refuses.

    `reason`: "mixed" (u32 with i32, bool or f32: operands `positions`), "division" (`/` of integers), "integer",
    "float_or_signed", "number", "bool" (what the operand at `positions[0]` should have been), "same" (two operands
    that must both be bool or both numbers). `wanted` says it in words.
    """

    def __init__(self, reason: str, positions: tuple[int, ...], wanted: str) -> None:
        super().__init__(f"operand {' and '.join(str(position + 1) for position in positions)}: {wanted}")
        self.reason = reason
        self.positions = positions
        self.wanted = wanted


Rule = Callable[[Sequence[Operand]], Signature]


def _number(operand: Operand) -> Operand:
    return Operand(I32) if operand.dtype is BOOL else operand


def common_number(operands: Sequence[Operand], positions: Sequence[int] | None = None) -> Operand:
    """The one numeric type that all operands convert to (bool counts as i32); weak if all are weak."""
    positions = range(len(operands)) if positions is None else positions
    by_dtype: dict[DType, int] = {}
    for position in positions:
        operand = operands[position]
        if not operand.is_weak:
            by_dtype.setdefault(_number(operand).dtype, position)
    if not by_dtype:
        return Operand(I32, True)
    if U32 in by_dtype and len(by_dtype) > 1:
        other = F32 if F32 in by_dtype else I32
        raise TypeRuleError("mixed", (by_dtype[other], by_dtype[U32]), f"{other} and u32 do not mix: convert one")
    if F32 in by_dtype:
        return Operand(F32)
    return Operand(next(iter(by_dtype)))


def _arithmetic(operands: Sequence[Operand]) -> Signature:
    """Numbers to their common type: `+ - *`, min, max, clamp, abs, square, `%`."""
    common = common_number(operands)
    return Signature((common.dtype,) * len(operands), common.dtype, common.is_weak)


def _signed(operands: Sequence[Operand]) -> Signature:
    """One i32 or f32: negation, sign."""
    if operands[0].dtype is U32:
        raise TypeRuleError("float_or_signed", (0,), "must be i32 or f32, not u32")
    return _arithmetic(operands)


def _float(operands: Sequence[Operand]) -> Signature:
    """Everything to f32."""
    for position, operand in enumerate(operands):
        if operand.dtype is U32:
            raise TypeRuleError("mixed", (position,), "u32 does not become f32 by itself: write f32(...)")
    return Signature((F32,) * len(operands), F32)


def _float_division(operands: Sequence[Operand]) -> Signature:
    """`/`: at least one side is f32."""
    if all(operand.dtype is not F32 for operand in operands):
        raise TypeRuleError("division", (0, 1), "`/` needs a float on one side: `div(a, b)` divides integers")
    return _float(operands)


def _integer(operands: Sequence[Operand]) -> Signature:
    """Integers to their common type: div, ceildiv."""
    for position, operand in enumerate(operands):
        if operand.dtype is F32:
            raise TypeRuleError("integer", (position,), "must be an integer, not f32")
    return _arithmetic(operands)


def _comparison(operands: Sequence[Operand]) -> Signature:
    """Two numbers of a common type to bool."""
    common = common_number(operands)
    return Signature((common.dtype, common.dtype), BOOL)


def _equality(operands: Sequence[Operand]) -> Signature:
    """Two numbers of a common type, or two bools, to bool."""
    if all(operand.dtype is BOOL for operand in operands):
        return Signature((BOOL, BOOL), BOOL)
    return _comparison(operands)


def _logical(operands: Sequence[Operand]) -> Signature:
    """Bools to bool."""
    for position, operand in enumerate(operands):
        if operand.dtype is not BOOL:
            raise TypeRuleError("bool", (position,), f"must be bool, not {operand.dtype}: compare it with 0")
    return Signature((BOOL,) * len(operands), BOOL)


def _where(operands: Sequence[Operand]) -> Signature:
    """A bool, and two numbers of a common type or two bools."""
    _logical(operands[:1])
    if operands[1].dtype is BOOL and operands[2].dtype is BOOL:
        return Signature((BOOL, BOOL, BOOL), BOOL)
    common = common_number(operands, (1, 2))
    return Signature((BOOL, common.dtype, common.dtype), common.dtype, common.is_weak)


def _test(operands: Sequence[Operand]) -> Signature:
    """f32 to bool: isnan and the like."""
    return Signature(_float(operands).operands, BOOL)


def _to(dtype: DType) -> Rule:
    def convert(operands: Sequence[Operand]) -> Signature:
        return Signature((operands[0].dtype,), dtype)

    convert.__doc__ = f"Anything to {dtype}, explicitly."
    return convert


def _sum(operands: Sequence[Operand]) -> Signature:
    """A number (a bool counts as i32) to the same; reductions that add or compare."""
    dtype = _number(operands[0]).dtype
    return Signature((dtype,), dtype)


def _index(operands: Sequence[Operand]) -> Signature:
    """A number to an i32 index."""
    return Signature(_sum(operands).operands, I32)


RULES: dict[str, Rule] = {
    "arithmetic": _arithmetic,
    "signed": _signed,
    "float": _float,
    "float_division": _float_division,
    "integer": _integer,
    "comparison": _comparison,
    "equality": _equality,
    "logical": _logical,
    "where": _where,
    "test": _test,
    "to_f32": _to(F32),
    "to_i32": _to(I32),
    "to_u32": _to(U32),
    "to_bool": _to(BOOL),
    "sum": _sum,
    "index": _index,
}


def apply_rule(rule: str, operands: Sequence[Operand]) -> Signature:
    """The signature that the rule of that name gives for the operands. Raises TypeRuleError."""
    return RULES[rule](operands)
