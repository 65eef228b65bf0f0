"""The model and its training step: NumPy multiplies matrices, tilec's kernels do the rest, on arrays of the device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import tilec

SOURCE = Path(__file__).with_name("charlm.ph")


class Text:
    """Characters as numbers; `train` and `unseen` are the text that a model sees, and the rest."""

    def __init__(self, text: str, unseen: float = 0.1) -> None:
        self.characters = sorted(set(text))
        self._numbers = {character: number for number, character in enumerate(self.characters)}
        numbers = self.encode(text)
        cut = int(len(numbers) * (1.0 - unseen))
        self.train, self.unseen = numbers[:cut], numbers[cut:]

    def encode(self, text: str) -> np.ndarray:
        return np.array([self._numbers[character] for character in text], np.int32)

    def decode(self, numbers: list[int]) -> str:
        return "".join(self.characters[number] for number in numbers)


class Model:
    """From the last `context` characters to the next one: one hidden layer of `width` units.

    Parameters and the optimiser's moments stay in the memory of the device; `device` None is the NumPy interpreter,
    whose arrays are the host's.
    """

    def __init__(self, classes: int, context: int, width: int, device: tilec.Device | None, seed: int = 0) -> None:
        self.classes, self.context, self._device = classes, context, device
        self._where: dict[str, Any] = {"device": "numpy"} if device is None else {}
        kernels = tilec.compile(SOURCE)
        self._kernels = kernels
        # Derived from the forward kernels: the gradient takes the place of the logits, and of the hidden layer's sums.
        self._loss_gradient = kernels.loss.grad(wrt="Logits", in_place=True, upstream="scalar")
        self._hidden_gradient = kernels.hidden.grad(wrt="Sum", in_place=True)
        rng = np.random.default_rng(seed)
        inputs = context * classes
        self._shapes = {"w1": (inputs, width), "b1": (width,), "w2": (width, classes), "b2": (classes,)}
        # A row of the first product has one term a position of the context; the first logits are small.
        scales = {"w1": 1.0 / np.sqrt(context), "b1": 0.0, "w2": 0.2 / np.sqrt(width), "b2": 0.0}
        self._parameters: dict[str, Any] = {}
        self._moments: dict[str, tuple[Any, Any]] = {}
        for name, shape in self._shapes.items():
            start = (scales[name] * rng.standard_normal(shape)).astype(np.float32).reshape(-1)
            self._parameters[name] = self._put(start)
            self._moments[name] = self._put(np.zeros_like(start)), self._put(np.zeros_like(start))
        self._steps = 0

    def _put(self, array: np.ndarray) -> Any:
        """The array in the device's memory."""
        return array if self._device is None else self._device.array(array)

    def _matrix(self, name: str) -> np.ndarray:
        return np.asarray(self._parameters[name]).reshape(self._shapes[name])

    def _one_hot(self, contexts: np.ndarray) -> np.ndarray:
        """`[M, context]` numbers as rows with a 1 for each position's character."""
        rows = np.zeros((len(contexts), self.context * self.classes), np.float32)
        columns = contexts + np.arange(self.context) * self.classes
        np.put_along_axis(rows, columns, 1.0, axis=1)
        return rows

    def _forward(self, inputs: np.ndarray) -> tuple[Any, np.ndarray, Any]:
        """The hidden layer's sums and what it gives, and the logits."""
        sums = self._put(inputs @ self._matrix("w1"))
        hidden = np.asarray(self._kernels.hidden(Sum=sums, Bias=self._parameters["b1"], **self._where).Out)
        products = self._put(hidden @ self._matrix("w2"))
        return sums, hidden, self._kernels.add_bias(Sum=products, Bias=self._parameters["b2"], **self._where).Sum

    def _mean(self, losses: Any) -> float:
        return float(np.asarray(self._kernels.mean_loss(losses, **self._where).Mean)[0])

    def train(self, contexts: np.ndarray, targets: np.ndarray, rate: float) -> float:
        """One step of AdamW on `[M, context]` contexts and `[M]` next characters; gives the mean loss before it."""
        inputs = self._one_hot(contexts)
        sums, hidden, logits = self._forward(inputs)
        result = self._loss_gradient(logits, self._put(targets), DLoss=1.0 / len(targets), **self._where)
        of_logits = np.asarray(result.Logits)
        upstream = self._put(of_logits @ self._matrix("w2").T)
        of_sums = self._hidden_gradient(sums, self._parameters["b1"], DOut=upstream, **self._where).Sum
        gradients = {
            "w1": self._put((inputs.T @ np.asarray(of_sums)).reshape(-1)),
            "b1": self._kernels.bias_gradient(of_sums, **self._where).Bias,
            "w2": self._put((hidden.T @ of_logits).reshape(-1)),
            "b2": self._kernels.bias_gradient(result.Logits, **self._where).Bias,
        }
        self._steps += 1
        for name, gradient in gradients.items():
            self._update(name, gradient, rate)
        return self._mean(result.Loss)

    def _update(self, name: str, gradient: Any, rate: float) -> None:
        mean, square = self._moments[name]
        updated = self._kernels.adamw(
            self._parameters[name], gradient, mean, square, lr=rate, step=self._steps, **self._where
        )
        self._parameters[name] = updated.Param
        self._moments[name] = updated.Mean, updated.Square

    def loss(self, contexts: np.ndarray, targets: np.ndarray) -> float:
        """The mean loss, in nats a character."""
        logits = self._forward(self._one_hot(contexts))[2]
        return self._mean(self._kernels.loss(logits, self._put(targets), **self._where).Loss)

    def sample(self, start: np.ndarray, count: int, temperature: float, seed: int = 0) -> list[int]:
        """`count` characters that follow the numbers in `start`, drawn one by one."""
        rng = np.random.default_rng(seed)
        numbers = list(start)
        for _ in range(count):
            context = np.array([numbers[-self.context :]], np.int32)
            logits = self._forward(self._one_hot(context))[2]
            result = self._kernels.chances(logits, temperature=temperature, **self._where)
            chances = np.cumsum(np.asarray(result.Chance, np.float64)[0])
            numbers.append(int(np.searchsorted(chances, rng.random() * chances[-1], side="right")))
        return numbers[len(start) :]


def windows(numbers: np.ndarray, context: int, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each end the `context` numbers before it, `[M, context]`, and the number there, `[M]`."""
    return numbers[ends[:, None] + np.arange(-context, 0)], numbers[ends]
