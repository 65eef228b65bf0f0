"""Spaces of tiles: ranks 1 to 4, which axes are blocked, how large blocks are."""

from __future__ import annotations

from tests.fuzz.parts import Axis, Chooser, Space

DIMS = ["V", "M", "B", "D"]


def draw_space(choose: Chooser) -> tuple[Space, list[str]]:
    """The axes, and the statements that name the starts of spans. Tensors have one dim an axis."""
    rank = choose.one_of([2, 2, 2, 1, 1, 3, 3, 4])
    blocked = choose.one_of([[0], [0], [0, rank - 1], list(range(rank))[:3], []])
    dims = DIMS[:rank][::-1]
    axes: list[Axis] = []
    lines: list[str] = []
    names = iter("xyz")
    for at, dim in enumerate(dims):
        if at not in blocked:
            axes.append(Axis(dim, ":", dim))
            continue
        sizes = [8, 4, 3, 1, 16] if rank > 1 else [128, 32, 5, 1, 512]
        if at == rank - 1 and rank > 1:
            sizes = [32, 16, 7, 64]
        if rank > 2:
            sizes = [2, 1, 3, 4] if at < rank - 1 else [16, 8, 5]
        size = choose.one_of(sizes)
        start = "rcbd"[at]
        name = next(names)
        lines.append(f"let {start} = ctx.block.{name}" + (f" * {size}" if size != 1 or choose.flag(50) else ""))
        axes.append(Axis(dim, f"{start} :+ {size}", str(size), start))
    return Space(tuple(axes)), lines
