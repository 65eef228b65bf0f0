"""A picture of measured rows: the share of a copy's bandwidth that each contender reaches.

`python -m tests.bench.picture ROWS.json > docs/performance.svg`, the rows as `python -m tests.bench.cuda --out` (or
`tests.bench.gpu --out`) writes them. Bars are drawn by hand: SVG is text that reviews can read, and needs no package.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

COLOURS = {"tilec": "#1f6feb", "Liger": "#bf8700", "torch.compile": "#d1242f", "eager": "#6e7781"}
WIDTH, PANEL, LEFT, TOP, RIGHT = 860, 210, 60, 64, 20
_GAP = 44
"""Between panels: room for the names of the sizes."""


def shares(row: Mapping[str, Any]) -> dict[str, float]:
    """By contender, the copy's time over its time."""
    copy = row.get("copy kernel ms", row.get("copy"))
    ours = [value for name, value in row.items() if name[:1] == "t" and name[1:].isdecimal()]
    compiled = [
        value for name, value in row.items() if "compile" in name and name.endswith(" kernel ms") and value is not None
    ]
    times = {
        "tilec": row.get("tilec kernel ms", min(ours, default=None)),
        "Liger": row.get("liger kernel ms"),
        "torch.compile": min(compiled, default=None),
        "eager": row.get("eager kernel ms"),
    }
    return {name: copy / ms for name, ms in times.items() if ms}


def draw(rows: Sequence[Mapping[str, Any]], title: str) -> str:
    """One panel a storage type, one group of bars a size."""
    dtypes = list(dict.fromkeys(row["dtype"] for row in rows))
    found = {id(row): shares(row) for row in rows}
    names = [name for name in COLOURS if any(name in one for one in found.values())]
    height = TOP + len(dtypes) * (PANEL + _GAP) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        _text(LEFT, 24, title, 15),
        *_legend(names),
    ]
    for number, dtype in enumerate(dtypes):
        bottom = TOP + number * (PANEL + _GAP) + PANEL
        own = [row for row in rows if row["dtype"] == dtype]
        parts += _panel(dtype, [(_size(row), found[id(row)]) for row in own], names, bottom)
    return "\n".join([*parts, "</svg>", ""])


def _size(row: Mapping[str, Any]) -> str:
    size = f"{row['rows']} x {row['columns']}"
    return f"{row['kernel'].removesuffix('_rows')} {size}" if "kernel" in row else size


def _panel(
    dtype: str, groups: Sequence[tuple[str, dict[str, float]]], names: Sequence[str], bottom: float
) -> list[str]:
    most = max([1.0, *(share for _, one in groups for share in one.values())])
    scale = (PANEL - 24) / most
    parts = [_text(8, bottom - PANEL + 16, dtype, 13)]
    for tenth in range(0, 11, 2):
        y = bottom - scale * tenth / 10
        colour = "#24292f" if tenth in (0, 10) else "#d0d7de"
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="{colour}"/>')
        parts.append(_text(LEFT - 6, y + 4, f"{tenth / 10:g}", 11, "end"))
    width = (WIDTH - LEFT - RIGHT) / max(1, len(groups))
    bar = 0.8 * width / max(1, len(names))
    for place, (label, one) in enumerate(groups):
        start = LEFT + place * width + 0.1 * width
        parts.append(_text(start + 0.4 * width, bottom + 16, label, 11, "middle"))
        for number, name in enumerate(names):
            if name in one:
                x, tall = start + number * bar, scale * one[name]
                place_text = f'x="{x:.1f}" y="{bottom - tall:.1f}" width="{bar - 1:.1f}" height="{tall:.1f}"'
                parts.append(f'<rect {place_text} fill="{COLOURS[name]}"/>')
                parts.append(_text(x + bar / 2, bottom - tall - 3, f"{one[name]:.2f}", 9, "middle"))
    return parts


def _legend(names: Sequence[str]) -> list[str]:
    parts = []
    for number, name in enumerate(names):
        x = LEFT + 120 * number
        parts.append(f'<rect x="{x}" y="36" width="12" height="12" fill="{COLOURS[name]}"/>')
        parts.append(_text(x + 18, 46, name, 12))
    return parts


def _text(x: float, y: float, text: str, size: int, anchor: str = "start") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"'
    return f'<text {place} fill="#24292f">{escape(text)}</text>'


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: python -m tests.bench.picture ROWS.json > PICTURE.svg", file=sys.stderr)
        return 2
    rows = json.loads(Path(sys.argv[1]).read_text())
    what = "forward kernels" if any("kernel" in row for row in rows) else "loss and gradient of the training loss"
    print(draw(rows, f"Share of a copy's bandwidth: {what}"), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
