"""The training losses: each function's twin, torch equal and arguments; `tests/std/test_training.py` runs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch.nn import functional as F

from tests.reference import training
from tests.reference.table import distribution, log_probabilities, normal, targets, uniform

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
Tensor = torch.Tensor
DIMS = {"tile": "[M, C]", "column": "[M, 1]", "classes": "[M, 1]", "feature": "[C]"}


@dataclass(frozen=True, slots=True)
class Input:
    """An argument: "tile" ([M, C]), "column" ([M, 1]), "feature" ([C]), "classes" ([M, 1], integers) or "scalar"
    (`value`). `is_constant`: it is a label, without a gradient."""

    name: str
    kind: str = "tile"
    draw: Draw | None = None
    value: float = 0.0
    is_constant: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """A function of the library whose result is a `[M, 1]` column (or a "tile", or a "scalar" for the whole tile).
    `torch` is its equal, of float64 arguments in the same order, written out where torch has none."""

    function: str
    inputs: tuple[Input, ...]
    torch: Callable[..., Tensor]
    result: str = "column"
    label: str = ""
    twin: Callable[..., np.ndarray] | None = field(default=None)
    form: str = "expression"

    @property
    def name(self) -> str:
        return self.function + self.label

    def expected(self, *arguments: np.ndarray | float) -> np.ndarray:
        return (self.twin or getattr(training, self.function))(*arguments)


def signs(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.choice([-1.0, 1.0], shape)


def flags(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return (rng.random(shape) < 0.4).astype(np.float64)


def counts(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.poisson(1.5, shape).astype(np.float64)


def negative(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return -np.exp(rng.standard_normal(shape))


def s(name: str, value: float) -> Input:
    return Input(name, "scalar", value=float(np.float32(value)))


def column(name: str, draw: Draw) -> Input:
    return Input(name, "column", draw)


X = Input("X", draw=normal(3.0))
T = Input("T", "classes")
A, B = Input("A", draw=normal(2.0)), Input("B", draw=normal(2.0))
W = Input("W", "feature", uniform(0.5, 1.5))
FLAGS = Input("Y", draw=flags, is_constant=True)
SIGNS = Input("Y", draw=signs, is_constant=True)
LABELS = Input("Y", draw=targets)
LOGP, LOGQ = Input("LogP", draw=log_probabilities), Input("LogQ", draw=log_probabilities)
PROBABILITY = Input("P", draw=uniform(0.05, 0.95))


def _t(target: Tensor) -> Tensor:
    return target[:, 0].long()


def _mean(values: Tensor) -> Tensor:
    return values.mean(-1, keepdim=True)


def _sum(values: Tensor) -> Tensor:
    return values.sum(-1, keepdim=True)


def _cross_entropy(x: Tensor, t: Tensor, **options: object) -> Tensor:
    return F.cross_entropy(x, _t(t), reduction="none", **options)[:, None]


def _smooth_weighted(x: Tensor, t: Tensor, smoothing: float, w: Tensor) -> Tensor:
    below = -F.log_softmax(x, -1).detach()
    slope = (1 - smoothing) * w[t.long()] * below.gather(1, t.long()) + smoothing * _mean(w * below)
    return _cross_entropy(x, t, weight=w.detach(), label_smoothing=smoothing) + _only_slope(slope)


def _only_slope(value: Tensor) -> Tensor:
    """0 with a slope, for arguments that torch's function does not differentiate."""
    return value - value.detach()


def _focal(x: Tensor, t: Tensor, gamma: float = 2.0) -> Tensor:
    loss = _cross_entropy(x, t)
    return (1 - torch.exp(-loss)) ** gamma * loss


def _sigmoid_focal(x: Tensor, y: Tensor, alpha: float = 0.25, gamma: float = 2.0) -> Tensor:
    """As torchvision writes it."""
    p = torch.sigmoid(x)
    loss = F.binary_cross_entropy_with_logits(x, y, reduction="none")
    loss = loss * (1 - (p * y + (1 - p) * (1 - y))) ** gamma
    return _mean(loss if alpha < 0 else (alpha * y + (1 - alpha) * (1 - y)) * loss)


def _entropy(x: Tensor) -> Tensor:
    return torch.distributions.Categorical(logits=x).entropy()[:, None]


def _kl(p: Tensor, q: Tensor) -> Tensor:
    return _sum(F.kl_div(p, q, reduction="none", log_target=True))


def _js(p: Tensor, q: Tensor, beta: float = 0.5) -> Tensor:
    m = (beta * p.exp() + (1 - beta) * q.exp()).log()
    return beta * _kl(m, p) + (1 - beta) * _kl(m, q)


def _distill(x: Tensor, y: Tensor, temperature: float = 1.0) -> Tensor:
    return temperature**2 * _kl(F.log_softmax(x / temperature, -1), F.log_softmax(y / temperature, -1))


def _lists(y: Tensor) -> Tensor:
    """Flags as torch's lists of classes, closed by -1."""
    order = torch.argsort(-y, dim=1, stable=True)
    return torch.where(torch.gather(y, 1, order) > 0.5, order, -1)


def _dpo(c: Tensor, r: Tensor, a: Tensor, b: Tensor, beta: float = 0.1, smoothing: float = 0.0) -> Tensor:
    z = beta * ((c - r) - (a - b))
    return -F.logsigmoid(z) * (1 - smoothing) - F.logsigmoid(-z) * smoothing


def _orpo(c: Tensor, r: Tensor, beta: float = 0.1) -> Tensor:
    log_odds = (c - r) - (torch.log1p(-c.exp()) - torch.log1p(-r.exp()))
    return -c - beta * F.logsigmoid(log_odds)


def _kto(
    logp: Tensor, ref: Tensor, kl: Tensor, y: Tensor, beta: float = 0.1, good: float = 1.0, bad: float = 1.0
) -> Tensor:
    r = logp - ref
    return torch.where(y > 0.5, good * (1 - (beta * (r - kl)).sigmoid()), bad * (1 - (beta * (kl - r)).sigmoid()))


def _ppo(logp: Tensor, old: Tensor, advantage: Tensor, low: float = 0.2, high: float = 0.2) -> Tensor:
    ratio = torch.exp(logp - old)
    return -torch.min(ratio * advantage, torch.clamp(ratio, 1 - low, 1 + high) * advantage)


def _k3(logp: Tensor, ref: Tensor) -> Tensor:
    return torch.exp(ref - logp) - (ref - logp) - 1


def _grpo(
    logp: Tensor, old: Tensor, ref: Tensor, advantage: Tensor, beta: float = 0.04, low: float = 0.2, high: float = 0.2
) -> Tensor:
    return _ppo(logp, old, advantage, low, high) + beta * _k3(logp, ref)


def _balance(x: Tensor, chosen: Tensor | None = None) -> Tensor:
    if chosen is None:
        chosen = F.one_hot(torch.argmax(x, -1), x.shape[1]).double()
    return (x.shape[1] * (chosen.mean(0) * torch.softmax(x, -1).mean(0)).sum())[None, None]


def _tversky(p: Tensor, y: Tensor, alpha: float = 0.5, beta: float = 0.5, smooth: float = 1.0) -> Tensor:
    both = _sum(p * y) + smooth
    return 1 - both / (both + alpha * _sum(p * (1 - y)) + beta * _sum((1 - p) * y))


CLASSIFICATION = (
    Loss("cross_entropy_smooth", (X, T, s("smoothing", 0.1)), lambda x, t, a: _cross_entropy(x, t, label_smoothing=a)),
    Loss("cross_entropy_smooth", (X, T, s("smoothing", 0.1), W), _smooth_weighted, label="-weighted"),
    Loss("cross_entropy_weighted", (X, T, W), lambda x, t, w: _smooth_weighted(x, t, 0.0, w)),
    Loss(
        "cross_entropy_soft",
        (X, Input("Q", draw=distribution)),
        lambda x, q: F.cross_entropy(x, q, reduction="none")[:, None],
    ),
    Loss("z_loss", (X, s("beta", 0.01)), lambda x, b: b * torch.logsumexp(x, -1, keepdim=True) ** 2),
    Loss("softcap", (X, s("cap", 2.5)), lambda x, cap: cap * torch.tanh(x / cap), "tile"),
    Loss("training_cross_entropy", (X, T), _cross_entropy, label="-plain"),
    Loss(
        "training_cross_entropy",
        (X, T, s("smoothing", 0.2), s("z", 0.01)),
        lambda x, t, a, z: _cross_entropy(x, t, label_smoothing=a) + z * torch.logsumexp(x, -1, keepdim=True) ** 2,
    ),
    Loss("focal_loss", (X, T), _focal),
    Loss("focal_loss", (X, T, s("gamma", 0.5)), _focal, label="-gamma"),
    Loss("sigmoid_focal_loss", (X, FLAGS), _sigmoid_focal),
    Loss("sigmoid_focal_loss", (X, FLAGS, s("alpha", -1.0), s("gamma", 1.5)), _sigmoid_focal, label="-all"),
    Loss(
        "binary_cross_entropy_with_logits",
        (X, LABELS, W),
        lambda x, y, w: _mean(
            F.binary_cross_entropy_with_logits(x, y, pos_weight=w.detach(), reduction="none")
            + _only_slope(w * (y * F.softplus(-x)).detach())
        ),
    ),
    Loss(
        "binary_cross_entropy",
        (PROBABILITY, Input("Y", draw=targets)),
        lambda p, y: _mean(
            F.binary_cross_entropy(p, y.detach(), reduction="none") + _only_slope(-y * torch.logit(p).detach())
        ),
    ),
    Loss("info_nce", (X, T, s("temperature", 0.5)), lambda x, t, temperature: _cross_entropy(x / temperature, t)),
    Loss("softmax_entropy", (X,), _entropy),
    Loss("class_logp", (X, T), lambda x, t: -_cross_entropy(x, t)),
    Loss("weighted", (column("L", normal()), column("W", flags)), lambda loss, w: loss * w),
)


REGRESSION = (
    Loss("huber_loss", (A, B), lambda a, b: _mean(F.huber_loss(a, b, reduction="none"))),
    Loss(
        "huber_loss",
        (A, B, s("delta", 2.5)),
        lambda a, b, d: _mean(F.huber_loss(a, b, delta=d, reduction="none")),
        label="-delta",
    ),
    Loss("log_cosh_loss", (A, B), lambda a, b: _mean(torch.log(torch.cosh(a - b)))),
    Loss("quantile_loss", (A, B, s("q", 0.9)), lambda a, b, q: _mean(torch.maximum(q * (b - a), (q - 1) * (b - a)))),
    Loss(
        "gaussian_nll_loss",
        (A, B, Input("V", draw=uniform(0.01, 2.0)), s("eps", 0.5)),
        lambda a, b, v, eps: _mean(F.gaussian_nll_loss(a, b, v, eps=eps, reduction="none")),
    ),
    Loss(
        "poisson_nll_loss", (A, Input("Y", draw=counts)), lambda a, b: _mean(F.poisson_nll_loss(a, b, reduction="none"))
    ),
    Loss(
        "poisson_rate_nll_loss",
        (Input("A", draw=uniform(0.1, 4.0)), Input("Y", draw=counts)),
        lambda a, b: _mean(F.poisson_nll_loss(a, b, log_input=False, reduction="none")),
    ),
)

DIVERGENCES = (
    Loss("kl_div_log_target", (LOGP, LOGQ), _kl),
    Loss("js_div", (LOGP, LOGQ), _js),
    Loss("js_div", (LOGP, LOGQ, s("beta", 0.8)), _js, label="-beta"),
    Loss("distillation_loss", (A, B), _distill),
    Loss("distillation_loss", (A, B, s("temperature", 2.5)), _distill, label="-temperature"),
)

RANKING = (
    Loss("hinge_loss", (X, SIGNS), lambda x, y: _mean(torch.clamp(1 - y * x, min=0))),
    Loss("squared_hinge_loss", (X, SIGNS), lambda x, y: _mean(torch.clamp(1 - y * x, min=0) ** 2)),
    Loss(
        "hinge_embedding_loss",
        (X, SIGNS, s("margin", 1.5)),
        lambda x, y, m: _mean(F.hinge_embedding_loss(x, y, margin=m, reduction="none")),
    ),
    Loss("soft_margin_loss", (X, SIGNS), lambda x, y: _mean(F.soft_margin_loss(x, y, reduction="none"))),
    Loss("multi_margin_loss", (X, T), lambda x, t: F.multi_margin_loss(x, _t(t), reduction="none")[:, None]),
    Loss(
        "squared_multi_margin_loss",
        (X, T, s("margin", 0.5)),
        lambda x, t, m: F.multi_margin_loss(x, _t(t), p=2, margin=m, reduction="none")[:, None],
    ),
    Loss(
        "multilabel_margin_loss",
        (X, FLAGS),
        lambda x, y: F.multilabel_margin_loss(x, _lists(y), reduction="none")[:, None],
    ),
    Loss(
        "multilabel_soft_margin_loss",
        (X, LABELS),
        lambda x, y: F.multilabel_soft_margin_loss(x, y, reduction="none")[:, None],
    ),
    Loss(
        "margin_ranking_loss",
        (A, B, SIGNS, s("margin", 0.3)),
        lambda a, b, y, m: _mean(F.margin_ranking_loss(a, b, y, margin=m, reduction="none")),
    ),
    Loss(
        "triplet_margin_loss",
        (A, B, Input("N", draw=normal(2.0)), s("margin", 2.0)),
        lambda a, p, n, m: F.triplet_margin_loss(a, p, n, margin=m, reduction="none")[:, None],
    ),
    Loss(
        "cosine_embedding_loss",
        (A, B, Input("Y", "column", signs, is_constant=True), s("margin", -0.5)),
        lambda a, b, y, m: F.cosine_embedding_loss(a, b, y[:, 0], margin=m, reduction="none")[:, None],
    ),
)

SEGMENTATION = (
    Loss("dice_loss", (PROBABILITY, LABELS), lambda p, y: 1 - (2 * _sum(p * y) + 1) / (_sum(p) + _sum(y) + 1)),
    Loss("tversky_loss", (PROBABILITY, LABELS), _tversky),
    Loss(
        "tversky_loss",
        (PROBABILITY, LABELS, s("alpha", 0.3), s("beta", 0.9), s("smooth", 0.5)),
        _tversky,
        label="-weights",
    ),
)

CHOSEN, REJECTED = column("Chosen", normal(2.0, -4.0)), column("Rejected", normal(2.0, -6.0))
REF_C, REF_R = column("RefChosen", normal(2.0, -4.0)), column("RefRejected", normal(2.0, -6.0))
TOKENS, OLD, REF = (column(name, normal(0.4, -2.0)) for name in ("Logp", "Old", "Ref"))
ADVANTAGE = column("Advantage", normal())
WANTED = Input("Y", "column", flags, is_constant=True)
KL = Input("Kl", "column", uniform(0.0, 1.0), is_constant=True)
ODDS = tuple(column(name, negative) for name in ("Chosen", "Rejected"))

POLICY = (
    Loss("dpo_loss", (CHOSEN, REJECTED, REF_C, REF_R), _dpo),
    Loss("dpo_loss", (CHOSEN, REJECTED, REF_C, REF_R, s("beta", 0.5), s("smoothing", 0.2)), _dpo, label="-smooth"),
    Loss("simpo_loss", (CHOSEN, REJECTED), lambda c, r: -F.logsigmoid(2 * (c - r) - 1)),
    Loss("orpo_loss", ODDS, _orpo),
    Loss("orpo_loss", (*ODDS, s("beta", 1.5)), _orpo, label="-beta"),
    Loss("kto_loss", (CHOSEN, REF_C, KL, WANTED, s("beta", 0.7), s("good", 1.5), s("bad", 0.5)), _kto),
    Loss("ppo_loss", (TOKENS, OLD, ADVANTAGE), _ppo),
    Loss("ppo_loss", (TOKENS, OLD, ADVANTAGE, s("low", 0.1), s("high", 0.3)), _ppo, label="-range"),
    Loss("kl_estimate", (TOKENS, REF), _k3),
    Loss("grpo_loss", (TOKENS, OLD, REF, ADVANTAGE, s("beta", 0.5)), _grpo),
)

ROUTERS = (
    Loss("router_z_loss", (X,), lambda x: torch.logsumexp(x, -1, keepdim=True) ** 2),
    Loss("load_balance_loss", (X, FLAGS), _balance, "scalar"),
    Loss("load_balance_loss", (X,), _balance, "scalar", label="-first"),
)

LOSSES = CLASSIFICATION + REGRESSION + DIVERGENCES + RANKING + SEGMENTATION + POLICY + ROUTERS
