"""The elementwise operations, one row each. Derivatives follow PyTorch's conventions; see `PointwiseOp` for columns.

Helpers are named `<op>_<dtype>`; their WGSL texts are in `tilec.wgsl.helpers`. A WGSL built-in is used directly where
every implementation is right about special values and accurate enough, or where the row says "hardware".
"""

from __future__ import annotations

from collections.abc import Sequence

from tilec.ops.spec import Call, Domain, ErrorBound, Helper, Infix, PointwiseOp, WgslForm
from tilec.types import DType

F32, I32, U32, BOOL = DType.F32, DType.I32, DType.U32, DType.BOOL

_OURS = "helper function, measured over its domain on each implementation at hand"
EXACT = ErrorBound(0.0, source="exact by WGSL's rules or integer arithmetic")
ROUNDED = ErrorBound(1.0, source="WGSL, 15.7.4: correctly rounded, in either direction")
DIVISION = ErrorBound(2.5)

_ANY = Domain(-1e4, 1e4)
_WIDE = Domain(-1e30, 1e30)
_POSITIVE = Domain(1e-30, 1e30)


def _same(form: WgslForm, *dtypes: DType) -> dict[DType, WgslForm]:
    return dict.fromkeys(dtypes, form)


def _helpers(name: str, *dtypes: DType) -> dict[DType, WgslForm]:
    return {dtype: Helper(f"{name}_{dtype}") for dtype in dtypes}


def _row(
    name: str,
    rule: str,
    wgsl: dict[DType, WgslForm],
    derivative: Sequence[str | None],
    doc: str,
    *,
    special: str = "guarded",
    domain: Sequence[Domain] | None = None,
    bound: ErrorBound = EXACT,
    in_source: bool = True,
    commutes: bool = False,
) -> PointwiseOp:
    domains = tuple(domain) if domain is not None else (_ANY,) * len(derivative)
    return PointwiseOp(
        name, len(derivative), rule, wgsl, tuple(derivative), special, domains, bound, doc, in_source, commutes
    )


_OPERATORS = [
    _row(
        "add", "arithmetic", _same(Infix("+"), F32, I32, U32), ("1.0", "1.0"), "`x + y`. Integers wrap.",
        special="hardware", domain=(_WIDE, _WIDE), bound=ROUNDED, in_source=False, commutes=True,
    ),
    _row(
        "sub", "arithmetic", _same(Infix("-"), F32, I32, U32), ("1.0", "-1.0"), "`x - y`. Integers wrap.",
        special="hardware", domain=(_WIDE, _WIDE), bound=ROUNDED, in_source=False,
    ),
    _row(
        "mul", "arithmetic", _same(Infix("*"), F32, I32, U32), ("y", "x"), "`x * y`. Integers wrap.",
        special="hardware", bound=ROUNDED, in_source=False, commutes=True,
    ),
    _row(
        "div_f32", "float_division", _same(Infix("/"), F32), ("1.0 / y", "-r / y"), "`x / y` of floats.",
        special="hardware", domain=(_ANY, Domain(1e-4, 1e4)), bound=DIVISION, in_source=False,
    ),
    _row(
        "rem", "arithmetic", {F32: Helper("rem_f32"), I32: Helper("rem_i32"), U32: Infix("%")},
        ("1.0", "-trunc(x / y)"),
        "`x % y`, the remainder of the division that truncates: it has the sign of `x`. Of integers, by 0 it is 0.",
        in_source=False,
    ),
    _row("neg", "signed", _same(Infix("-"), F32, I32), ("-1.0",), "`-x`. The lowest i32 stays.", in_source=False),
    _row("not", "logical", _same(Infix("!"), BOOL), (None,), "`!x`.", in_source=False),
    # Not && and ||, which front ends turn into branches: there is nothing to skip, and drivers compile them slowly.
    _row(
        "and", "logical", _same(Infix("&"), BOOL), (None, None), "`x && y`.", in_source=False, commutes=True,
    ),
    _row("or", "logical", _same(Infix("|"), BOOL), (None, None), "`x || y`.", in_source=False, commutes=True),
]


def _comparison(name: str, symbol: str, rule: str, doc: str) -> PointwiseOp:
    dtypes = (I32, U32, BOOL) if rule == "equality" else (I32, U32)
    forms: dict[DType, WgslForm] = {F32: Helper(f"{name}_f32"), **_same(Infix(symbol), *dtypes)}
    return _row(name, rule, forms, (None, None), doc, in_source=False, commutes=rule == "equality")


_COMPARISONS = [
    _comparison("eq", "==", "equality", "`x == y`. NaN equals nothing."),
    _comparison("ne", "!=", "equality", "`x != y`. NaN differs from everything."),
    _comparison("lt", "<", "comparison", "`x < y`. False with NaN."),
    _comparison("le", "<=", "comparison", "`x <= y`. False with NaN."),
    _comparison("gt", ">", "comparison", "`x > y`. False with NaN."),
    _comparison("ge", ">=", "comparison", "`x >= y`. False with NaN."),
]

_SIMPLE = [
    _row(
        "min", "arithmetic", {F32: Helper("min_f32"), I32: Call("min"), U32: Call("min")},
        ("where(x < y, 1.0, where(x == y, 0.5, 0.0))", "where(y < x, 1.0, where(x == y, 0.5, 0.0))"),
        "The smaller of `x` and `y`; NaN if either is NaN.", commutes=True,
    ),
    _row(
        "max", "arithmetic", {F32: Helper("max_f32"), I32: Call("max"), U32: Call("max")},
        ("where(x > y, 1.0, where(x == y, 0.5, 0.0))", "where(y > x, 1.0, where(x == y, 0.5, 0.0))"),
        "The larger of `x` and `y`; NaN if either is NaN.", commutes=True,
    ),
    _row(
        "clamp", "arithmetic", _helpers("clamp", F32, I32, U32),
        (
            "where(x < y, 0.0, where(x > z, 0.0, 1.0))",
            "where(y > z, 0.0, where(x < y, 1.0, 0.0))",
            "where(x > z, 1.0, where(y > z, 1.0, 0.0))",
        ),
        "`min(max(x, low), high)`; NaN if any of them is NaN.",
    ),
    _row("abs", "arithmetic", _same(Call("abs"), F32, I32, U32), ("sign(x)",), "The magnitude. The lowest i32 stays."),
    _row(
        "sign", "signed", {F32: Helper("sign_f32"), I32: Call("sign")}, ("0",), "-1, 0 or 1; NaN of NaN.",
    ),
    _row(
        "square", "arithmetic", _helpers("square", F32, I32, U32), ("2.0 * x",), "`x * x`.",
        special="hardware", bound=ROUNDED,
    ),
    _row("floor", "float", _same(Call("floor"), F32), ("0",), "The largest integer not above `x`.", special="hardware"),
    _row("ceil", "float", _same(Call("ceil"), F32), ("0",), "The smallest integer not below `x`.", special="hardware"),
    _row("round", "float", _same(Call("round"), F32), ("0",), "The nearest integer, ties to even.", special="hardware"),
    _row("trunc", "float", _same(Call("trunc"), F32), ("0",), "`x` without its fraction.", special="hardware"),
    _row(
        "where", "where", _helpers("where", F32, I32, U32, BOOL),
        (None, "where(x, 1.0, 0.0)", "where(x, 0.0, 1.0)"),
        "`where(condition, a, b)`: `a` where the condition holds, else `b`. No gradient reaches the other side.",
    ),
    _row(
        "fma", "float", _same(Call("fma"), F32), ("y", "x", "1.0"), "`x * y + z`, rounded once or twice.",
        special="hardware", bound=ErrorBound(1.0, growth=1.0, growth_of="abs(x * y / r)"),
    ),
    _row("isnan", "test", _same(Helper("isnan_f32"), F32), (None,), "Whether `x` is NaN."),
    _row("isinf", "test", _same(Helper("isinf_f32"), F32), (None,), "Whether `x` is inf or -inf."),
    _row("isfinite", "test", _same(Helper("isfinite_f32"), F32), (None,), "Whether `x` is neither NaN nor infinite."),
    _row(
        "div", "integer", _same(Infix("/"), I32, U32), (None, None),
        "`div(x, y)`: the quotient of integers, truncated towards 0. By 0 it is `x`; the lowest i32 by -1 is itself.",
    ),
    _row(
        "ceildiv", "integer", _helpers("ceildiv", I32, U32), (None, None),
        "`ceildiv(x, y)`: the quotient of integers, rounded up. By 0 it is `x`.",
    ),
]


def _function(
    name: str,
    derivative: Sequence[str],
    doc: str,
    *domain: Domain,
    ulps: float,
    absolute: float = 0.0,
    growth: float = 0.0,
    growth_of: str = "abs(x)",
    special: str = "guarded",
    form: WgslForm | None = None,
    source: str = _OURS,
) -> PointwiseOp:
    """A row of a transcendental function of f32."""
    bound = ErrorBound(ulps, absolute, growth, growth_of, source)
    forms = _same(form or Helper(f"{name}_f32"), F32)
    return _row(name, "float", forms, derivative, doc, special=special, domain=domain, bound=bound)


_EXP_SOURCE = "WGSL, 15.7.4: exp and exp2 are within 3 + 2 |x| ULP"
_EXPONENT = Domain(-80.0, 80.0)

_TRANSCENDENTAL = [
    _function(
        "sqrt", ("0.5 / r",), "The square root.", Domain(0.0, 1e30), ulps=5.0, special="hardware", form=Call("sqrt"),
        source="WGSL, 15.7.4: inherited from 1 / inverseSqrt(x)",
    ),
    _function(
        "rsqrt", ("-0.5 * r * r * r",), "`1 / sqrt(x)`.", _POSITIVE, ulps=2.0, special="hardware",
        form=Call("inverseSqrt"), source="WGSL, 15.7.4: inverseSqrt is within 2 ULP",
    ),
    _function("exp", ("r",), "`e` to the power of `x`.", _EXPONENT, ulps=3.0, growth=2.0, source=_EXP_SOURCE),
    _function(
        "exp2", ("r * 0.6931471805599453",), "2 to the power of `x`.", Domain(-120.0, 120.0), ulps=3.0,
    ),
    _function("expm1", ("exp(x)",), "`exp(x) - 1`, accurate near 0.", Domain(-100.0, 80.0), ulps=4.0),
    _function("log", ("1.0 / x",), "The natural logarithm; -inf at 0.", _POSITIVE, ulps=3.0),
    _function("log2", ("1.4426950408889634 / x",), "The logarithm to base 2; -inf at 0.", _POSITIVE, ulps=3.0),
    _function(
        "log1p", ("1.0 / (x + 1.0)",), "`log(1 + x)`, accurate near 0; -inf at -1.",
        Domain(-0.999, 1e30), ulps=4.0,
    ),
    _function(
        "logaddexp", ("sigmoid(x - y)", "sigmoid(y - x)"), "`log(exp(x) + exp(y))`, without overflow.", _ANY, _ANY,
        ulps=4.0, absolute=3e-7,
    ),
    _function(
        "pow",
        (
            "where(y == 0.0, 0.0, y * pow(x, y - 1.0))",
            "where(x == 0.0, where(y >= 0.0, 0.0, r * log(x)), r * log(x))",
        ),
        "`x` to the power of `y`. `pow(x, 0)` is 1; a negative `x` needs an integral `y`, else NaN.",
        Domain(1e-3, 1e3), Domain(-8.0, 8.0), ulps=4.0, growth=3.0,
        growth_of="min(0.5 * abs(y), abs(y * log2(abs(x))))",
    ),
    _function("sin", ("cos(x)",), "The sine of `x` radians.", Domain(-1e4, 1e4), ulps=4.0, absolute=2e-7),
    _function("cos", ("-sin(x)",), "The cosine of `x` radians.", Domain(-1e4, 1e4), ulps=4.0, absolute=2e-7),
    _function("tanh", ("1.0 - r * r",), "The hyperbolic tangent.", Domain(-100.0, 100.0), ulps=8.0),
    _function(
        "sigmoid", ("r * sigmoid(-x)",), "`1 / (1 + exp(-x))`, accurate for any `x`.", _EXPONENT, ulps=8.0,
        growth=2.0,
    ),
    _function("softplus", ("sigmoid(x)",), "`log(1 + exp(x))`, accurate for any `x`.", _EXPONENT, ulps=8.0, growth=2.0),
    _function("erf", ("1.1283791670955126 * exp(-x * x)",), "The error function.", Domain(-6.0, 6.0), ulps=6.0),
]

_CONVERSIONS = [
    _row("f32", "to_f32", _same(Call("f32"), F32, I32, U32, BOOL), ("1.0",), "To f32.", bound=ROUNDED),
    _row(
        "i32", "to_i32", {F32: Helper("i32_from_f32"), **_same(Call("i32"), I32, U32, BOOL)}, (None,),
        "To i32: a float truncates, saturates, and NaN gives 0; a u32 keeps its bits.",
    ),
    _row(
        "u32", "to_u32", {F32: Helper("u32_from_f32"), **_same(Call("u32"), I32, U32, BOOL)}, (None,),
        "To u32: a float truncates, saturates, and NaN gives 0; an i32 keeps its bits.",
    ),
    _row(
        "bool", "to_bool", {F32: Helper("bool_from_f32"), **_same(Call("bool"), I32, U32, BOOL)}, (None,),
        "Whether `x` is not 0 (NaN is not).",
    ),
    _row(
        "f16", "float", _same(Helper("round_f16"), F32), ("1.0",),
        "Rounded to the nearest f16, ties to even, beyond its range to an infinity.", domain=(Domain(-7e4, 7e4),),
    ),
    _row(
        "bf16", "float", _same(Helper("round_bf16"), F32), ("1.0",),
        "Rounded to the nearest bf16, ties to even, beyond its range to an infinity.", domain=(_WIDE,),
    ),
]

_INTERNAL = [
    _row(
        "lse_add", "float", _same(Infix("+"), F32), ("1.0", "1.0"),
        "`m + s` of a logsumexp: the maximum and the logarithm of the shifted sum.", special="hardware",
        domain=(_WIDE, _WIDE), bound=ROUNDED, in_source=False,
    ),
    _row(
        "max_fast", "arithmetic", _same(Call("max"), F32, I32, U32), (None, None),
        "`max` where no operand is NaN.", special="hardware", in_source=False, commutes=True,
    ),
    _row(
        "min_fast", "arithmetic", _same(Call("min"), F32, I32, U32), (None, None),
        "`min` where no operand is NaN.", special="hardware", in_source=False, commutes=True,
    ),
    _row(
        "gt_fast", "comparison", _same(Infix(">"), F32, I32, U32), (None, None),
        "`>` where no operand is NaN.", special="hardware", in_source=False,
    ),
    _row(
        "exp_fast", "float", _same(Call("exp"), F32), ("r",), "`exp` of a finite number of at most 0.",
        special="hardware", domain=(Domain(-80.0, 0.0),), bound=ErrorBound(3.0, growth=2.0, source=_EXP_SOURCE),
        in_source=False,
    ),
]

POINTWISE: dict[str, PointwiseOp] = {
    row.name: row for row in [*_OPERATORS, *_COMPARISONS, *_SIMPLE, *_TRANSCENDENTAL, *_CONVERSIONS, *_INTERNAL]
}
"""Every elementwise operation by name."""
