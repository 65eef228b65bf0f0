"""Expressions of the tile language beside the same in torch."""

from __future__ import annotations

from dataclasses import dataclass

import torch

F = torch.nn.functional


@dataclass(frozen=True)
class Case:
    """`expression` of x, y, w, c, s, t (see `harness.INPUTS`); `torch` takes them by name."""

    name: str
    expression: str
    torch: object
    wrt: tuple[str, ...] = ("x",)
    positive: bool = False
    """Whether it wants numbers above 0."""
    has_literals: bool = False
    """Whether it has numbers that f32 rounds."""


CASES = [
    # elementwise
    Case("add", "x + y", lambda x, y, **_: x + y, ("x", "y")),
    Case("sub", "x - c", lambda x, c, **_: x - c, ("x", "c")),
    Case("mul", "x * y * w", lambda x, y, w, **_: x * y * w, ("x", "y", "w")),
    Case("mul self", "x * x * x", lambda x, **_: x**3),
    Case("scalar factor", "s * x * c", lambda x, s, c, **_: s * x * c, ("x", "s", "c")),
    Case("div", "x / y", lambda x, y, **_: x / y, ("x", "y"), positive=True),
    Case("div by column", "x / c", lambda x, c, **_: x / c, ("x", "c"), positive=True),
    Case("div of column", "c / x", lambda x, c, **_: c / x, ("x", "c"), positive=True),
    Case("neg", "-x", lambda x, **_: -x),
    Case(
        "min max", "min(x, y) * max(x, w)",
        lambda x, y, w, **_: torch.minimum(x, y) * torch.maximum(x, w), ("x", "y", "w"),
    ),
    Case("clamp", "clamp(x, -0.5, s)", lambda x, s, **_: torch.clamp(torch.clamp(x, min=-0.5), max=s), ("x",)),
    Case("abs", "abs(x) * w", lambda x, w, **_: x.abs() * w, ("x", "w")),
    Case("square", "square(x - w)", lambda x, w, **_: (x - w) ** 2, ("x", "w")),
    Case("floor is flat", "floor(x) * x", lambda x, **_: x.floor() * x),
    Case(
        "where", "where(x > y, x * y, square(w))",
        lambda x, y, w, **_: torch.where(x > y, x * y, w**2), ("x", "y", "w"),
    ),
    Case("sqrt", "sqrt(x) * y", lambda x, y, **_: x.sqrt() * y, ("x", "y"), positive=True),
    Case("rsqrt", "rsqrt(x)", lambda x, **_: x.rsqrt(), positive=True),
    Case("exp", "exp(x * w)", lambda x, w, **_: (x * w).exp(), ("x", "w")),
    Case("exp2 expm1", "exp2(x) + expm1(y)", lambda x, y, **_: x.exp2() + y.expm1(), ("x", "y")),
    Case(
        "logs", "log(x) * log2(y) + log1p(x)",
        lambda x, y, **_: x.log() * y.log2() + x.log1p(), ("x", "y"), positive=True,
    ),
    Case("logaddexp", "logaddexp(x, y)", lambda x, y, **_: torch.logaddexp(x, y), ("x", "y")),
    Case("pow", "pow(x, y)", lambda x, y, **_: x**y, ("x", "y"), positive=True),
    Case("trigonometry", "sin(x) * cos(y)", lambda x, y, **_: x.sin() * y.cos(), ("x", "y")),
    Case("tanh", "tanh(x * s)", lambda x, s, **_: (x * s).tanh(), ("x", "s")),
    Case("sigmoid", "sigmoid(x) + softplus(y)", lambda x, y, **_: x.sigmoid() + F.softplus(y), ("x", "y")),
    Case("erf", "erf(x)", lambda x, **_: x.erf()),
    Case("fma", "fma(x, y, w)", lambda x, y, w, **_: x * y + w, ("x", "y", "w")),
    Case("remainder", "x % c", lambda x, c, **_: torch.fmod(x, c), ("x", "c"), positive=True),
    Case("conversion", "f32(x) * f32(t)", lambda x, t, **_: x * t),
    # reductions
    Case("rowsum", "square(rowsum(x * w))", lambda x, w, **_: (x * w).sum(1, keepdim=True) ** 2, ("x", "w")),
    Case("rowmean", "rowmean(square(x)) * c", lambda x, c, **_: (x**2).mean(1, keepdim=True) * c, ("x", "c")),
    Case("rowmax", "rowmax(x * w) * c", lambda x, w, c, **_: (x * w).amax(1, keepdim=True) * c, ("x", "w", "c")),
    Case("rowmin", "rowmin(x)", lambda x, **_: x.amin(1, keepdim=True)),
    Case("rowprod", "rowprod(x)", lambda x, **_: x.prod(1, keepdim=True)),
    Case("rowvar", "rowvar(x) * c", lambda x, c, **_: x.var(1, keepdim=True, unbiased=False) * c, ("x", "c")),
    Case("logsumexp", "logsumexp(x * s)", lambda x, s, **_: (x * s).logsumexp(1, keepdim=True), ("x", "s")),
    Case("colsum", "square(colsum(x))", lambda x, **_: _blocks(x, lambda b: b.sum(0, keepdim=True) ** 2)),
    Case("colmax", "colmax(x) * w", lambda x, w, **_: _blocks(x, lambda b: b.amax(0, keepdim=True) * w), ("x", "w")),
    Case(
        "sum", "square(sum(x * y))",
        lambda x, y, **_: _blocks(torch.stack([x, y], 2), lambda b: b.prod(2).sum() ** 2), ("x", "y"),
    ),
    Case("mean", "square(mean(x))", lambda x, **_: _blocks(x, lambda b: b.mean() ** 2)),
    Case("amax", "amax(x) * s", lambda x, s, **_: _blocks(x, lambda b: b.amax() * s), ("x", "s")),
    Case("var", "var(x)", lambda x, **_: _blocks(x, lambda b: b.var(unbiased=False))),
    Case(
        "logsumexp of columns", "logsumexp(x, axis: 0) * w",
        lambda x, w, **_: _blocks(x, lambda b: b.logsumexp(0, keepdim=True) * w), ("x", "w"),
    ),
    Case(
        "whole logsumexp", "logsumexp(x) * rowsum(y)",
        lambda x, y, **_: x.logsumexp(1, keepdim=True) * y.sum(1, keepdim=True), ("x", "y"),
    ),
    Case("pick", "square(pick(x, t)) * c", lambda x, t, c, **_: x.gather(1, t) ** 2 * c, ("x", "c")),
    Case("pick of a row", "pick(w, t) * x", lambda x, w, t, **_: w[t] * x, ("x", "w")),
    Case("pick by a mask", "rowsum(where(iota(1) == t, square(x), 0.0))", lambda x, t, **_: x.gather(1, t) ** 2),
    Case("onehot", "rowsum(onehot(t, V) * x * x)", lambda x, t, **_: x.gather(1, t) ** 2),
    # rearrangements
    Case("view", "x[:, new, :] * w", lambda x, w, **_: x[:, None, :] * w, ("x", "w")),
    Case("row plus scalar", "(x + s) * w", lambda x, w, s, **_: (x + s) * w, ("x", "s", "w")),
    Case("pad", "rowsum(pad(square(x), s))", lambda x, **_: (x**2), ("x",)),
    # compositions
    Case("softmax", "softmax(x) * y", lambda x, y, **_: x.softmax(1) * y, ("x", "y")),
    Case("log softmax", "log_softmax(x) * y", lambda x, y, **_: x.log_softmax(1) * y, ("x", "y")),
    Case("softmin", "softmin(x) * y", lambda x, y, **_: (-x).softmax(1) * y),
    Case("own softmax", "exp(x) / rowsum(exp(x)) * y", lambda x, y, **_: x.softmax(1) * y, ("x", "y")),
    Case("own logsumexp", "log(rowsum(exp(x - rowmax(x)))) + rowmax(x)", lambda x, **_: x.logsumexp(1, keepdim=True)),
    Case("cross-entropy", "cross_entropy(x, t)", lambda x, t, **_: F.cross_entropy(x, t[:, 0], reduction="none")),
    Case("entropy", "-rowsum(softmax(x) * log_softmax(x))", lambda x, **_: -(x.softmax(1) * x.log_softmax(1)).sum(1)),
    Case(
        "kl", "kl_div(log_softmax(x), softmax(y))",
        lambda x, y, **_: F.kl_div(x.log_softmax(1), y.softmax(1), reduction="none"), ("x", "y"),
    ),
    Case(
        "focal", "square(1.0 - exp(pick(log_softmax(x), t))) * pick(log_softmax(x), t)",
        lambda x, t, **_: _focal(x, t),
    ),
    Case(
        "layer norm", "layer_norm(x, w, w, 1e-5) * y",
        lambda x, y, w, **_: F.layer_norm(x, x.shape[1:], w, w) * y, ("x", "y", "w"), has_literals=True,
    ),
    Case(
        "rms norm", "rms_norm(x, w, 1e-5) * y",
        lambda x, y, w, **_: x * (x.pow(2).mean(1, keepdim=True) + 1e-5).rsqrt() * w * y, ("x", "y", "w"),
        has_literals=True,
    ),
    Case(
        "cosine", "rowsum(x * y) / sqrt(rowsum(x * x) * rowsum(y * y))",
        lambda x, y, **_: F.cosine_similarity(x, y), ("x", "y"),
    ),
    Case("jsd", "_jsd(x, y)", lambda x, y, **_: _jsd(x, y), ("x", "y"),
    ),
    Case("gelu", "gelu(x)", lambda x, **_: F.gelu(x), has_literals=True),
    Case("huber", "huber(x - y)", lambda x, y, **_: F.huber_loss(x, y, reduction="none"), ("x", "y")),
    Case(
        "bce", "binary_cross_entropy_with_logits(x, sigmoid(y))",
        lambda x, y, **_: F.binary_cross_entropy_with_logits(x, y.sigmoid(), reduction="none").mean(1), ("x", "y"),
    ),
    Case(
        "horner", "((x * w + y) * x + w) * x + y",
        lambda x, y, w, **_: ((x * w + y) * x + w) * x + y, ("x", "y", "w"),
    ),
    Case("z-loss", "square(logsumexp(x)) * s", lambda x, s, **_: x.logsumexp(1) ** 2 * s, ("x", "s")),
    Case("soft targets", "-rowsum(y * log_softmax(x))", lambda x, y, **_: -(y * x.log_softmax(1)).sum(1), ("x", "y")),
]  # fmt: skip

FUNCTIONS = """
fn _jsd(x, y) {
  let lp = log_softmax(x)
  let lq = log_softmax(y)
  let p = exp(lp)
  let q = exp(lq)
  let lm = log(0.5 * (p + q))
  return 0.5 * rowsum(p * (lp - lm)) + 0.5 * rowsum(q * (lq - lm))
}
fn huber(d) = where(abs(d) < 1.0, 0.5 * square(d), abs(d) - 0.5)
"""


def _blocks(x, function):
    """The sum of a function of the blocks of 4 rows."""
    return sum(function(x[start : start + 4]).sum() for start in range(0, len(x), 4))


def _focal(x, t):
    logp = x.log_softmax(1).gather(1, t)
    return (1 - logp.exp()) ** 2 * logp


def _jsd(x, y):
    lp, lq = x.log_softmax(1), y.log_softmax(1)
    p, q = lp.exp(), lq.exp()
    lm = (0.5 * (p + q)).log()
    return 0.5 * (p * (lp - lm)).sum(1) + 0.5 * (q * (lq - lm)).sum(1)
