"""The roofline of a device with measured plans, as SVG.

Two lines and a few points are drawn by hand here: a plotting library would be a dependency of a hundred packages'
weight for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

_WIDTH, _HEIGHT = 760, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 24, 56, 60
_COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#8250df", "#bf8700", "#0a3069", "#6e7781", "#953800")


@dataclass(frozen=True, slots=True)
class Point:
    """A plan: operations and moved bytes of a launch, and the seconds that it took."""

    name: str
    operations: float
    moved: float
    seconds: float

    @property
    def intensity(self) -> float:
        return max(self.operations, 1.0) / max(self.moved, 1.0)

    @property
    def rate(self) -> float:
        return max(self.operations, 1.0) / self.seconds


class _Axes:
    """Both axes are logarithmic: powers of ten from `low` to `high`."""

    def __init__(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        self.x_low, self.x_high = floor(log10(min(xs))), max(ceil(log10(max(xs))), floor(log10(min(xs))) + 1)
        self.y_low, self.y_high = floor(log10(min(ys))), max(ceil(log10(max(ys))), floor(log10(min(ys))) + 1)

    def x(self, value: float) -> float:
        share = (log10(value) - self.x_low) / (self.x_high - self.x_low)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        share = (log10(value) - self.y_low) / (self.y_high - self.y_low)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def draw_roofline(title: str, device: str, points: Sequence[Point], bandwidth: float, operations: float) -> str:
    """The SVG text: operations a second over operations a byte, under the roof of bandwidth and arithmetic."""
    ridge = operations / bandwidth
    xs = [one.intensity for one in points] + [ridge, ridge * 3]
    ys = [one.rate for one in points] + [operations, min(xs) * bandwidth]
    axes = _Axes(xs, ys)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_LEFT, 24, title, size=15),
        _text(_LEFT, 42, f"{device}: copy {bandwidth / 1e9:.3g} GB/s, {operations / 1e9:.3g} G operations a second"),
        *_grid(axes),
        *_roof(axes, bandwidth, operations),
    ]
    for number, point in enumerate(points):
        colour = _COLOURS[number % len(_COLOURS)]
        x, y = axes.x(point.intensity), axes.y(point.rate)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>')
        label = f"{point.name}: {1e3 * point.seconds:.3g} ms"
        line = _TOP + 16 + 16 * number
        parts.append(f'<circle cx="{_LEFT + 14}" cy="{line - 4}" r="4.5" fill="{colour}"/>')
        parts.append(_text(_LEFT + 24, line, label))
    return "\n".join([*parts, "</svg>", ""])


def _text(x: float, y: float, text: str, *, size: int = 12, anchor: str = "start") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"'
    return f'<text {place} fill="#24292f">{escape(text)}</text>'


def _grid(axes: _Axes) -> list[str]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = []
    for power in range(axes.x_low, axes.x_high + 1):
        x = axes.x(10.0**power)
        parts.append(f'<line x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{bottom}" stroke="#d0d7de"/>')
        parts.append(_text(x, bottom + 18, f"{10.0**power:g}", anchor="middle"))
    for power in range(axes.y_low, axes.y_high + 1):
        y = axes.y(10.0**power)
        parts.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#d0d7de"/>')
        parts.append(_text(_LEFT - 8, y + 4, f"1e{power}", anchor="end"))
    parts.append(_text((_LEFT + right) / 2, _HEIGHT - 18, "operations a byte that memory moves", anchor="middle"))
    middle = (_TOP + bottom) / 2
    turned = _text(0, 0, "operations a second", anchor="middle")
    parts.append(f'<g transform="translate(20 {middle:.1f}) rotate(-90)">{turned}</g>')
    return parts


def _roof(axes: _Axes, bandwidth: float, operations: float) -> list[str]:
    start, end = 10.0**axes.x_low, 10.0**axes.x_high
    lowest = 10.0**axes.y_low
    first = max(start, lowest / bandwidth)
    corners = [(first, first * bandwidth), (operations / bandwidth, operations), (end, operations)]
    path = " ".join(f"{axes.x(x):.1f},{axes.y(y):.1f}" for x, y in corners)
    return [f'<polyline points="{path}" fill="none" stroke="#24292f" stroke-width="2"/>']
