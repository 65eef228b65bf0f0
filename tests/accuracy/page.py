"""The page docs/accuracy.md, or one of other devices, from figures."""

from __future__ import annotations

from collections.abc import Sequence

from tests.accuracy.measure import DRAWS, Report
from tests.diff import backends
from tests.diff.catalog import SHORT_ROWS
from tests.reference.training_table import Loss
from tests.std.test_training import differentiated

TITLES = {
    "lavapipe": "lavapipe", "swiftshader": "SwiftShader", "dawn:lavapipe": "Dawn, lavapipe", "chromium": "Chromium",
}  # fmt: skip

WORDS = {
    "lavapipe": "naga (wgpu) on lavapipe (Mesa 25)", "swiftshader": "naga on SwiftShader",
    "dawn:lavapipe": "Tint in Dawn on lavapipe",
    "chromium": "Tint in a page of Chromium, on its SwiftShader, which runs the files that `tilec compile` writes",
}  # fmt: skip

HEAD = """\
# How accurate the losses are{where}

Made by `python -m tests.accuracy{options}`, which fails where an error is above its bound; `--on NAMES` chooses
other implementations and adapters, by parts of their names. Not edited by hand.

Each loss of the library and its derived gradient in its first argument (the logits, the prediction), in each storage
type, against float64: the loss against a NumPy function written from the formula, the gradient against the derived
one in double precision, which the tests of gradients compare with PyTorch's autograd and central differences. What is
compared begins with the numbers as they are stored; a loss is stored as f32, a gradient in the type of its argument.

**The unit** is one in the last place of the type in which a result is stored, at the largest exact result of its row,
which counts as 1 at least for a loss and as 1 / columns for a gradient: what lies below is learned already. That is
2^-23, 2^-10 or 2^-7 of a power of two. 0.5 is what rounding once costs.

**The bound** is how far any implementation of WGSL may lie from float64: the interpreter of the language carries
ranges along in which each operation errs as far as WGSL's accuracy rules let it, or its row in [ops.md](ops.md) where
those are too loose. Every element must lie in its own range, and so must the exact result. The column shows the
widest bound of the tamest and of the wildest data; "nearest" is the largest share that any error has of its own
bound. Figures are `loss / gradient`.

**Implementations**:
{implementations}

**The data**, drawn, the same each time. Numbers are normal with a deviation of 1 to 4, probabilities uniform. Ties:
rounded to halves. Zeros: three in ten are 0. Large: one in five is up to 10,000 times as large. Shift: 1e4 or 1e6 is
added to all of a row's logits, or taken from them. Masked: between two and seven tenths of the classes are -inf.
Ignored: rows whose class is none, of NaN, infinities or 3e38. (f16 does without the shift by 1e6.)

"""


def page(names: Sequence[str], found: Sequence[tuple[Loss, str, Report]]) -> str:
    """Markdown: the head, then a table for each type."""
    others = [name for name in names if name not in WORDS]
    head = HEAD.format(
        where=f" on {', '.join(others)}" if others else "",
        options=f" --on {','.join(names)}" if others else "",
        implementations="\n".join(f"- {WORDS.get(name) or _words_of(name)}" for name in names),
    )
    lines = [f"- {draw}" for draw in DRAWS]
    for name, most in SHORT_ROWS.items():
        lines.append(f"  (`{name}`, whose time grows with the square: {most} columns at most)")
    text = head + "\n".join(lines) + "\n"
    for dtype in dict.fromkeys(dtype for _, dtype, _ in found):
        rows = [(loss, report) for loss, of, report in found if of == dtype]
        heads = ["function", "gradient in", "bound", *(TITLES.get(name, name) for name in names), "nearest"]
        text += f"\n## {dtype}\n\n| {' | '.join(heads)} |\n{'|---' * len(heads)}|\n"
        text += "".join(f"| {' | '.join(_cells(names, loss, report))} |\n" for loss, report in rows)
    return text


def _words_of(name: str) -> str:
    return f"naga (wgpu) on {backends.open_device(name).info}"


def _cells(names: Sequence[str], loss: Loss, report: Report) -> list[str]:
    forward, gradient = report.forward, report.gradient
    cells = [f"`{loss.function}`{loss.label.replace('-', ', ')}", differentiated(loss)[0].name]
    cells.append(f"{_range(forward.bounds)} / {_range(gradient.bounds)}")
    for name in names:
        if name not in forward.errors:
            cells.append("failed")
            continue
        cells.append(f"{_figure(forward.errors[name])} / {_figure(gradient.errors[name])}")
    return [*cells, f"{forward.share:.0%} / {gradient.share:.0%}"]


def _range(bounds: Sequence[float]) -> str:
    least, most = _figure(min(bounds, default=0.0)), _figure(max(bounds, default=0.0))
    return least if least == most else f"{least} to {most}"


def _figure(number: float) -> str:
    return f"{number:.2g}" if number < 1e5 else f"{number:.0e}"
