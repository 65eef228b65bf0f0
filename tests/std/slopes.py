"""Slopes of a loss's twin by central differences in float64, element by element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.reference.training_table import Input, Loss
from tests.std.odd import LOGITS


@dataclass(frozen=True, slots=True)
class Slopes:
    """Of one argument, in its shape. `central` is the slope where `is_smooth`; elsewhere a kink or a jump lies near,
    and `low` and `high` are the slopes on its two sides. `noise` is what rounding does to all of them."""

    central: np.ndarray
    is_smooth: np.ndarray
    low: np.ndarray
    high: np.ndarray
    noise: np.ndarray


def slopes(loss: Loss, values: dict[str, Any], one: Input) -> Slopes:
    """Of the sum of the result times U."""
    center = values[one.name]
    by_row = one.kind != "feature" and loss.result != "scalar"
    columns = center.shape[-1]
    if by_row:
        found = [_along(loss, values, one, (slice(None), slice(j, j + 1)), True) for j in range(columns)]
        parts = [np.concatenate(part, axis=1) for part in zip(*found, strict=True)]
    else:
        places = list(np.ndindex(center.shape))
        found = [_along(loss, values, one, place, False) for place in places]
        parts = [np.reshape(part, center.shape) for part in zip(*found, strict=True)]
    ahead, behind, near_ahead, near_behind, noise = parts
    wide, central = (ahead + behind) / 2, (near_ahead + near_behind) / 2
    with np.errstate(invalid="ignore"):
        is_smooth = np.abs(wide - central) <= 1e-5 * np.abs(central) + 1e-6 + 20 * noise
        is_smooth &= np.abs(near_ahead - near_behind) <= 1e-3 * np.abs(central) + 1e-5 + 20 * noise
    sides = np.stack([near_ahead, near_behind])
    return Slopes(central, is_smooth, np.fmin(*sides), np.fmax(*sides), noise)


def _along(loss: Loss, values: dict[str, Any], one: Input, place: Any, by_row: bool) -> list[np.ndarray]:
    """Forward and backward slopes with a wide and a narrow step, and the narrow ones' noise."""
    center = values[one.name]
    size = np.clip(np.abs(center[place]), 1e-2, 1.0)
    here = _total(loss, values, by_row)
    found = []
    for step in (1e-4 * size, 1e-5 * size):
        for sign in (1, -1):
            moved = center.copy()
            moved[place] += sign * step
            with np.errstate(invalid="ignore"):
                there = _total(loss, values | {one.name: moved}, by_row)
                found.append(sign * (there - here) / step)
    with np.errstate(invalid="ignore"):
        noise = 1e-15 * (1 + np.abs(here) + _largest(loss, values, center[place])) / step
    return [*found, noise]


def _largest(loss: Loss, values: dict[str, Any], here: np.ndarray) -> np.ndarray | float:
    """The size of what the twin rounds; of logits it takes differences first, which are exact."""
    if loss.function in LOGITS:
        return np.abs(np.nan_to_num(here, posinf=0.0, neginf=0.0))
    numbers = np.concatenate([np.ravel(values[one.name]) for one in loss.inputs if one.kind != "classes"])
    return np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0)


def _total(loss: Loss, values: dict[str, Any], by_row: bool) -> np.ndarray:
    with np.errstate(all="ignore"):
        result = loss.expected(*(values[one.name] for one in loss.inputs)) * values["U"]
    return result.sum(axis=1, keepdims=True) if by_row else result.sum()
