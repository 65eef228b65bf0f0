"""Normalisations in float64, from their formulas, over the last axis of `[R, D]` arrays."""

from __future__ import annotations

import numpy as np


def layer_norm(
    x: np.ndarray, w: np.ndarray | float = 1.0, b: np.ndarray | float = 0.0, eps: float = 1e-5
) -> np.ndarray:
    centred = x - np.mean(x, axis=1, keepdims=True)
    return centred / np.sqrt(np.mean(centred**2, axis=1, keepdims=True) + eps) * w + b


def rms_norm(x: np.ndarray, w: np.ndarray | float = 1.0, eps: float = 2.0**-23) -> np.ndarray:
    return x / np.sqrt(np.mean(x**2, axis=1, keepdims=True) + eps) * w


def length(x: np.ndarray) -> np.ndarray:
    return np.sqrt(np.sum(x**2, axis=1, keepdims=True))


def normalize(x: np.ndarray, eps: float = 1e-12) -> np.ndarray:
    return x / np.maximum(length(x), eps)


def batch_norm(
    x: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    w: np.ndarray | float = 1.0,
    b: np.ndarray | float = 0.0,
    eps: float = 1e-5,
) -> np.ndarray:
    return (x - mean) / np.sqrt(variance + eps) * w + b


def cosine_similarity(a: np.ndarray, b: np.ndarray, eps: float = 1e-8) -> np.ndarray:
    return np.sum(a * b, axis=1, keepdims=True) / (np.maximum(length(a), eps) * np.maximum(length(b), eps))
