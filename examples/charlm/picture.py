"""A loss curve as an SVG picture, without a plotting library."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 40, 50


def loss_curve(
    title: str, losses: Sequence[tuple[int, float]], unseen: Sequence[tuple[int, float]], guess: float
) -> str:
    """(step, loss) points on the training text as a line, on unseen text as dots; `guess` is a dashed line."""
    last = max(step for step, _ in [*losses, *unseen, (1, 0.0)])
    highest = max(guess, *(loss for _, loss in [*losses, *unseen])) * 1.05

    def place(step: float, loss: float) -> tuple[float, float]:
        across = LEFT + (WIDTH - LEFT - RIGHT) * step / last
        return across, TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - loss / highest)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(WIDTH / 2, TOP - 16, title, 15, "middle"),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "step", 12, "middle"),
        _text(14, TOP - 16, "nats", 12, "start"),
        _text(WIDTH - RIGHT, HEIGHT - 10, "line: training text, dots: unseen text", 12, "end"),
    ]
    for loss in range(int(highest) + 1):
        left, height = place(0, loss)
        parts.append(_line(left, height, WIDTH - RIGHT, height, "#ddd"))
        parts.append(_text(left - 8, height + 4, str(loss), 12, "end"))
    for quarter in range(5):
        step = round(last * quarter / 4)
        across, bottom = place(step, 0)
        parts.append(_line(across, bottom, across, bottom + 5, "#888"))
        parts.append(_text(across, bottom + 20, str(step), 12, "middle"))
    left, height = place(0, guess)
    parts.append(_line(left, height, WIDTH - RIGHT, height, "#c33", "6 4"))
    parts.append(_text(WIDTH - RIGHT, height + 16, f"uniform guess {guess:.2f}", 12, "end"))
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*one) for one in losses))
    parts.append(f'<polyline points="{points}" fill="none" stroke="#268" stroke-width="1.5"/>')
    for one in unseen:
        x, y = place(*one)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#e80"/>')
    return "\n".join([*parts, "</svg>", ""])


def _text(x: float, y: float, words: str, size: int, anchor: str) -> str:
    safe = words.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{safe}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, dashes: str = "none") -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-dasharray="{dashes}"/>'
