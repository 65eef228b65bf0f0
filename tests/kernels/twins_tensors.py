"""Float64 twins of the other kernels: normalisation, optimisers, storage, control flow, reductions, layout."""

from __future__ import annotations

import numpy as np

from tests.kernels.twins import Inputs, Outputs
from tests.reference import activation, bounds, loss_bounds, norm, softmax
from tests.reference.bounds import DIVIDE, RECIPROCAL_ROOT, ROOT, SUM, U
from tests.reference.execution import exact


def ln_forward(given: Inputs) -> Outputs:
    x, w, b, eps = exact(given["X"]), exact(given["W"]), exact(given["B"]), given["eps"]
    mean = x.mean(axis=1, keepdims=True)
    of_mean = bounds.row_mean(x)
    variance = ((x - mean) ** 2).mean(axis=1, keepdims=True) + eps
    rstd = 1 / np.sqrt(variance)
    of_rstd = rstd * ((SUM + 9 * U + of_mean**2 / variance) / 2 + RECIPROCAL_ROOT)
    return {
        "Mean": (mean[:, 0], of_mean[:, 0]),
        "Rstd": (rstd[:, 0], of_rstd[:, 0]),
        "Y": (norm.layer_norm(x, w, b, eps), loss_bounds.layer_norm(x, w, b, eps)),
    }


def ln_backward(given: Inputs) -> Outputs:
    x, w, dy = exact(given["X"]), exact(given["W"]), exact(given["Dy"])
    mean, rstd = exact(given["Mean"])[:, None], exact(given["Rstd"])[:, None]
    unit, g = (x - mean) * rstd, dy * w
    of_unit = 2 * U * np.abs(unit)
    dx = rstd * (g - g.mean(axis=1, keepdims=True) - unit * (g * unit).mean(axis=1, keepdims=True))
    of_product = bounds.row_mean(g * unit, 4)
    of_dx = rstd * (
        bounds.row_mean(g, 1)
        + np.abs(unit) * of_product
        + 3 * U * (np.abs(g) + np.abs(g).mean(axis=1, keepdims=True))
        + 4 * U * np.abs(unit) * np.abs(g * unit).mean(axis=1, keepdims=True)
    ) + U * np.abs(dx)
    rows, columns = x.shape
    shares = -(-rows // 32)
    terms = np.zeros((shares * 32, columns))
    sizes = np.zeros_like(terms)
    terms[:rows] = dy * unit
    sizes[:rows] = np.abs(dy * unit) * (SUM + 4 * U) + np.abs(dy) * of_unit
    by_share = terms.reshape(shares, 32, columns).sum(axis=1)
    # Four partial sums are added one after the other
    of_share = sizes.reshape(shares, 32, columns).sum(axis=1) + 4 * U * np.abs(terms).reshape(shares, 32, columns).sum(
        axis=1
    )
    return {"Dx": (dx, of_dx), "Part": (by_share, of_share)}


def sum_parts(given: Inputs) -> Outputs:
    part = exact(given["Part"])
    return {"Total": (part.sum(axis=0), SUM * np.abs(part).sum(axis=0))}


def softmax_backward(given: Inputs) -> Outputs:
    y = exact(given["Y"])
    g = y * exact(given["Dy"])
    total = g.sum(axis=1, keepdims=True)
    return {"Dy": (g - y * total, y * bounds.row_sum(g, 1) + 2 * U * (np.abs(g) + y * np.abs(total)))}


def causal_softmax(given: Inputs) -> Outputs:
    scores, scale = exact(given["S"]), given["scale"]
    *_, queries, keys = scores.shape
    seen = np.arange(keys) <= np.arange(queries)[:, None] + (keys - queries)
    s = np.where(seen, scores * scale, -np.inf).reshape(-1, keys)
    p = softmax.softmax(s)
    finite = np.where(np.isfinite(s), np.abs(s), 0.0)
    rounding = 2 * U * finite.max(axis=1, keepdims=True)
    return {"S": (p.reshape(scores.shape), (loss_bounds.softmax(s) + rounding * p).reshape(scores.shape))}


def adamw(given: Inputs) -> Outputs:
    g, m, v, p = (exact(given[name]) for name in ("G", "M", "V", "P"))
    g = g * exact(given["Clip"])
    b1, b2, lr, step, eps = given["b1"], given["b2"], given["lr"], given["step"], given["eps"]
    first, second = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
    of_first = 3 * U * (np.abs(b1 * m) + np.abs((1 - b1) * g))
    of_second = 5 * U * second

    def correction(beta: float) -> tuple[float, float]:
        value = 1 - beta**step
        power = (8 + 4 * step * abs(np.log2(beta))) * 2 * U * beta**step
        return value, power / value + U

    c1, of_c1 = correction(b1)
    c2, of_c2 = correction(b2)
    size = np.sqrt(second / c2) + eps
    move = lr * (first / c1) / size
    relative = of_c1 + of_c2 / 2 + 5 * U / 2 + 2 * DIVIDE + ROOT + 4 * U
    kept = p * (1 - lr * given["decay"])
    error = np.abs(move) * relative + lr / c1 * of_first / size + 4 * U * np.abs(kept) + 2 * U * np.abs(move)
    updated = kept - move
    return {"P": (updated, error), "Copy": (updated, error), "M": (first, of_first), "V": (second, of_second)}


def lion(given: Inputs) -> Outputs:
    p, g, m = (exact(given[name]) for name in ("P", "G", "M"))
    b1, b2, lr, decay = given["b1"], given["b2"], given["lr"], given["decay"]
    move = lr * (np.sign(b1 * m + (1 - b1) * g) + decay * p)
    mean = b2 * m + (1 - b2) * g
    return {
        "P": (p - move, 4 * U * (np.abs(move) + lr) + 2 * U * np.abs(p)),
        "M": (mean, 3 * U * (np.abs(b2 * m) + np.abs((1 - b2) * g))),
    }


def sgd(given: Inputs) -> Outputs:
    p, raw, velocity = (exact(given[name]) for name in ("P", "G", "Velocity"))
    mu, lr = given["mu"], given["lr"]
    g = raw + given["decay"] * p
    v = mu * velocity + g
    direction = g + mu * v if given["nesterov"] else v
    size = np.abs(raw) + np.abs(given["decay"] * p) + np.abs(mu * velocity)
    return {
        "Velocity": (v, 4 * U * size),
        "P": (p - lr * direction, 10 * U * lr * size + 2 * U * (np.abs(p) + lr * np.abs(direction))),
    }


def clip_norm(given: Inputs) -> Outputs:
    g = exact(given["G"])
    size = np.sqrt((g**2).sum())
    of_size = (SUM + 2 * U) / 2 + ROOT
    scaled = g * min(given["most"] / (size + 1e-6), 1.0)
    return {"Norm": (np.array([size]), of_size * size), "G": (scaled, np.abs(scaled) * (of_size + DIVIDE + 4 * U))}


def quantise_and_back(given: Inputs) -> Outputs:
    """Draws of multiples of a power of two make every quotient exact, so that no rounding is a matter of luck."""
    x = exact(given["X"])
    scale = np.maximum(np.abs(x).max(axis=1, keepdims=True) / 127.0, 1e-12)
    q = np.round(x / scale)
    return {
        "Q": (q, 0.0),
        "Scale": (scale[:, 0], DIVIDE * scale[:, 0]),
        "Y": (q * scale, (DIVIDE + U) * np.abs(q * scale)),
    }


def scale_rows(given: Inputs) -> Outputs:
    product = exact(given["X"]) * exact(given["S"])[:, None]
    return {"X": (product, U * np.abs(product))}


def halvings(given: Inputs) -> Outputs:
    size = np.abs(exact(given["X"])).max(axis=1)
    return {"Count": (np.ceil(np.log2(np.maximum(size, 1.0))), 0.0)}


def until_limit(given: Inputs) -> Outputs:
    chunks, sums = [], []
    for row in exact(given["X"]):
        total, count = 0.0, 0
        for start in range(0, len(row), 64):
            total += row[start : start + 64].sum()
            count += 1
            if total >= given["limit"]:
                break
        chunks.append(float(count))
        sums.append(total)
    return {"Chunks": (np.array(chunks), 0.0), "Sum": (np.array(sums), 0.0)}


def some_chunks(given: Inputs) -> Outputs:
    x = exact(given["X"])
    sums = [sum(row[start : start + 32].sum() for start in range(0, len(row), 32) if row[start] >= 0) for row in x]
    return {"Sum": (np.array(sums, np.float64), 0.0)}


def nearest(given: Inputs) -> Outputs:
    x, centres = exact(given["X"]), exact(given["Centre"])
    distances = ((x[:, None, :] - centres[None]) ** 2).sum(axis=2)
    least = distances.min(axis=1)
    return {"Which": (distances.argmin(axis=1).astype(np.float64), 0.0), "Distance": (least, (SUM + 3 * U) * least)}


def maybe_negate(given: Inputs) -> Outputs:
    return {"X": (exact(given["X"]) * (1 if given["skip"] else -1), 0.0)}


def column_statistics(given: Inputs) -> Outputs:
    x = exact(given["X"])
    mean, size = x.mean(axis=0), np.abs(x).mean(axis=0)
    # A running sum of chunks: a rounding each
    chunks = -(-len(x) // 128)
    of_mean = (SUM + DIVIDE + chunks * U) * size
    variance = ((x - mean) ** 2).mean(axis=0)
    return {
        "Mean": (mean, of_mean),
        "Variance": (variance, (SUM + DIVIDE + (chunks + 3) * U) * variance + of_mean**2 + 2 * U * of_mean * size),
    }


def row_facts(given: Inputs) -> Outputs:
    x = exact(given["X"])
    variance = x.var(axis=1)
    of_mean = bounds.row_mean(x)[:, 0]
    return {
        "Most": (x.max(axis=1), 0.0),
        "Least": (x.min(axis=1), 0.0),
        "At": (np.stack([x.argmax(axis=1), x.argmin(axis=1)], axis=1).astype(np.float64), 0.0),
        "Any": ((x > 2).any(axis=1).astype(np.float64), 0.0),
        "All": ((x > -2).all(axis=1).astype(np.float64), 0.0),
        "Variance": (variance, (SUM + DIVIDE + 4 * U) * variance + of_mean**2),
    }


def whole_tensor(given: Inputs) -> Outputs:
    x = exact(given["X"])
    size = np.abs(x).sum()
    return {
        "Total": (np.array([x.sum()]), SUM * size),
        "Mean": (np.array([x.mean()]), (SUM + DIVIDE) * size / x.size),
        "Range": (np.array([x.min(), x.max()]), 0.0),
        "At": (np.array([float(x.argmax())]), 0.0),
    }


def class_counts(given: Inputs) -> Outputs:
    classes = np.asarray(given["T"])
    inside = classes[(classes >= 0) & (classes < given["C"])]
    return {"Count": (np.bincount(inside, minlength=given["C"]).astype(np.float64), 0.0)}


def middle_mean(given: Inputs) -> Outputs:
    x = exact(given["X"])
    return {"Mean": (x.mean(axis=1), (SUM + DIVIDE) * np.abs(x).mean(axis=1))}


def load_balance(given: Inputs) -> Outputs:
    x = exact(given["X"])
    gates = x.shape[1]
    chosen = (np.arange(gates) == x.argmax(axis=1)[:, None]).mean(axis=0)
    p = softmax.softmax(x)
    loss = given["coefficient"] * gates * (chosen * p.mean(axis=0)).sum()
    of_p = loss_bounds.softmax(x).mean(axis=0)
    error = given["coefficient"] * gates * (chosen * of_p).sum() + loss * (3 * SUM + 2 * DIVIDE + 5 * U)
    return {"Loss": (np.array([loss]), error)}


def total_variation(given: Inputs) -> Outputs:
    steps = np.diff(exact(given["X"]), axis=1)
    return {"Loss": (np.abs(steps).sum(axis=1), bounds.row_sum(steps, 1)[:, 0])}


def smooth_rows(given: Inputs) -> Outputs:
    x = np.pad(exact(given["X"]), ((0, 0), (1, 1)))
    size = np.abs(x[:, :-2]) + np.abs(x[:, 1:-1]) + np.abs(x[:, 2:])
    return {"Y": ((x[:, :-2] + x[:, 1:-1] + x[:, 2:]) / 3, (DIVIDE + 2 * U) * size / 3)}


def packed_swiglu(given: Inputs) -> Outputs:
    a, b = np.split(exact(given["X"]), 2, axis=1)
    y = activation.silu(a) * b
    return {"Y": (y, np.abs(y) * (bounds.sigmoid(a) + 2 * U))}


def rotary(given: Inputs) -> Outputs:
    a, b = np.split(exact(given["X"]), 2, axis=1)
    c, s = exact(given["Cos"]), exact(given["Sin"])
    turned = np.concatenate([a * c - b * s, b * c + a * s], axis=1)
    size = np.concatenate([np.abs(a * c) + np.abs(b * s), np.abs(b * c) + np.abs(a * s)], axis=1)
    return {"X": (turned, 2 * U * size)}


def add_bias(given: Inputs) -> Outputs:
    x, bias, residual = exact(given["X"]), exact(given["Bias"]), exact(given["Residual"])
    total = residual + x + bias
    return {"Residual": (total, U * (np.abs(x + bias) + np.abs(total)))}
