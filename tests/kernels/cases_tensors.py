"""The rest of the table: normalisation, optimisers, storage, control flow, reductions, layout."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels import twins_tensors as twins
from tests.kernels.cases import LOSSES, MATRICES, THREE, Case, Draw, Sizes, normal, positive, singles
from tests.reference import softmax
from tests.reference.execution import rounded

Generator = np.random.Generator


def tensors(**shapes: str) -> Draw:
    """Normal arrays of the given shapes, letters of the sizes; a name that ends in "_" has the dtype under test."""

    def draw(rng: Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
        drawn = {}
        for name, letters in shapes.items():
            shape = tuple(sizes[letter] for letter in letters)
            drawn[name.rstrip("_")] = normal(rng, shape, dtype if name.endswith("_") else "f32", 2.0)
        return drawn

    return draw


def draw_ln_backward(rng: Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    x = normal(rng, (sizes["M"], sizes["D"]), dtype, 2.0)
    values = x.astype(np.float64)
    return {
        "X": x,
        "W": positive(rng, (sizes["D"],)),
        "Mean": rounded(values.mean(axis=1), "f32"),
        "Rstd": rounded(1 / np.sqrt(values.var(axis=1) + 1e-5), "f32"),
        "Dy": normal(rng, x.shape, dtype),
    }


def draw_softmax_backward(rng: Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    shape = (sizes["M"], sizes["C"])
    return {"Y": rounded(softmax.softmax(2 * rng.standard_normal(shape)), dtype), "Dy": normal(rng, shape, dtype)}


def draw_adamw(rng: Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    shape = (sizes["N"],)
    return {
        "P": normal(rng, shape),
        "G": normal(rng, shape, dtype),
        "M": normal(rng, shape, scale=0.1),
        "V": positive(rng, shape),
        "Clip": rounded(np.array([0.8]), "f32"),
    }


def draw_quantised(rng: Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    """Multiples of a quarter of a row's scale that are no half: no quotient's rounding is a matter of luck."""
    steps = rng.integers(-126, 127, (sizes["M"], sizes["C"])) + rng.choice([-0.25, 0.0, 0.25], (sizes["M"], sizes["C"]))
    steps[:, 0] = 127
    if dtype == "bf16":
        steps = np.round(steps)
    return {"X": rounded(steps * 2.0 ** rng.integers(-6, 3, (sizes["M"], 1)), dtype)}


def draw_whole_numbers(rng: Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    """Small integers, whose sums are exact."""
    return {"X": rounded(rng.integers(-2, 6, (sizes["M"], sizes["C"])), dtype)}


def draw_sizes(rng: Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    values = normal(rng, (sizes["M"], sizes["C"]), dtype) * 4.0 ** rng.integers(-2, 6, (sizes["M"], 1))
    return {"X": values.astype(np.float32)}


def draw_classes(rng: Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    return {"T": rng.integers(-1, 13, (sizes["M"],)).astype(np.int32)}


FLAT = ({"N": 1}, {"N": 255}, {"N": 3001})
LAYERS = ({"M": 1, "D": 1}, {"M": 13, "D": 77}, {"M": 70, "D": 1030})
HALVES = ({"M": 1, "D": 2}, {"M": 13, "D": 66}, {"M": 70, "D": 1030})
ADAMW = singles(lr=1e-2, step=3, b1=0.9, b2=0.95, eps=1e-8, decay=0.1)

TENSORS = (
    Case(
        "normalisation.ph",
        "ln_forward",
        twins.ln_forward,
        tensors(X_="MD", W="D", B="D"),
        LAYERS,
        THREE,
        (singles(eps=1e-5),),
    ),
    Case("normalisation.ph", "ln_backward", twins.ln_backward, draw_ln_backward, LAYERS, THREE),
    Case("normalisation.ph", "sum_parts", twins.sum_parts, tensors(Part="MD"), LAYERS),
    Case("normalisation.ph", "softmax_backward", twins.softmax_backward, draw_softmax_backward, MATRICES, THREE),
    Case(
        "normalisation.ph",
        "causal_softmax",
        twins.causal_softmax,
        tensors(S_="BHQK"),
        ({"B": 1, "H": 1, "Q": 1, "K": 1}, {"B": 2, "H": 3, "Q": 9, "K": 13}, {"B": 1, "H": 2, "Q": 40, "K": 300}),
        THREE,
        (singles(scale=0.125),),
    ),
    Case("optimisers.ph", "adamw", twins.adamw, draw_adamw, FLAT, THREE, (ADAMW,)),
    Case(
        "optimisers.ph",
        "lion",
        twins.lion,
        tensors(P_="N", G_="N", M_="N"),
        FLAT,
        THREE,
        (singles(lr=1e-2, b1=0.9, b2=0.99, decay=0.1),),
    ),
    Case(
        "optimisers.ph",
        "sgd",
        twins.sgd,
        tensors(P="N", G_="N", Velocity="N"),
        FLAT,
        ("f32", "bf16"),
        (singles(lr=0.1, mu=0.9, decay=0.01, nesterov=False), singles(lr=0.1, mu=0.9, decay=0.01, nesterov=True)),
    ),
    Case("optimisers.ph", "clip_norm", twins.clip_norm, tensors(G_="N"), FLAT, THREE, (singles(most=1.0),)),
    Case("storage.ph", "quantise_and_back", twins.quantise_and_back, draw_quantised, MATRICES, THREE),
    Case("storage.ph", "scale_rows", twins.scale_rows, tensors(X_="MC", S="M"), MATRICES, ("f16", "bf16")),
    Case("control.ph", "halvings", twins.halvings, draw_sizes, MATRICES),
    Case("control.ph", "until_limit", twins.until_limit, draw_whole_numbers, MATRICES, scalars=(singles(limit=300.0),)),
    Case("control.ph", "some_chunks", twins.some_chunks, draw_whole_numbers, MATRICES),
    Case(
        "control.ph",
        "nearest",
        twins.nearest,
        tensors(X="MD", Centre="KD"),
        tuple({**sizes, "K": count} for sizes, count in zip(LAYERS, (1, 5, 11), strict=True)),
    ),
    Case(
        "control.ph",
        "maybe_negate",
        twins.maybe_negate,
        tensors(X_="N"),
        FLAT,
        ("f32", "f16"),
        ({"skip": False}, {"skip": True}),
    ),
    Case(
        "reductions.ph",
        "column_statistics",
        twins.column_statistics,
        tensors(X_="MC"),
        (*MATRICES, {"M": 1000, "C": 33}),
        THREE,
    ),
    Case("reductions.ph", "row_facts", twins.row_facts, tensors(X_="MC"), MATRICES, THREE),
    Case("reductions.ph", "whole_tensor", twins.whole_tensor, tensors(X_="MC"), MATRICES, THREE),
    Case(
        "reductions.ph",
        "class_counts",
        twins.class_counts,
        draw_classes,
        ({"M": 1}, {"M": 77}, {"M": 3000}),
        scalars=({"C": 10},),
    ),
    Case(
        "reductions.ph",
        "middle_mean",
        twins.middle_mean,
        tensors(X_="ABC"),
        ({"A": 1, "B": 1, "C": 1}, {"A": 3, "B": 5, "C": 7}, {"A": 5, "B": 200, "C": 65}),
        ("f32", "f16"),
    ),
    Case(
        "reductions.ph",
        "load_balance",
        twins.load_balance,
        tensors(X_="MC"),
        MATRICES,
        ("f32", "bf16"),
        (singles(coefficient=0.01),),
    ),
    Case("layout.ph", "total_variation", twins.total_variation, tensors(X_="MC"), MATRICES, THREE),
    Case("layout.ph", "smooth_rows", twins.smooth_rows, tensors(X_="MC"), MATRICES, THREE),
    Case("layout.ph", "packed_swiglu", twins.packed_swiglu, tensors(X_="MD"), HALVES, THREE),
    Case(
        "layout.ph",
        "rotary",
        twins.rotary,
        tensors(X_="MW", Cos="MD", Sin="MD"),
        tuple({**sizes, "W": 2 * sizes["D"]} for sizes in LAYERS),
        THREE,
    ),
    Case("layout.ph", "add_bias", twins.add_bias, tensors(X_="MC", Bias="C", Residual_="MC"), MATRICES, THREE),
)

CASES = LOSSES + TENSORS
