"""The page docs/ops.md, made from the rows: `python -m tilec.ops.document > docs/ops.md`."""

from __future__ import annotations

from collections.abc import Iterable

from tilec.ops.pointwise import POINTWISE
from tilec.ops.reduce import REDUCTIONS
from tilec.ops.spec import Call, ErrorBound, Helper, Infix, PointwiseOp, WgslForm

_HEAD = """# Operations

Made from the tables in `tilec/ops/` by `python -m tilec.ops.document`; a test holds it current.

*Special values*: **guarded** means that NaN, infinities and zeros behave as in NumPy on every WGSL implementation;
**hardware** that an implementation may differ there. *Error* is against the exact result, in units in the last place
(ULP) of it, or absolute where that is larger. f32 subnormals may be flushed to 0.
"""


def operations_page() -> str:
    """The text of docs/ops.md."""
    rows = list(POINTWISE.values())
    in_source = [row for row in rows if row.in_source]
    operators = [row for row in rows if not row.in_source and not _is_internal(row)]
    internal = [row for row in rows if _is_internal(row)]
    parts = [
        _HEAD,
        _section("Functions", in_source),
        _section("Operators", operators),
        _section("Internal", internal),
        "## Reductions\n",
        "| reduction | of no lane | combined by | meaning |\n|---|---|---|---|",
    ]
    for row in REDUCTIONS.values():
        identities = dict.fromkeys(str(value).lower() for value in row.identity.values())
        parts.append(f"| `{row.name}` | {', '.join(identities)} | `{row.combine}` ({row.state}) | {row.doc} |")
    return "\n".join(parts) + "\n"


def _is_internal(row: PointwiseOp) -> bool:
    return row.name.endswith("_fast") or row.name == "lse_add"


def _section(title: str, rows: Iterable[PointwiseOp]) -> str:
    lines = [
        f"## {title}\n",
        "| operation | meaning | types | special values | error | derivative | WGSL |\n|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = (
            f"`{row.name}`",
            row.doc,
            row.rule.replace("_", " "),
            row.special,
            _error(row.bound),
            ", ".join("none" if each in (None, "0") else f"`{each}`" for each in row.derivative),
            ", ".join(dict.fromkeys(_form(form) for form in row.wgsl.values())),
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _error(bound: ErrorBound) -> str:
    if not (bound.ulps or bound.absolute or bound.growth):
        return "exact"
    growth = f" + {bound.growth:g} `{bound.growth_of}`" if bound.growth else ""
    absolute = f", or {bound.absolute:g}" if bound.absolute else ""
    return f"{bound.ulps:g}{growth} ULP{absolute} ({bound.source})"


def _form(form: WgslForm) -> str:
    match form:
        case Infix():
            return f"`{form.symbol}`"
        case Call():
            return f"`{form.function}()`"
        case Helper():
            return "helper"


if __name__ == "__main__":
    print(operations_page(), end="")
