"""`python -m tests.diff.rewriting NVIDIA lavapipe`: what shader compilers make of float arithmetic as written here.

WGSL lets them reassociate where the result is at least as exact. Each expression, of values that they do not know, is
compared with what its operations give one after the other; those that differ on some device are printed as a table.
`tilec.wgsl.guarded` hides the literals of those that it can change; the others are the devices' own.
"""

from __future__ import annotations

import sys

import numpy as np

from tests.diff import backends
from tilec.runtime.device import Device, Launch

INF, NAN = float("inf"), float("nan")

# Text, a, b, and what it is.
EXPRESSIONS: tuple[tuple[str, float, float, float], ...] = (
    ("(1.0 - a) + 1e-8", 1, 0, 1e-8),
    ("-(a - 1.0) + 1e-8", 1, 0, 1e-8),
    ("(a - b) + 1e-6", 1, 1, 1e-6),
    ("2.0 * (a - 1.0) + 1e-8", 1, 0, 1e-8),
    ("1e12 * (1.0 - a) - 100.0", 1, 0, -100),
    ("(b * a - b) + 1e-8", 1, 1e6, 1e-8),
    ("(1.0 - a) + (1e-8 - b)", 1, 0, 1e-8),
    ("(1.0 - a) * b + b * 1e-8", 1, 1, 1e-8),
    ("(3.0 * a - 3.0 * b) + 1e-8", 1, 1, 1e-8),
    ("(a * b - b * a) + 1e-8", 3, 7, 1e-8),
    ("0.1 * (a - 0.7)", 0.7, 0, 0),
    ("(a + 1e8) - 1e8", 3, 0, 0),
    ("(a + b) - b", 3, 1e8, 0),
    ("a * 1e30 * 1e30", 1e-30, 0, 1e30),
    ("a * 1e-30 * 1e-30", 1e30, 0, 1e-30),
    ("a / 1e-30 * 1e30", 1e-30, 0, 1e30),
    ("1e30 * (a * 1e30 + b * 1e30)", 1e-30, 0, 1e30),
    ("0.5 * a + 0.5 * b", 3e38, 3e38, 3e38),
    ("(a * b) / b", 1e20, 1e30, INF),
    ("a * 0.0", INF, 0, NAN),
    ("a - a", INF, 0, NAN),
    ("a / a", 0, 0, NAN),
    ("log(exp(a))", 200, 0, INF),
)


def shader() -> str:
    """One thread that evaluates them all."""
    lines = [
        "@group(0) @binding(0) var<storage, read> x: array<vec2<f32>>;",
        "@group(0) @binding(1) var<storage, read_write> y: array<f32>;",
        "@compute @workgroup_size(1)",
        "fn main() {",
    ]
    for number, (text, *_) in enumerate(EXPRESSIONS):
        lines.append(f"  {{ let a = x[{number}].x; let b = x[{number}].y; y[{number}] = {text}; }}")
    return "\n".join([*lines, "}"])


def evaluate(device: Device) -> np.ndarray:
    """What the device makes of each."""
    values = np.float32([(a, b) for _, a, b, _ in EXPRESSIONS])
    given, result = device.create_buffer(values.nbytes), device.create_buffer(4 * len(EXPRESSIONS))
    device.write(given, values.tobytes())
    pipeline = device.compute_pipeline(shader(), "main", ("read", "read_write"))
    device.run([Launch(pipeline, (given, result), (1, 1, 1))])
    return np.frombuffer(bytes(device.read(result)), np.float32)


def main(names: list[str]) -> None:
    results = [evaluate(backends.open_device(name)) for name in names]
    print("| expression | a | b | right |", *(f" {name} |" for name in names), sep="")
    print("|---|---|---|---|", *("---|" for _ in names), sep="")
    for number, (text, a, b, right) in enumerate(EXPRESSIONS):
        got = np.array([result[number] for result in results])
        is_right = np.isclose(got, np.float32(right), rtol=1e-5, atol=0, equal_nan=True)
        if not all(is_right):
            cells = ("as right" if well else f"{one:.3g}" for one, well in zip(got, is_right, strict=True))
            print(f"| `{text}` | {a:g} | {b:g} | {right:g} |", *(f" {cell} |" for cell in cells), sep="")


if __name__ == "__main__":
    main(sys.argv[1:] or [*backends.DEVICE_NAMES])
