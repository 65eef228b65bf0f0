"""The forms of operations that expressions are drawn from, with bounds on the size of their results."""

from __future__ import annotations

from collections.abc import Callable

LIMIT = 1e6
"""Larger floats are brought back before they are used in arithmetic."""

# name: template, bound on the result's size from the operand's
UNARY: dict[str, tuple[str, Callable[[float], float]]] = {
    "neg": ("-{x}", lambda s: s),
    "abs": ("abs({x})", lambda s: s),
    "square": ("square({x})", lambda s: s * s),
    "max0": ("max({x}, 0.0)", lambda s: s),
    "min1": ("min({x}, 1.5)", lambda s: max(s, 1.5)),
    "clamp": ("clamp({x}, -2.0, 3.0)", lambda s: 3.0),
    "scaled": ("({x} * 0.5 + 1.0)", lambda s: s + 1.0),
    "fma": ("fma({x}, 0.25, -1.0)", lambda s: s + 1.0),
    "exp": ("exp(min({x}, 3.0))", lambda s: 21.0),
    "exp2": ("exp2(clamp({x}, -9.0, 4.0))", lambda s: 16.0),
    "expm1": ("expm1(min({x}, 2.0))", lambda s: 8.0),
    "log": ("log(abs({x}) + 0.125)", lambda s: 16.0),
    "log2": ("log2(abs({x}) + 0.5)", lambda s: 24.0),
    "log1p": ("log1p(abs({x}))", lambda s: 16.0),
    "sqrt": ("sqrt(abs({x}))", lambda s: s + 1.0),
    "rsqrt": ("rsqrt(abs({x}) + 0.25)", lambda s: 2.0),
    "tanh": ("tanh({x})", lambda s: 1.0),
    "sigmoid": ("sigmoid({x})", lambda s: 1.0),
    "softplus": ("softplus({x})", lambda s: s + 1.0),
    "erf": ("erf({x})", lambda s: 1.0),
    "sin": ("sin(clamp({x}, -50.0, 50.0))", lambda s: 1.0),
    "cos": ("cos(clamp({x}, -50.0, 50.0))", lambda s: 1.0),
    "pow2": ("pow({x}, 2.0)", lambda s: s * s),
    "pow3": ("pow(clamp({x}, -9.0, 9.0), 3)", lambda s: 729.0),
    "pow_half": ("pow(abs({x}), 0.5)", lambda s: s + 1.0),
    "pow": ("pow(clamp(abs({x}), 0.01, 20.0), 1.5)", lambda s: 90.0),
    "round": ("round({x})", lambda s: s + 1.0),
    "floor": ("floor({x})", lambda s: s + 1.0),
    "ceil": ("ceil({x})", lambda s: s + 1.0),
    "trunc": ("trunc({x})", lambda s: s),
    "sign": ("sign({x})", lambda s: 1.0),
    "f16": ("f16(clamp({x}, -60000.0, 60000.0))", lambda s: min(s, 6e4)),
    "bf16": ("bf16({x})", lambda s: s),
    "relu": ("relu({x})", lambda s: s),
    "silu": ("silu({x})", lambda s: s),
    "gelu": ("gelu({x})", lambda s: s),
    "gelu_tanh": ("gelu_tanh({x})", lambda s: s),
    "leaky_relu": ("leaky_relu({x}, negative_slope: 0.1)", lambda s: s),
    "hardswish": ("hardswish({x})", lambda s: s + 1.0),
    "mish": ("mish({x})", lambda s: s),
}

BINARY: list[tuple[str, Callable[[float, float], float]]] = [
    ("({x} + {y})", lambda s, t: s + t),
    ("({x} - {y})", lambda s, t: s + t),
    ("({x} * {y})", lambda s, t: s * t),
    ("max({x}, {y})", max),
    ("min({x}, {y})", max),
    ("({x} / (abs({y}) + 0.5))", lambda s, t: 2 * s),
    ("logaddexp({x}, {y})", lambda s, t: max(s, t) + 1.0),
    ("({x} - {y} * 0.5)", lambda s, t: s + t),
    ("pow(abs({x}) + 0.25, clamp({y}, -2.0, 2.0))", lambda s, t: (s + 4.0) ** 2),
    ("clamp({x}, {y} - 1.0, {y} + 1.0)", lambda s, t: t + 1.0),
]

# Over the last axis, results of extent 1
ROW_REDUCTIONS: list[tuple[str, Callable[[float], float]]] = [
    ("rowmax({x})", lambda s: s),
    ("rowmin({x})", lambda s: s),
    ("rowmean({x})", lambda s: s),
    ("(rowsum({x}) * 0.125)", lambda s: s * 40),
    ("rowvar({x})", lambda s: 4 * s * s),
    ("logsumexp({x})", lambda s: s + 8.0),
    ("rowprod(clamp({x}, 0.9, 1.1))", lambda s: 100.0),
    ("f32(rowargmax({x}))", lambda s: 300.0),
    ("f32(rowargmin({x}))", lambda s: 300.0),
    ("f32(rowany({x} > 1.0))", lambda s: 1.0),
    ("f32(rowall({x} < 2.0))", lambda s: 1.0),
    ("f32(rowsum({x} > 0.5))", lambda s: 300.0),
]

AXIS_REDUCTIONS: list[tuple[str, Callable[[float], float]]] = [
    ("amax({x}, axis: {k})", lambda s: s),
    ("amin({x}, axis: {k})", lambda s: s),
    ("mean({x}, axis: {k})", lambda s: s),
    ("(sum({x}, axis: {k}) * 0.125)", lambda s: s * 40),
    ("var({x}, axis: {k})", lambda s: 4 * s * s),
    ("logsumexp({x}, axis: {k})", lambda s: s + 8.0),
    ("f32(argmax({x}, axis: {k}))", lambda s: 300.0),
    ("f32(any({x} > 1.0, axis: {k}))", lambda s: 1.0),
    ("f32(all({x} < 3.0, axis: {k}))", lambda s: 1.0),
]

TOTALS: list[tuple[str, Callable[[float], float]]] = [
    ("amax({x})", lambda s: s),
    ("amin({x})", lambda s: s),
    ("mean({x})", lambda s: s),
    ("(sum({x}) * 0.03125)", lambda s: s * 1e3),
    ("var({x})", lambda s: 4 * s * s),
    ("f32(argmax({x}))", lambda s: 1e5),
    ("f32(sum({x} > 0.0))", lambda s: 1e5),
]

WHOLE_ROWS = ["softmax({x})", "log_softmax({x})", "softmin({x})", "rms_norm({x}, 1.5)", "layer_norm({x})"]

FLOAT_LITERALS = ["0.5", "1.0", "-2.0", "0.0", "1e-6", "3.25", "0.1", "100.0"]
INTEGER_LITERALS = ["1", "0", "2", "-1", "7", "-100", "64", "0x1f"]
