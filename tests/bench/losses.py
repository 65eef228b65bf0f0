"""Cross-entropy of rows: forward (`token_loss`), and loss with gradient in place (`train_loss`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

import tilec
from tests.bench import peers
from tests.bench.measure import Contender, Row, Table, Timing, in_turn
from tests.bench.tinygrad_peer import time_tinygrad
from tilec.runtime.arrays import DeviceArray
from tilec.runtime.compute import Device

FORWARD_SHAPES = [
    (1, 1), (8, 512), (128, 512), (8192, 512), (8192, 7), (1024, 1003), (256, 4096), (128, 32768), (64, 50257),
    (1, 262144),
]  # fmt: skip
TRAINING_SHAPES = [(8192, 512), (256, 4096), (128, 32768), (64, 50257)]
FORWARD_GOAL = 3.0
SEED_GOALS = {(8192, 512): 6.0, (128, 32768): 2.5}
TINYGRAD_GOAL = 5.0
ALPHA, BETA = 0.1, 1e-3


@cache
def _module() -> tilec.Module:
    return tilec.compile(Path(__file__).with_name("kernels.ph"))


def draw_rows(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Logits and a target for each row, the same ones each time."""
    rng = np.random.default_rng([rows, columns])
    logits = (rng.standard_normal((rows, columns), np.float32) * 3).astype(np.float32)
    return logits, rng.integers(0, columns, (rows, 1), dtype=np.int32)


def forward(device: Device, seconds: float) -> Table:
    """`token_loss` for each shape; the goal is that of 8192 x 512."""
    rows = [_forward(device, *shape, seconds) for shape in FORWARD_SHAPES]
    (goal,) = [row for row in rows if (row["rows"], row["columns"]) == (8192, 512)]
    speed = goal["seed shape x"]
    reached = (f"8192 x 512 at least {FORWARD_GOAL:g} times as fast", speed >= FORWARD_GOAL, f"{speed:.1f} times")
    return Table(f"token_loss: cross-entropy of each row, f32, on {device.name}", rows, [reached])


def _forward(device: Device, rows: int, columns: int, seconds: float) -> Row:
    x, t = draw_rows(rows, columns)
    logits, target = device.array(x), device.array(t)
    ours, theirs = (device.array(np.zeros((rows, 1), np.float32)) for _ in range(2))
    kernel = _module().token_loss
    runs = {
        "tilec": lambda: kernel(logits, target, Loss=ours),
        "seed shape": peers.seed_shape(device, "forward", logits, target, theirs),
    }
    contenders = {name: Contender(_waiting(device, run)) for name, run in runs.items() if run is not None}
    contenders |= _on_the_cpu({"numpy": peers.in_numpy(x, t), "torch": peers.in_torch(x, t)})
    timings = in_turn(contenders, seconds)
    expected = peers.exact(x, t)
    errors = {"tilec": _error(ours, expected), "seed shape": _error(theirs, expected)}
    return _row(device, rows, columns, timings, errors)


def training(device: Device, seconds: float) -> Table:
    """`train_loss` for each shape, with alpha and beta non-zero in both hand-written and compiled kernels."""
    rows = [_training(device, *shape, seconds) for shape in TRAINING_SHAPES]
    title = f"train_loss: loss and gradient in place, f32, label smoothing and z-loss, on {device.name}"
    return Table(title, rows, [goal for row in rows for goal in _goals(row)])


def _goals(row: Row) -> Iterator[tuple[str, bool, str]]:
    """How many times as fast as its peers it shall be; those of a peer that is missing are left out."""
    size = (row["rows"], row["columns"])
    wanted = {"seed shape": SEED_GOALS.get(size), "tinygrad": TINYGRAD_GOAL}
    wanted["torch"] = 1.0 if size[0] * size[1] >= 256 * 4096 else None
    for peer, least in wanted.items():
        speed = row.get(f"{peer} x")
        if least is not None and speed is not None:
            what = f"{size[0]} x {size[1]} at least {least:g} times as fast as {peer}"
            yield what, speed >= least, f"{speed:.1f} times"


def _training(device: Device, rows: int, columns: int, seconds: float) -> Row:
    x, t = draw_rows(rows, columns)
    scale = 1.0 / rows
    kept, target = device.array(x), device.array(t)
    logits = {name: device.array(x) for name in ("tilec", "seed shape")}
    losses = {name: device.array(np.zeros((rows, 1), np.float32)) for name in logits}
    kernel = _module().train_loss
    runs = {
        "tilec": lambda: kernel(
            logits["tilec"], target, Loss=losses["tilec"], alpha=ALPHA, beta=BETA, scale=scale
        ),
        "seed shape": peers.seed_shape(
            device, "loss_and_gradient", logits["seed shape"], target, losses["seed shape"], ALPHA, BETA, scale
        ),
    }  # fmt: skip
    contenders = {
        name: Contender(_waiting(device, run), _restoring(device, kept, logits[name]))
        for name, run in runs.items()
        if run is not None
    }
    contenders |= _on_the_cpu({"numpy": peers.training_in_numpy(x, t), "torch": peers.training_in_torch(x, t)})
    timings = in_turn(contenders, seconds)
    other = time_tinygrad(rows, columns, seconds / 2, device.name)
    if other is not None:
        timings["tinygrad"] = other[0]
    loss, gradient = peers.exact_training(x, t, ALPHA, BETA, scale)
    errors = {
        name: max(_error(losses[name], loss), _error(logits[name], gradient) * rows)
        for name in contenders.keys() & logits.keys()
    }
    if other is not None:
        errors["tinygrad"] = other[1]
    return _row(device, rows, columns, timings, errors)


def _waiting(device: Device, run: Callable[[], object]) -> Callable[[], object]:
    def wait() -> None:
        run()
        device.synchronize()

    return wait


def _restoring(device: Device, source: DeviceArray, target: DeviceArray) -> Callable[[], object]:
    def restore() -> None:
        device.copy(source.buffer, target.buffer, source.buffer.nbytes)
        device.synchronize()

    return restore


def _on_the_cpu(runs: dict[str, Callable[[], object] | None]) -> dict[str, Contender]:
    return {name: Contender(run) for name, run in runs.items() if run is not None}


def _error(array: DeviceArray, expected: np.ndarray) -> float:
    """The largest error, relative for results above 1."""
    return float(np.max(np.abs(array.numpy() - expected) / np.maximum(1.0, np.abs(expected))))


def _row(device: Device, rows: int, columns: int, timings: dict[str, Timing], errors: dict[str, float]) -> Row:
    """Wall times, on a software device processor times as well; and how many times tilec's time each peer takes.

    A software device runs on the processor that every other process uses too, so there the ratio is of processor times.
    """
    is_cpu = device.info.kind == "cpu"
    ours = timings["tilec"]
    row: Row = {"rows": rows, "columns": columns, "tilec ms": ours.wall}
    if is_cpu:
        row["cpu ms"] = ours.processor
    for name in ("seed shape", "numpy", "torch", *(["tinygrad"] if "tinygrad" in timings else [])):
        timing = timings.get(name)
        row[f"{name} ms"] = timing and timing.wall
        if is_cpu:
            row["cpu ms " + name] = timing and timing.processor
        row[f"{name} x"] = timing and (timing.processor / ours.processor if is_cpu else timing.wall / ours.wall)
    row["error"] = errors["tilec"]
    # f32 rounds to 6e-8; WGSL's exp and log are right to a few units in the last place.
    row["check"] = "ok" if all(error <= 1e-5 for error in errors.values()) else f"WRONG {errors}"
    row["runs"] = ours.runs
    return row
