"""Float64 twins of the loss kernels. Each takes a launch's inputs by name and gives, for each output, what it should be
and how far it may be off in f32 (see `tests.reference.bounds` for the parts that the errors are made of)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from tests.reference import activation, bounds, loss_bounds, losses, softmax
from tests.reference.bounds import DIVIDE, SUM, U
from tests.reference.execution import exact

Inputs: TypeAlias = Mapping[str, Any]
Outputs: TypeAlias = "dict[str, tuple[np.ndarray, np.ndarray | float]]"

POW = 8 * 2 * U


def propagated(function: Callable[..., np.ndarray], *operands: tuple[np.ndarray, np.ndarray | float]) -> np.ndarray:
    """How much a function's result may move when each operand does by its error, the others staying."""
    values = [value for value, _ in operands]
    middle = function(*values)
    total = np.zeros_like(middle)
    for index, (value, error) in enumerate(operands):
        moved = [
            np.abs(function(*values[:index], value + sign * error, *values[index + 1 :]) - middle) for sign in (-1, 1)
        ]
        total += np.maximum(*moved)
    return total


def weighted_ce(given: Inputs) -> Outputs:
    raw, classes = exact(given["Logits"]), np.asarray(given["Target"])[:, None]
    weights, cap = exact(given["ClassWeight"]), given["cap"]
    columns = raw.shape[1]
    x = cap * np.tanh(raw / cap) if cap > 0 else raw
    # tanh is 5 ulp, a quotient and a product; an error of x reaches every term at most once
    of_x = (12 * U + DIVIDE) * np.abs(x) if cap > 0 else 0.0 * x
    moved = np.max(of_x, axis=1, keepdims=True, initial=0.0)
    counts = (classes != given["ignore_index"]) & (classes >= 0) & (classes < columns)
    lse, of_lse = softmax.logsumexp(x), loss_bounds.logsumexp(x) + moved
    mine = losses.at_class(np.broadcast_to(weights, x.shape), classes)
    hard, of_hard = mine * losses.cross_entropy(x, classes), mine * (loss_bounds.cross_entropy(x, classes) + 2 * moved)
    terms = weights * (lse - x)
    smooth = terms.mean(axis=1, keepdims=True)
    of_smooth = bounds.row_mean(terms, 2) + np.mean(weights * (of_lse + moved + U * np.abs(lse)), axis=1, keepdims=True)
    penalty, of_penalty = given["z"] * lse**2, given["z"] * (2 * np.abs(lse) * of_lse + 3 * U * lse**2)
    share = given["smoothing"]
    row = exact(given["RowWeight"])[:, None]
    loss = row * ((1 - share) * hard + share * smooth + penalty)
    error = row * ((1 - share) * of_hard + share * of_smooth + of_penalty) + 8 * U * np.abs(loss)
    hit = counts & (np.argmax(raw, axis=1, keepdims=True) == classes)
    return {
        "Loss": (np.where(counts, loss, 0.0)[:, 0], np.where(counts, error, 0.0)[:, 0]),
        "ZLoss": (np.where(counts, penalty, 0.0)[:, 0], of_penalty[:, 0]),
        "Hit": (hit[:, 0].astype(np.float64), 0.0),
    }


def softmax_focal(given: Inputs) -> Outputs:
    x, classes, gamma = exact(given["X"]), given["T"], given["gamma"]
    alpha = losses.at_class(np.broadcast_to(exact(given["Alpha"]), x.shape), classes)
    logp, error = -losses.cross_entropy(x, classes), loss_bounds.cross_entropy(x, classes)

    def focal(value: np.ndarray) -> np.ndarray:
        return -alpha * (-np.expm1(np.minimum(value, 0.0))) ** gamma * value

    wrong = -np.expm1(logp)
    of_power = POW + gamma * bounds.EXPM1 + 8 * U * gamma * np.abs(np.log2(np.maximum(wrong, 1e-30)))
    allowed = propagated(focal, (logp, error)) + np.abs(focal(logp)) * (of_power + 3 * U)
    return {"Loss": (np.where(classes >= 0, focal(logp), 0.0), allowed)}


def sigmoid_focal(given: Inputs) -> Outputs:
    x, y, gamma, alpha = exact(given["X"]), given["Y"], given["gamma"], given["alpha"]
    wrong = np.where(y, -x, x)
    gate = activation.sigmoid(wrong)
    terms = np.where(y, alpha, 1 - alpha) * gate**gamma * activation.softplus(wrong)
    of_power = POW + gamma * bounds.sigmoid(wrong) + 8 * U * gamma * np.abs(np.log2(gate))
    of_terms = np.sum(terms * (of_power + bounds.softplus(wrong) + 4 * U), axis=1, keepdims=True)
    return {"Loss": (terms.sum(axis=1, keepdims=True), bounds.row_sum(terms) + of_terms)}


def shifted_lm_loss(given: Inputs) -> Outputs:
    logits, ids = exact(given["Logits"]), np.asarray(given["Ids"])
    batch, length, columns = logits.shape
    following = np.concatenate([ids[:, 1:], np.full((batch, 1), -100)], axis=1).reshape(-1, 1)
    x = logits.reshape(-1, columns)
    counts = following >= 0
    loss = np.where(counts, losses.cross_entropy(x, following), 0.0)
    error = np.where(counts, loss_bounds.cross_entropy(x, following), 0.0)
    return {"Loss": (loss.reshape(batch, length), error.reshape(batch, length))}


def mean_ce(given: Inputs) -> Outputs:
    x, classes = exact(given["X"]), given["T"][:, None]
    counts = (classes >= 0) & (classes < x.shape[1])
    loss = np.where(counts, losses.cross_entropy(x, classes), 0.0)
    error = np.where(counts, loss_bounds.cross_entropy(x, classes), 0.0)
    count = max(int(counts.sum()), 1)
    mean = loss.sum() / count
    return {
        "Mean": (np.array([mean]), (SUM + DIVIDE) * mean + error.sum() / count),
        "Count": (np.array([float(counts.sum())]), 0.0),
    }


def kl_log_target(given: Inputs) -> Outputs:
    log_p, log_q = exact(given["LogP"]), exact(given["LogQ"])
    some = np.isfinite(log_q)
    inner = np.where(some, log_q, 0.0) - np.where(some, log_p, 0.0)
    weights = np.where(some, np.exp(np.where(some, log_q, 0.0)), 0.0)
    terms = weights * inner
    of_terms = np.abs(terms) * (bounds.exp_relative(np.where(some, log_q, 0.0)) + 2 * U)
    return {"Loss": (terms.sum(axis=1, keepdims=True), bounds.row_sum(terms) + of_terms.sum(axis=1, keepdims=True))}


def distillation(given: Inputs) -> Outputs:
    student, teacher, classes = exact(given["Student"]), exact(given["Teacher"]), given["Target"]
    heat, mix = given["temperature"], given["mix"]
    ours, theirs = softmax.log_softmax(student / heat), softmax.log_softmax(teacher / heat)
    # A quotient moves each logit, and with it each logarithm, by its rounding
    of_ours = (
        loss_bounds.log_softmax(student / heat) + 2 * DIVIDE * np.max(np.abs(student), axis=1, keepdims=True) / heat
    )
    of_theirs = (
        loss_bounds.log_softmax(teacher / heat) + 2 * DIVIDE * np.max(np.abs(teacher), axis=1, keepdims=True) / heat
    )
    p = np.exp(theirs)
    terms = p * (theirs - ours)
    of_terms = p * (of_ours + of_theirs) + np.abs(terms) * (of_theirs + bounds.exp_relative(theirs) + 2 * U)
    soft = heat**2 * terms.sum(axis=1, keepdims=True)
    of_soft = heat**2 * (bounds.row_sum(terms, 3) + of_terms.sum(axis=1, keepdims=True))
    hard = losses.cross_entropy(student, classes)
    loss = mix * soft + (1 - mix) * hard
    error = mix * of_soft + (1 - mix) * loss_bounds.cross_entropy(student, classes) + 4 * U * np.abs(loss)
    return {"Loss": (loss, error)}


def clip_columns(given: Inputs) -> Outputs:
    columns = exact(given["S"]).T
    return {"ColumnLse": (softmax.logsumexp(columns)[:, 0], loss_bounds.logsumexp(columns)[:, 0])}


def clip_rows(given: Inputs) -> Outputs:
    s, column = exact(given["S"]), exact(given["ColumnLse"])
    rows = softmax.logsumexp(s)[:, 0]
    loss = 0.5 * (rows + column) - np.diag(s)
    error = loss_bounds.logsumexp(s)[:, 0] + 2 * U * (np.abs(rows) + np.abs(column) + 2 * np.abs(np.diag(s)))
    return {"Loss": (loss, error)}


def clip_whole(given: Inputs) -> Outputs:
    z = given["scale"] * exact(given["S"])
    rows, columns, count = softmax.logsumexp(z), softmax.logsumexp(z.T), len(z)
    loss = (rows.sum() + columns.sum() - 2 * np.trace(z)) / (2 * count)
    size = np.abs(rows).sum() + np.abs(columns).sum() + 2 * np.abs(np.diag(z)).sum()
    inner = loss_bounds.logsumexp(z).sum() + loss_bounds.logsumexp(z.T).sum() + 2 * count * U * np.abs(z).max()
    return {"Loss": (np.array([loss]), ((SUM + 4 * U) * size + inner) / (2 * count) + DIVIDE * abs(loss))}


def grpo(given: Inputs) -> Outputs:
    logits, ids = exact(given["Logits"]), np.asarray(given["Ids"])
    batch, length, columns = logits.shape
    heat, low, high, beta = given["temperature"], given["low"], given["high"], given["beta"]
    z, classes = logits.reshape(-1, columns) / heat, ids.reshape(-1, 1)
    advantage = np.broadcast_to(exact(given["Advantage"])[:, None], (batch, length)).reshape(-1, 1)
    old, ref = exact(given["Old"]).reshape(-1, 1), exact(given["Ref"]).reshape(-1, 1)
    logp = -losses.cross_entropy(z, classes)
    of_logp = loss_bounds.cross_entropy(z, classes) + 2 * DIVIDE * np.max(np.abs(z), axis=1, keepdims=True)

    def objective(value: np.ndarray) -> np.ndarray:
        ratio = np.exp(value - old)
        gain = np.minimum(ratio * advantage, np.clip(ratio, 1 - low, 1 + high) * advantage)
        return beta * (np.exp(ref - value) - (ref - value) - 1) - gain

    loss, ratio = objective(logp), np.exp(logp - old)
    of_ratio = ratio * np.abs(advantage) * (bounds.exp_relative(logp - old) + U * np.abs(logp) + 2 * U)
    of_penalty = beta * (bounds.EXPM1 * np.exp(ref - logp) + 4 * U * (1 + np.abs(ref - logp)))
    error = propagated(objective, (logp, of_logp)) + of_ratio + of_penalty + 2 * U * np.abs(loss)
    beyond = ((ratio < 1 - low) & (advantage < 0)) | ((ratio > 1 + high) & (advantage > 0))
    counts = classes >= 0
    shape = (batch, length)
    return {
        "Loss": (np.where(counts, loss, 0.0).reshape(shape), np.where(counts, error, 0.0).reshape(shape)),
        "Clipped": ((beyond & counts).astype(np.float64).reshape(shape), 0.0),
    }


def dpo(given: Inputs) -> Outputs:
    def answers(logits: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pairs = list(zip(exact(logits), np.asarray(ids)[..., None], strict=True))
        loss = np.array([np.where(c >= 0, losses.cross_entropy(row, c), 0.0).sum() for row, c in pairs])
        error = [np.where(c >= 0, loss_bounds.cross_entropy(row, c), 0.0).sum() for row, c in pairs]
        return -loss, np.array(error) + SUM * loss

    good, of_good = answers(given["Chosen"], given["ChosenIds"])
    bad, of_bad = answers(given["Rejected"], given["RejectedIds"])
    ref, beta = exact(given["Ref"]), given["beta"]
    margin = -beta * (good - bad - ref)
    of_margin = beta * (of_good + of_bad) + 4 * U * beta * (np.abs(good) + np.abs(bad) + np.abs(ref))
    loss = activation.softplus(margin)
    return {"Loss": (loss, propagated(activation.softplus, (margin, of_margin)) + bounds.softplus(margin) * loss)}


def tversky(given: Inputs) -> Outputs:
    x, y = exact(given["X"]), exact(given["Y"])
    alpha, beta, smooth = given["alpha"], given["beta"], given["smooth"]
    p, plane = activation.sigmoid(x), (2, 3)
    both, missed, extra = (p * y).sum(plane), ((1 - p) * y).sum(plane), (p * (1 - y)).sum(plane)
    gate = np.max(bounds.sigmoid(x), axis=plane, initial=0.0)
    part = SUM + gate + 2 * U

    def ratio(b: np.ndarray, m: np.ndarray, e: np.ndarray) -> np.ndarray:
        return 1 - (b + smooth) / (b + alpha * e + beta * m + smooth)

    # 1 - p rounds at the size of 1
    of_missed = part * missed + (U + gate) * y.sum(plane)
    error = propagated(ratio, (both, part * both), (missed, of_missed), (extra, part * extra)) + DIVIDE + 6 * U
    return {"Loss": (ratio(both, missed, extra), error)}


def dice_sums(given: Inputs) -> Outputs:
    x, classes = exact(given["X"]), np.asarray(given["T"])
    batch, count, pixels = x.shape
    chunks = -(-pixels // 128)
    rows = np.moveaxis(x, 1, 2).reshape(-1, count)
    p = np.moveaxis(softmax.softmax(rows).reshape(batch, pixels, count), 1, 2)
    of_p = np.moveaxis(loss_bounds.softmax(rows).reshape(batch, pixels, count), 1, 2)
    hot = np.arange(count)[None, :, None] == classes[:, None, :]

    def by_chunk(values: np.ndarray) -> np.ndarray:
        padded = np.zeros((batch, count, chunks * 128))
        padded[:, :, :pixels] = values
        return padded.reshape(batch, count, chunks, 128).sum(axis=3)

    inter, total = by_chunk(p * hot), by_chunk(p + hot)
    return {
        "Inter": (inter, SUM * inter + by_chunk(of_p * hot)),
        "Total": (total, (SUM + U) * total + by_chunk(of_p)),
    }
