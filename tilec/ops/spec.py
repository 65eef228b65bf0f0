"""What one row of an op table holds. An op is its row and its reference (`tilec.ops.reference`), nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tilec.types import DType


@dataclass(frozen=True, slots=True)
class Infix:
    """Emitted as `x symbol y` (or `symbol x`)."""

    symbol: str


@dataclass(frozen=True, slots=True)
class Call:
    """Emitted as a call of a WGSL built-in function or type constructor."""

    function: str


@dataclass(frozen=True, slots=True)
class Helper:
    """Emitted as a call of a helper function whose WGSL text is in `tilec.wgsl.helpers` under this name."""

    name: str


WgslForm: TypeAlias = "Infix | Call | Helper"


@dataclass(frozen=True, slots=True)
class ErrorBound:
    """Largest error of a float result against the exact one: `ulps + growth * growth_of` units in the last place of the
    result, or `absolute`, whichever is larger. `growth_of` is an expression of the tile language over the operands
    `x`, `y`, `z` and the result `r`. `source` says where the bound comes from. All zero: exact."""

    ulps: float
    absolute: float = 0.0
    growth: float = 0.0
    growth_of: str = "abs(x)"
    source: str = "WGSL, 15.7.4: accuracy of built-in functions"


@dataclass(frozen=True, slots=True)
class Domain:
    """Inputs on which an operand is tested: finite numbers of `low .. high`; `specials` adds NaN and infinities."""

    low: float
    high: float
    specials: bool = True


@dataclass(frozen=True, slots=True)
class PointwiseOp:
    """One elementwise operation.

    `rule` names a type rule of `tilec.ops.rules`. `wgsl` maps the compute dtype of the (converted) operands to a form.
    `derivative` holds, an operand each, the partial derivative as an expression of the tile language over the operands
    `x`, `y`, `z` and the result `r` (None: no derivative, the adjoint stops; "0" likewise). `special`: "guarded" if NaN
    and infinities behave as in NumPy on every implementation, "hardware" otherwise. `in_source`: callable by that name.
    """

    name: str
    arity: int
    rule: str
    wgsl: dict[DType, WgslForm]
    derivative: tuple[str | None, ...]
    special: str
    domain: tuple[Domain, ...]
    bound: ErrorBound
    doc: str
    in_source: bool = True
    commutes: bool = False


@dataclass(frozen=True, slots=True)
class ReductionOp:
    """One reduction. `identity` is by dtype what no lane gives; `combine` a pointwise row's name that folds two partial
    results; `state` "plain", "best" (value and first index) or "shifted" (log of a sum of exponentials of x - max)."""

    name: str
    rule: str
    identity: dict[DType, bool | int | float]
    combine: str
    state: str
    doc: str
