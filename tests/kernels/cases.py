"""The table of kernels: file, twin, inputs, dtypes and sizes, and the draws of the inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.kernels import twins
from tests.kernels.twins import Inputs, Outputs
from tests.reference import softmax
from tests.reference.execution import rounded

Sizes = Mapping[str, int]
Draw = Callable[[np.random.Generator, Sizes, str], dict[str, Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One kernel. `draw` makes the arrays for some sizes and a dtype; `scalars` are the other arguments, each a variant
    that is run. A size that only outputs use is a scalar argument as well."""

    file: str
    kernel: str
    twin: Callable[[Inputs], Outputs]
    draw: Draw
    sizes: tuple[Sizes, ...]
    dtypes: tuple[str, ...] = ("f32",)
    scalars: tuple[dict[str, Any], ...] = field(default=({},))


def single(value: float) -> float:
    """A number as the f32 that a kernel gets."""
    return float(np.float32(value))


def singles(**values: Any) -> dict[str, Any]:
    return {name: single(value) if isinstance(value, float) else value for name, value in values.items()}


def some_ids(rng: np.random.Generator, shape: tuple[int, ...], count: int, ignored: int = -100) -> np.ndarray:
    """Classes, one in five of them ignored."""
    return np.where(rng.uniform(size=shape) < 0.2, ignored, rng.integers(0, count, shape)).astype(np.int32)


def normal(rng: np.random.Generator, shape: tuple[int, ...], dtype: str = "f32", scale: float = 1.0) -> np.ndarray:
    return rounded(scale * rng.standard_normal(shape), dtype)


def positive(rng: np.random.Generator, shape: tuple[int, ...], dtype: str = "f32") -> np.ndarray:
    return rounded(rng.uniform(0.2, 1.5, shape), dtype)


def draw_weighted_ce(rng: np.random.Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    rows, columns = sizes["M"], sizes["V"]
    return {
        "Logits": normal(rng, (rows, columns), dtype, 4.0),
        "Target": some_ids(rng, (rows,), columns, rng.choice([-100, -1, columns])),
        "ClassWeight": positive(rng, (columns,)),
        "RowWeight": positive(rng, (rows,)),
    }


def draw_focal(rng: np.random.Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    rows, columns = sizes["M"], sizes["C"]
    classes = some_ids(rng, (rows, 1), columns)
    return {"X": normal(rng, (rows, columns), dtype, 2.0), "T": classes, "Alpha": positive(rng, (columns,))}


def draw_sigmoid_focal(rng: np.random.Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    shape = (sizes["M"], sizes["C"])
    return {"X": normal(rng, shape, dtype, 4.0), "Y": rng.uniform(size=shape) < 0.3}


def draw_sequences(rng: np.random.Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    batch, length, columns = sizes["B"], sizes["T"], sizes["V"]
    return {
        "Logits": normal(rng, (batch, length, columns), dtype, 3.0),
        "Ids": some_ids(rng, (batch, length), columns).astype(np.int64),
    }


def draw_batch(rng: np.random.Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    rows, columns = sizes["M"], sizes["V"]
    return {"X": normal(rng, (rows, columns), dtype, 3.0), "T": some_ids(rng, (rows,), columns)}


def draw_kl(rng: np.random.Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    shape = (sizes["M"], sizes["C"])
    log_p, log_q = (softmax.log_softmax(2 * rng.standard_normal(shape)) for _ in range(2))
    masked = rng.uniform(size=shape) < 0.1
    masked[:, 0] = False
    return {"LogP": rounded(log_p, dtype), "LogQ": rounded(np.where(masked, -np.inf, log_q), dtype)}


def draw_distillation(rng: np.random.Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    rows, columns = sizes["M"], sizes["V"]
    return {
        "Student": normal(rng, (rows, columns), dtype, 3.0),
        "Teacher": normal(rng, (rows, columns), dtype, 3.0),
        "Target": rng.integers(0, columns, (rows, 1)).astype(np.int32),
    }


def draw_similarity(rng: np.random.Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    count = sizes["N"]
    return {"S": rounded(rng.standard_normal((count, count)) + 5 * np.eye(count), dtype)}


def draw_clip_rows(rng: np.random.Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    given = draw_similarity(rng, sizes, dtype)
    return {**given, "ColumnLse": rounded(softmax.logsumexp(given["S"].astype(np.float64).T)[:, 0], "f32")}


def draw_grpo(rng: np.random.Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    batch, length, columns = sizes["B"], sizes["T"], sizes["V"]
    logits = normal(rng, (batch, length, columns), dtype, 2.0)
    ids = some_ids(rng, (batch, length), columns)
    heat = 1.3
    flat = softmax.log_softmax(logits.astype(np.float64).reshape(-1, columns) / heat).reshape(logits.shape)
    logp = np.take_along_axis(flat, np.maximum(ids, 0)[..., None], axis=2)[..., 0]
    return {
        "Logits": logits,
        "Ids": ids,
        # Ratios stay clear of the clipping bounds, where a rounding decides
        "Old": rounded(logp - rng.choice([-0.5, -0.1, 0.05, 0.4], logp.shape), "f32"),
        "Ref": rounded(logp + 0.3 * rng.standard_normal(logp.shape), "f32"),
        "Advantage": normal(rng, (batch,)),
    }


def draw_dpo(rng: np.random.Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    batch, length, columns = sizes["B"], sizes["T"], sizes["V"]
    shape = (batch, length, columns)
    return {
        "Chosen": normal(rng, shape, dtype, 2.0),
        "Rejected": normal(rng, shape, dtype, 2.0),
        "ChosenIds": some_ids(rng, shape[:2], columns),
        "RejectedIds": some_ids(rng, shape[:2], columns),
        "Ref": normal(rng, (batch,)),
    }


def draw_tversky(rng: np.random.Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    shape = tuple(sizes[name] for name in "BCHW")
    return {"X": normal(rng, shape, dtype, 2.0), "Y": (rng.uniform(size=shape) < 0.4).astype(np.uint8)}


def draw_dice(rng: np.random.Generator, sizes: Sizes, dtype: str) -> dict[str, Any]:
    batch, count, pixels = (sizes[name] for name in "BCP")
    return {
        "X": normal(rng, (batch, count, pixels), dtype, 2.0),
        "T": rng.integers(0, count, (batch, pixels)).astype(np.int32),
    }


BATCHES = ({"M": 1, "V": 1}, {"M": 13, "V": 77}, {"M": 70, "V": 1030})
MATRICES = ({"M": 1, "C": 1}, {"M": 13, "C": 77}, {"M": 70, "C": 1030})
SEQUENCES = ({"B": 1, "T": 1, "V": 1}, {"B": 3, "T": 7, "V": 33}, {"B": 2, "T": 18, "V": 601})
SQUARES = ({"N": 1}, {"N": 13}, {"N": 130})
THREE = ("f32", "f16", "bf16")
PLAIN = singles(smoothing=0.0, z=0.0, cap=0.0, ignore_index=-100)
FULL = singles(smoothing=0.1, z=1e-3, cap=30.0, ignore_index=-1)

LOSSES = (
    Case("classification.ph", "weighted_ce", twins.weighted_ce, draw_weighted_ce, BATCHES, THREE, (PLAIN, FULL)),
    Case(
        "classification.ph",
        "softmax_focal",
        twins.softmax_focal,
        draw_focal,
        MATRICES,
        THREE,
        (singles(gamma=2.0), singles(gamma=1.3)),
    ),
    Case(
        "classification.ph",
        "sigmoid_focal",
        twins.sigmoid_focal,
        draw_sigmoid_focal,
        MATRICES,
        THREE,
        (singles(alpha=0.25, gamma=2.0),),
    ),
    Case("classification.ph", "shifted_lm_loss", twins.shifted_lm_loss, draw_sequences, SEQUENCES, THREE),
    Case("classification.ph", "mean_ce", twins.mean_ce, draw_batch, BATCHES, THREE),
    Case("divergence.ph", "kl_log_target", twins.kl_log_target, draw_kl, MATRICES, ("f32", "bf16")),
    Case(
        "divergence.ph",
        "distillation",
        twins.distillation,
        draw_distillation,
        BATCHES,
        THREE,
        (singles(temperature=2.0, mix=0.5), singles(temperature=0.7, mix=0.9)),
    ),
    Case("divergence.ph", "clip_columns", twins.clip_columns, draw_similarity, SQUARES, THREE),
    Case("divergence.ph", "clip_rows", twins.clip_rows, draw_clip_rows, SQUARES, THREE),
    Case("divergence.ph", "clip_whole", twins.clip_whole, draw_similarity, SQUARES, scalars=(singles(scale=2.5),)),
    Case(
        "policy.ph",
        "grpo",
        twins.grpo,
        draw_grpo,
        SEQUENCES,
        ("f32", "bf16"),
        (singles(temperature=1.3, low=0.2, high=0.28, beta=0.04),),
    ),
    Case("policy.ph", "dpo", twins.dpo, draw_dpo, SEQUENCES, ("f32", "bf16"), (singles(beta=0.1),)),
    Case(
        "segmentation.ph",
        "tversky",
        twins.tversky,
        draw_tversky,
        ({"B": 1, "C": 1, "H": 1, "W": 1}, {"B": 2, "C": 3, "H": 7, "W": 9}, {"B": 1, "C": 2, "H": 40, "W": 33}),
        THREE,
        (singles(alpha=0.3, beta=0.7, smooth=1.0),),
    ),
    Case(
        "segmentation.ph",
        "dice_sums",
        twins.dice_sums,
        draw_dice,
        ({"B": 1, "C": 1, "P": 1}, {"B": 2, "C": 5, "P": 131}, {"B": 1, "C": 21, "P": 1000}),
        ("f32", "f16"),
    ),
)
