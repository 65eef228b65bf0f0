"""The table of the library: each public function, its twin, what it equals in torch, its inputs and what it owes.

A row is data; `tests/std` builds a kernel around the function from it. A public function of `std/*.ph` without a row
fails there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from tests.reference import activation, activation_bounds, loss_bounds, losses, norm, softmax
from tests.reference.activation_bounds import roundings

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument. `kind`: "tile" ([M, C], of the dtype under test), "classes" ([M, 1] i32), "feature" ([C] f32) or
    "scalar" (f32, `value`). `draw` makes values of the function's domain; `low` and `high` bound that domain for tests
    that choose values themselves."""

    name: str
    kind: str = "tile"
    draw: Draw | None = None
    value: float = 0.0
    low: float = -np.inf
    high: float = np.inf


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One function. `form`: "expression" or "statement". `result`: "column" ([M, 1], f32) or "tile" ([M, C], the dtype
    under test). `bound` takes the twin's arguments and gives the absolute error owed in f32. `logits`: the first
    argument is logits, so masked classes and shifts apply. `torch_error`: what torch's float64 result may be off by,
    times the first argument's size, where its formula cancels and ours does not."""

    function: str
    arguments: tuple[Argument, ...]
    twin: Callable[..., np.ndarray]
    torch: Callable[..., torch.Tensor]
    bound: Callable[..., np.ndarray]
    form: str = "expression"
    result: str = "column"
    logits: bool = False
    torch_error: float = 0.0

    @property
    def label(self) -> str:
        """A name for test ids, unique in the table."""
        return "-".join([self.function, self.form, *(argument.name for argument in self.arguments)])


@dataclass(frozen=True, slots=True)
class Normal:
    """A draw of numbers that may be any."""

    scale: float
    offset: float

    def __call__(self, rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        return self.offset + self.scale * rng.standard_normal(shape)


def normal(scale: float = 1.0, offset: float = 0.0) -> Draw:
    return Normal(scale, offset)


def uniform(low: float, high: float) -> Draw:
    return lambda rng, shape: rng.uniform(low, high, shape)


def targets(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Probabilities with some exact zeros and ones."""
    values = rng.uniform(0.0, 1.0, shape)
    return np.where(values < 0.1, 0.0, np.where(values > 0.9, 1.0, values))


def distribution(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Rows of probabilities, some of them exactly 0."""
    weights = np.exp(3 * rng.standard_normal(shape)) * (rng.uniform(size=shape) > 0.1)
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-30)


def log_probabilities(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return softmax.log_softmax(3 * rng.standard_normal(shape))


def wide(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Both signs, sizes from 1e-6 to 100."""
    return rng.choice([-1.0, 1.0], shape) * 10.0 ** rng.uniform(-6, 2, shape)


LOGITS = Argument("X", draw=normal(4.0))
CLASSES = Argument("Target", "classes")
A = Argument("A", draw=normal())
B = Argument("B", draw=normal())
X = Argument("X", draw=wide)
W = Argument("W", "feature", uniform(0.5, 1.5))
BIAS = Argument("Bias", "feature", normal())
OFFSET = Argument("X", draw=normal(2.0, 3.0))


def scalar(name: str, value: float) -> Argument:
    return Argument(name, "scalar", value=float(np.float32(value)))


def _classes(target: torch.Tensor) -> torch.Tensor:
    return target[:, 0].long()


def _column(values: torch.Tensor) -> torch.Tensor:
    return values[:, None]


def _row_mean(values: torch.Tensor) -> torch.Tensor:
    return values.mean(dim=-1, keepdim=True)


def _cross_entropy(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return _column(functional.cross_entropy(x, _classes(target), reduction="none"))


LOSSES = (
    Row(
        "cross_entropy",
        (LOGITS, CLASSES),
        losses.cross_entropy,
        _cross_entropy,
        loss_bounds.cross_entropy,
        "statement",
        logits=True,
    ),
    Row(
        "cross_entropy", (LOGITS, CLASSES), losses.cross_entropy, _cross_entropy, loss_bounds.cross_entropy, logits=True
    ),
    Row(
        "nll_loss",
        (Argument("LogP", draw=log_probabilities), CLASSES),
        losses.nll_loss,
        lambda p, t: _column(functional.nll_loss(p, _classes(t), reduction="none")),
        loss_bounds.nll_loss,
    ),
    Row(
        "mse_loss",
        (A, B),
        losses.mse_loss,
        lambda a, b: _row_mean(functional.mse_loss(a, b, reduction="none")),
        loss_bounds.mse_loss,
    ),
    Row(
        "l1_loss",
        (A, B),
        losses.l1_loss,
        lambda a, b: _row_mean(functional.l1_loss(a, b, reduction="none")),
        loss_bounds.l1_loss,
    ),
    Row(
        "smooth_l1_loss",
        (A, B, scalar("beta", 0.7)),
        losses.smooth_l1_loss,
        lambda a, b, beta: _row_mean(functional.smooth_l1_loss(a, b, beta=beta, reduction="none")),
        loss_bounds.smooth_l1_loss,
    ),
    Row(
        "kl_div",
        (Argument("LogP", draw=log_probabilities), Argument("Q", draw=distribution, low=0.0, high=1.0)),
        losses.kl_div,
        lambda p, q: functional.kl_div(p, q, reduction="none").sum(dim=-1, keepdim=True),
        loss_bounds.kl_div,
    ),
    Row(
        "binary_cross_entropy_with_logits",
        (LOGITS, Argument("Y", draw=targets, low=0.0, high=1.0)),
        losses.binary_cross_entropy_with_logits,
        lambda x, y: _row_mean(functional.binary_cross_entropy_with_logits(x, y, reduction="none")),
        loss_bounds.binary_cross_entropy_with_logits,
    ),
)

SOFTMAX = (
    Row(
        "logsumexp",
        (LOGITS,),
        softmax.logsumexp,
        lambda x: torch.logsumexp(x, dim=-1, keepdim=True),
        loss_bounds.logsumexp,
        "statement",
        logits=True,
    ),
    Row(
        "softmax",
        (LOGITS,),
        softmax.softmax,
        lambda x: functional.softmax(x, dim=-1),
        loss_bounds.softmax,
        result="tile",
        logits=True,
    ),
    Row(
        "softmax",
        (LOGITS,),
        softmax.softmax,
        lambda x: functional.softmax(x, dim=-1),
        loss_bounds.softmax,
        "statement",
        "tile",
        logits=True,
    ),
    Row(
        "log_softmax",
        (LOGITS,),
        softmax.log_softmax,
        lambda x: functional.log_softmax(x, dim=-1),
        loss_bounds.log_softmax,
        result="tile",
        logits=True,
    ),
    Row(
        "log_softmax",
        (LOGITS,),
        softmax.log_softmax,
        lambda x: functional.log_softmax(x, dim=-1),
        loss_bounds.log_softmax,
        "statement",
        "tile",
        logits=True,
    ),
    Row(
        "softmin",
        (LOGITS,),
        softmax.softmin,
        lambda x: functional.softmin(x, dim=-1),
        lambda x: loss_bounds.softmax(-x),
        result="tile",
    ),
)

NORMS = (
    Row(
        "layer_norm",
        (OFFSET,),
        norm.layer_norm,
        lambda x: functional.layer_norm(x, x.shape[1:]),
        loss_bounds.layer_norm,
        result="tile",
    ),
    Row(
        "layer_norm",
        (OFFSET, W, BIAS),
        norm.layer_norm,
        lambda x, w, b: functional.layer_norm(x, x.shape[1:], w, b),
        loss_bounds.layer_norm,
        result="tile",
    ),
    Row(
        "layer_norm",
        (OFFSET, W, BIAS, scalar("eps", 0.01)),
        norm.layer_norm,
        lambda x, w, b, eps: functional.layer_norm(x, x.shape[1:], w, b, eps),
        loss_bounds.layer_norm,
        result="tile",
    ),
    Row(
        "rms_norm",
        (OFFSET,),
        norm.rms_norm,
        lambda x: functional.rms_norm(x, x.shape[1:], eps=2.0**-23),
        loss_bounds.rms_norm,
        result="tile",
    ),
    Row(
        "rms_norm",
        (OFFSET, W),
        norm.rms_norm,
        lambda x, w: functional.rms_norm(x, x.shape[1:], w, eps=2.0**-23),
        loss_bounds.rms_norm,
        result="tile",
    ),
    Row(
        "normalize",
        (OFFSET,),
        norm.normalize,
        lambda x: functional.normalize(x, dim=-1),
        loss_bounds.normalize,
        result="tile",
    ),
    Row(
        "batch_norm",
        (OFFSET, Argument("Mean", "feature", normal()), Argument("Variance", "feature", uniform(0.1, 2.0)), W, BIAS),
        norm.batch_norm,
        lambda x, mean, variance, w, b: functional.batch_norm(x, mean, variance, w, b),
        loss_bounds.batch_norm,
        result="tile",
    ),
    Row(
        "cosine_similarity",
        (A, B),
        norm.cosine_similarity,
        lambda a, b: functional.cosine_similarity(a, b, dim=-1)[:, None],
        loss_bounds.cosine_similarity,
    ),
)


def _activation(
    function: str,
    equal: Callable[..., torch.Tensor],
    bound: Callable[..., np.ndarray] | None = None,
    *more: Argument,
    draw: Draw = wide,
    low: float = -np.inf,
    high: float = np.inf,
    torch_error: float = 0.0,
) -> Row:
    """An elementwise row; without a bound the function rounds nothing."""
    twin = getattr(activation, function)
    arguments = (Argument("X", draw=draw, low=low, high=high), *more)
    return Row(function, arguments, twin, equal, bound or roundings(twin, 0), result="tile", torch_error=torch_error)


ACTIVATIONS = (
    _activation("relu", functional.relu),
    _activation("relu6", functional.relu6),
    _activation("leaky_relu", functional.leaky_relu, roundings(activation.leaky_relu, 2)),
    _activation("leaky_relu", functional.leaky_relu, roundings(activation.leaky_relu, 1), scalar("slope", 0.2)),
    _activation("prelu", functional.prelu, roundings(activation.prelu, 1), Argument("W", "feature", uniform(0.1, 0.5))),
    _activation(
        "threshold",
        lambda x, bound, value: functional.threshold(x, bound, value),
        None,
        scalar("bound", 0.1),
        scalar("value", 20.0),
    ),
    _activation("elu", functional.elu, activation_bounds.elu),
    _activation("elu", functional.elu, activation_bounds.elu, scalar("alpha", 1.7)),
    _activation("selu", functional.selu, activation_bounds.selu),
    _activation("celu", functional.celu, activation_bounds.celu, scalar("alpha", 1.7)),
    _activation("gelu", functional.gelu, activation_bounds.gelu, torch_error=2.0**-52),
    _activation(
        "gelu_tanh", lambda x: functional.gelu(x, approximate="tanh"), activation_bounds.gelu_tanh, torch_error=2.0**-52
    ),
    _activation("silu", functional.silu, activation_bounds.silu),
    _activation("mish", functional.mish, activation_bounds.mish),
    _activation("hardtanh", functional.hardtanh),
    _activation("hardtanh", functional.hardtanh, None, scalar("low", -0.25), scalar("high", 0.75)),
    _activation("hardsigmoid", functional.hardsigmoid, activation_bounds.hardsigmoid),
    _activation("hardswish", functional.hardswish, activation_bounds.hardswish),
    _activation("hardshrink", functional.hardshrink),
    _activation("hardshrink", functional.hardshrink, None, scalar("bound", 1.5)),
    _activation("softshrink", functional.softshrink, activation_bounds.softshrink),
    _activation("softshrink", functional.softshrink, activation_bounds.softshrink, scalar("bound", 1.5)),
    _activation("softsign", functional.softsign, activation_bounds.softsign),
    _activation("tanhshrink", functional.tanhshrink, activation_bounds.tanhshrink, torch_error=2.0**-52),
    _activation("logsigmoid", functional.logsigmoid, activation_bounds.logsigmoid),
    _activation(
        "softplus",
        lambda x, beta: functional.softplus(x, beta, threshold=1e6),
        activation_bounds.softplus,
        scalar("beta", 2.5),
        low=-1e37,
        high=1e37,  # beta times x must not overflow
    ),
    Row(
        "glu",
        # A gate that vanishes in f32 and not in float64 must not meet an infinity
        (Argument("A", draw=normal(), low=-1e6, high=1e6), Argument("B", draw=normal(4.0), low=-80.0, high=1e37)),
        activation.glu,
        lambda a, b: functional.glu(torch.cat((a, b), dim=-1), dim=-1),
        activation_bounds.glu,
        result="tile",
    ),
)

ROWS = LOSSES + SOFTMAX + NORMS + ACTIVATIONS
