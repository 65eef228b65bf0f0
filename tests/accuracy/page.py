"""The page docs/accuracy.md, from figures."""

from __future__ import annotations

from collections.abc import Sequence

from tests.accuracy.measure import DRAWS, KNOWN_FAULTS, SHORT_ROWS, Report
from tests.reference.training_table import Loss
from tests.std.test_training import differentiated

TITLES = {
    "lavapipe": "lavapipe", "swiftshader": "SwiftShader", "dawn:lavapipe": "Dawn, lavapipe", "chromium": "Chromium",
}  # fmt: skip

HEAD = """\
# How accurate the losses are

Made by `python -m tests.accuracy > docs/accuracy.md`, which fails where an error is above its bound; `--device NAME` adds
another adapter. Not edited by hand.

Each loss of the library and its derived gradient in its first argument (the logits, the prediction), in each storage
type, against float64: the loss against a NumPy function written from the formula, the gradient against the derived one
in double precision, which the tests of gradients compare with PyTorch's autograd and central differences. What is
compared begins with the numbers as they are stored; a loss is stored as f32, a gradient in the type of its argument.

**The unit** is one in the last place of the type in which a result is stored, at the largest exact result of its row
(of at least 2^-100, below which devices may flush to 0): 2^-23, 2^-10 or 2^-7 of its power of two. 0.5 is what rounding once
costs.

**The bound** is how far any implementation of WGSL may lie from float64 on these data: the interpreter of the language
carries ranges along in which each operation errs as far as WGSL's accuracy rules let it, or its row in [ops.md](ops.md)
where those are too loose. Every element must lie in its own range; the column shows the widest. Figures are
`loss / gradient`.

**Implementations**: naga (wgpu) on lavapipe (Mesa 25) and on SwiftShader, Tint in Dawn on lavapipe, and in a page of
Chromium, on its SwiftShader, which runs the files that `tilec compile` writes.

**The data**, drawn, the same each time:

"""


def page(names: Sequence[str], found: Sequence[tuple[Loss, str, Report]]) -> str:
    """Markdown: the head, then a table for each type."""
    lines = [f"- {draw}" for draw in DRAWS]
    lines += [f"  (`{name}`, whose time grows with the square: {most} columns at most)" for name, most in SHORT_ROWS.items()]
    text = HEAD + "\n".join(lines) + "\n"
    faults = sorted({(loss.function, name) for loss, _, report in found for name in report.faults})
    for dtype in dict.fromkeys(dtype for _, dtype, _ in found):
        rows = [(loss, report) for loss, of, report in found if of == dtype]
        text += f"\n## {dtype}\n\n| function | gradient in | bound |"
        text += "".join(f" {TITLES.get(name, name)} |" for name in names) + "\n|---|---|---|" + "---|" * len(names) + "\n"
        for loss, report in rows:
            bound = f"{_figure(report.forward.bound)} / {_figure(report.gradient.bound)}"
            cells = [
                f"{_figure(report.forward.errors[name])} / {_figure(report.gradient.errors[name])}"
                + ("*" if name in report.faults else "")
                if name in report.forward.errors
                else "failed"
                for name in names
            ]
            title = f"`{loss.function}`{loss.label.replace('-', ', ')}"
            text += f"| {title} | {differentiated(loss)[0].name} | {bound} | {' | '.join(cells)} |\n"
    if faults:
        text += "\n\\* above the bound, by a fault of the driver:\n\n"
        text += "".join(f"- `{function}` on {TITLES.get(name, name)}: {KNOWN_FAULTS[function, name]}\n" for function, name in faults)
    return text


def _figure(number: float) -> str:
    return f"{number:.2g}" if number < 100 else f"{number:,.0f}"
