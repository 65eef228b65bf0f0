"""What the GPU benchmarks run: kernels with the numbers that they are given, what they owe in float64, and the same
work in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from tilec import driver
from tilec.tile.ir import Kernel
from tilec.types import DTYPES

ROOT = Path(__file__).resolve().parents[2]
BOUNDS = {"f32": 5e-6, "f16": 2e-3, "bf16": 1.6e-2}
"""Largest error of a result, relative to the largest element: sums of rows, rounded once to the storage type."""
SAMPLE_ROWS = 64

Arrays: TypeAlias = "Mapping[str, np.ndarray]"


def storage(dtype: str) -> np.dtype:
    """NumPy's type for a storage type."""
    if dtype == "bf16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype({"f32": np.float32, "f16": np.float16}[dtype])


@dataclass(frozen=True)
class Case:
    """`draws` says what each input holds. `twin` gives the outputs for the rows of the sample in float64, `share` of
    the whole: how many times the sample's value a sum over all rows is. `torch` does the same on tensors of the storage
    type; `liger` too, given its ops module."""

    kernel: str
    file: str
    draws: dict[str, str]
    twin: Callable[[Arrays, float], dict[str, np.ndarray]]
    torch: Callable[[Any, Mapping[str, Any]], Any]
    liger: Callable[[Any, Mapping[str, Any]], Any] | None = None
    shapes: tuple[tuple[int, int], ...] = ((8192, 4096), (8192, 32768))
    dtypes: tuple[str, ...] = ("f32", "f16", "bf16")

    def build(self, dtype: str) -> Kernel:
        """The tile kernel for a storage type."""
        program = driver.parse_file(ROOT / self.file).program
        types = {"T": DTYPES[dtype]} if program.kernels[self.kernel].type_variables else {}
        return driver.build_kernel(program, self.kernel, types).kernel

    def dims(self, rows: int, columns: int) -> dict[str, int]:
        return {"M": rows} if self.kernel == "sum_losses" else {"M": rows, "V": columns}

    def sample(self, rows: int, columns: int, dtype: str) -> dict[str, np.ndarray]:
        """Numbers for the first rows of every input, in the storage type; whole vectors and class indices."""
        rng = np.random.default_rng(rows + columns)
        few = min(rows, SAMPLE_ROWS)
        return {name: _draw(rng, how, few, rows, columns, storage(dtype)) for name, how in self.draws.items()}

    def expected(self, sample: Arrays, rows: int) -> dict[str, np.ndarray]:
        few = next(iter(sample.values())).shape[0]
        wide = {name: array.astype(np.float64) if array.dtype.kind != "i" else array for name, array in sample.items()}
        return self.twin(wide, rows / few)


def _draw(rng: np.random.Generator, how: str, few: int, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    if how == "classes":
        return rng.integers(0, columns, few).astype(np.int32)
    if how == "gain":
        return rng.standard_normal(columns).astype(dtype)
    if how == "losses":
        return rng.random(min(rows, 1 << 20), np.float32)
    x = rng.standard_normal((few, columns)) * 3.0
    if how == "normal":
        return x.astype(dtype)
    if how == "share":
        return (1.0 / (1.0 + np.exp(-x))).astype(dtype)
    log_p = x - x.max(1, keepdims=True)
    log_p -= np.log(np.exp(log_p).sum(1, keepdims=True))
    return (log_p if how == "log_probability" else np.exp(log_p)).astype(dtype)


def worst_error(got: Arrays, expected: Arrays, dtype: str) -> float:
    """The largest error over what is allowed, of the elements that `expected` has."""
    worst = 0.0
    for name, wanted in expected.items():
        flat = wanted.reshape(-1)
        array = np.asarray(got[name]).reshape(-1)[: flat.size].astype(np.float64)
        bound = BOUNDS["f32" if np.asarray(got[name]).dtype == np.float32 else dtype]
        difference = np.abs(array - flat).max() / (bound * max(np.abs(flat).max(), 1e-30))
        worst = max(worst, float(difference) if np.isfinite(difference) else np.inf)
    return worst


# --- twins ---------------------------------------------------------------------------------------------------


def _log_softmax(x: np.ndarray) -> np.ndarray:
    shifted = x - x.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def _layer_norm(a: Arrays, share: float) -> dict[str, np.ndarray]:
    x = a["X"]
    centred = x - x.mean(1, keepdims=True)
    return {"Y": centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * a["W"] + a["B"]}


def _rms_norm(a: Arrays, share: float) -> dict[str, np.ndarray]:
    x = a["X"]
    return {"Y": x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-6) * a["W"]}


def _kl(a: Arrays, share: float) -> dict[str, np.ndarray]:
    q = a["Q"]
    terms = np.where(q > 0, q * (np.log(np.where(q > 0, q, 1.0)) - a["LogP"]), 0.0)
    return {"Loss": terms.sum(1)}


def _bce(a: Arrays, share: float) -> dict[str, np.ndarray]:
    x, y = a["X"], a["Y"]
    return {"Loss": (np.maximum(x, 0) - x * y + np.log1p(np.exp(-np.abs(x)))).mean(1)}


def _batch_loss(a: Arrays, share: float) -> dict[str, np.ndarray]:
    log_p = _log_softmax(a["X"])
    rows = np.arange(len(log_p))
    gradient = np.exp(log_p)
    gradient[rows, a["T"]] -= 1.0
    return {"Mean": np.array([-log_p[rows, a["T"]].mean()]), "X": gradient / (share * len(log_p))}


# --- the table -----------------------------------------------------------------------------------------------


def _torch_batch(torch: Any, a: Mapping[str, Any]) -> Any:
    loss = torch.nn.functional.cross_entropy(a["X"], a["T"])
    return torch.autograd.grad(loss, a["X"])[0]


_FILE = "tests/bench/forward.ph"
FORWARD = (
    Case("softmax_rows", _FILE, {"X": "normal"}, lambda a, share: {"Y": np.exp(_log_softmax(a["X"]))},
         lambda torch, a: torch.softmax(a["X"], -1), lambda ops, a: ops.LigerSoftmaxFunction.apply(a["X"])),
    Case("log_softmax_rows", _FILE, {"X": "normal"}, lambda a, share: {"Y": _log_softmax(a["X"])},
         lambda torch, a: torch.log_softmax(a["X"], -1)),
    Case("layer_norm_rows", _FILE, {"X": "normal", "W": "gain", "B": "gain"}, _layer_norm,
         lambda torch, a: torch.nn.functional.layer_norm(a["X"], a["W"].shape, a["W"], a["B"]),
         lambda ops, a: ops.LigerLayerNormFunction.apply(a["X"], a["W"], a["B"], 1e-5)),
    Case("rms_norm_rows", _FILE, {"X": "normal", "W": "gain"}, _rms_norm,
         lambda torch, a: torch.nn.functional.rms_norm(a["X"], a["W"].shape, a["W"], 1e-6),
         lambda ops, a: ops.LigerRMSNormFunction.apply(a["X"], a["W"], 1e-6)),
    Case("mse_rows", _FILE, {"A": "normal", "B": "normal"},
         lambda a, share: {"Loss": ((a["A"] - a["B"]) ** 2).mean(1)},
         lambda torch, a: torch.nn.functional.mse_loss(a["A"].float(), a["B"].float(), reduction="none").mean(-1)),
    Case("kl_rows", _FILE, {"LogP": "log_probability", "Q": "probability"}, _kl,
         lambda torch, a: torch.nn.functional.kl_div(a["LogP"].float(), a["Q"].float(), reduction="none").sum(-1)),
    Case("bce_rows", _FILE, {"X": "normal", "Y": "share"}, _bce,
         lambda torch, a: torch.nn.functional.binary_cross_entropy_with_logits(
             a["X"].float(), a["Y"].float(), reduction="none").mean(-1)),
    Case("sum_losses", "examples/sum_losses.ph", {"Loss": "losses"},
         lambda a, share: {"Total": np.array([a["Loss"].sum() * share])},
         lambda torch, a: a["Loss"].sum(), shapes=((1 << 26, 1),), dtypes=("f32",)),
    Case("batch_loss", "examples/batch_loss.ph", {"X": "normal", "T": "classes"}, _batch_loss, _torch_batch,
         shapes=((8192, 32768),), dtypes=("f32",)),
)  # fmt: skip


# --- the training loss ---------------------------------------------------------------------------------------


def train_expected(x: np.ndarray, t: np.ndarray, alpha: float, beta: float) -> tuple[np.ndarray, np.ndarray]:
    """Loss and gradient of each row of the training loss in float64."""
    from tests.bench.peers import exact_training

    loss, gradient = exact_training(x, t[:, None], alpha, beta, 1.0)
    return loss[:, 0], gradient


def train_error(
    loss: np.ndarray | None,
    gradient: np.ndarray,
    sample: np.ndarray,
    targets: np.ndarray,
    alpha: float,
    beta: float,
    dtype: str,
) -> float:
    """The worst error over what is allowed: of the gradient a few roundings of the storage type, of the loss of f32.

    No loss: only the gradient."""
    wanted_loss, wanted = train_expected(sample, targets, alpha, beta)
    of_gradient = np.abs(gradient.reshape(sample.shape).astype(np.float64) - wanted).max()
    of_loss = 0.0 if loss is None else np.abs(loss.astype(np.float64) - wanted_loss).max()
    worst = float(max(of_gradient / {"f32": 2e-6, "f16": 1e-3, "bf16": 8e-3}[dtype], of_loss / 2e-5))
    return worst if np.isfinite(worst) else np.inf
