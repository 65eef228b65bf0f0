"""Diagnostics as text with source lines and carets, as JSON, and the long form of a code."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from tilec.diag.catalog import IDENTIFIERS, ROWS
from tilec.diag.report import Diagnostic
from tilec.source import Source, Span
from tilec.text import printable

_TAB = 4
_WIDEST = 160
"""Columns of a source line that are shown; of a longer one, the part around the caret."""
_MOST_LINES = 4
"""Lines of a long span that are shown: the first ones and the last."""

_MOST_CALLS = 5
"""Places on the way down through inlined functions that are shown: the first two and the last ones."""

_COLOURS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;34m", "hint": "\x1b[1;36m"}
_BOLD = "\x1b[1m"
_RESET = "\x1b[0m"


class _Paint:
    """Wraps text in terminal colours, or leaves it."""

    def __init__(self, color: bool) -> None:
        self._color = color

    def __call__(self, text: str, code: str) -> str:
        return f"{code}{text}{_RESET}" if self._color and text else text


@dataclass(frozen=True, slots=True)
class _Place:
    """A span to be shown, with what stands beside its carets, and `^` or `-`."""

    span: Span
    label: str
    mark: str
    kind: str
    heading: str


def render(diagnostic: Diagnostic, color: bool = False) -> str:
    """The diagnostic as several lines of text, without a newline at the end."""
    paint = _Paint(color)
    severity = paint(f"{diagnostic.severity}[{diagnostic.code}]", _COLOURS[diagnostic.severity])
    lines = [f"{severity}{paint(f': {diagnostic.message}', _BOLD)}"]
    places = _places(diagnostic)
    margin = max((_margin(place.span) for place in places), default=1)
    for group in _lines(places):
        lines += _show(group, margin, paint)
    if diagnostic.hint:
        lines += [f"{' ' * margin} {paint('|', _COLOURS['note'])}"] if places else []
        lines.append(
            f"{' ' * margin} {paint('=', _COLOURS['note'])} {paint('hint', _COLOURS['hint'])}: {diagnostic.hint}"
        )
    return "\n".join(lines)


def render_all(diagnostics: Sequence[object], color: bool = False) -> str:
    """All diagnostics, separated by empty lines, and a line that counts them."""
    texts = [
        render(item, color) if isinstance(item, Diagnostic) else printable(str(item), "\n") for item in diagnostics
    ]
    counts = summary(diagnostics)
    return "\n\n".join([*texts, counts] if counts else texts)


def summary(diagnostics: Sequence[object]) -> str:
    """`2 errors, 1 warning`; empty for none."""
    errors = sum(getattr(item, "severity", "error") == "error" for item in diagnostics)
    warnings = len(diagnostics) - errors
    words = [
        f"{count} {word}{'s' if count > 1 else ''}"
        for count, word in ((errors, "error"), (warnings, "warning"))
        if count
    ]
    return ", ".join(words)


def to_json(diagnostic: Diagnostic) -> dict[str, object]:
    """The diagnostic as plain data. Lines and columns count from 1, offsets from 0, all in characters."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "label": diagnostic.label,
        **_json_place(diagnostic.place),
        "through": [_json_place(span) for span in _way_down(diagnostic.span)[1:]],
        "notes": [{"message": text, **_json_place(span)} for span, text in diagnostic.placed_notes],
        "hint": diagnostic.hint,
    }


def explain(code: str) -> str:
    """The long form of a code (`E0312`, or `SHAPE_MISMATCH`) as Markdown. KeyError for an unknown one."""
    name = code.strip().upper().replace("-", "_")
    row = ROWS.get(name) or IDENTIFIERS[name]
    identifier = next(key for key, value in IDENTIFIERS.items() if value is row)
    title = row.message.replace("{{", "{").replace("}}", "}")
    return "\n".join(
        [
            f"## {row.code}: {identifier.lower().replace('_', ' ')}",
            "",
            f"*{row.severity}: {title}*",
            "",
            row.explanation.strip(),
            "",
            "Wrong:",
            "",
            f"```ph\n{row.wrong.strip()}\n```",
            "",
            "Right:",
            "",
            f"```ph\n{row.right.strip()}\n```",
            "",
        ]
    )


def errors_page() -> str:
    """The text of `docs/errors.md`."""
    head = [
        "# Diagnostics",
        "",
        "Generated from the catalog (`tilec/diag`) by `python -m tilec.diag.page`; `tilec explain CODE` prints one.",
        "Codes that begin with E are errors, those with W warnings; 01 is syntax, 02 names, 03 types and shapes,",
        "04 the grid and races between blocks, 05 limits. A failure inside the compiler has no code.",
        "",
    ]
    return "\n".join(head) + "\n" + "\n".join(explain(code) for code in ROWS)


# --- places ---


def _way_down(span: Span) -> list[Span]:
    """From the user's own text down through inlined calls to the place itself."""
    way = [span]
    while way[-1].via is not None:
        way.append(way[-1].via)
    return way[::-1]


def _places(diagnostic: Diagnostic) -> list[_Place]:
    way = _way_down(diagnostic.span)
    color = diagnostic.severity
    arguments = diagnostic.arguments
    first_label = diagnostic.label if len(way) == 1 else "in this call"
    places = [_Place(span, text, "^", color, "") for span, text in arguments]
    places = places or [_Place(way[0], first_label, "^", color, "")]
    skipped = len(way) - _MOST_CALLS if len(way) > _MOST_CALLS + 1 else 0
    for depth, span in enumerate(way[1:], 1):
        if skipped and 2 <= depth < 2 + skipped:
            continue
        inside = f"in `{_function_name(way[depth - 1])}`, called there"
        if skipped and depth == 2 + skipped:
            inside = f"{skipped} calls further down, {inside}"
        last = depth == len(way) - 1
        places.append(_Place(span, diagnostic.label if last else "in this call", "^" if last else "-", color, inside))
    for note in diagnostic.placed_notes:
        if note not in arguments:
            places.append(_Place(*note, "-", "note", ""))
    return [place for place in places if place.span.source.text or place.span.source.name]


def _function_name(call: Span) -> str:
    """The function of a call's span."""
    name = call.text.partition("(")[0].strip()
    return name if name.isidentifier() else "the function"


def _json_place(span: Span) -> dict[str, object]:
    source = span.source
    line, column = source.line_column(span.start)
    end_line, end_column = source.line_column(max(span.end, span.start))
    return {
        "file": source.name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "start": span.start,
        "end": span.end,
    }


def _margin(span: Span) -> int:
    """Digits of the largest line number that is shown."""
    return len(str(span.source.line_column(max(span.start, span.end - 1))[0]))


def _lines(places: Sequence[_Place]) -> list[list[_Place]]:
    """Places that follow each other on one line are shown together."""
    groups: list[list[_Place]] = []
    for place in places:
        last = groups[-1][-1] if groups else None
        if last is not None and _line_of(place) == _line_of(last) is not None:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def _line_of(place: _Place) -> tuple[int, int] | None:
    """The source and the line of a place that has one, and no heading."""
    span = place.span
    first, last = (span.source.line_column(at)[0] for at in (span.start, max(span.start, span.end - 1)))
    return (id(span.source), first) if first == last and not place.heading else None


def _show(group: Sequence[_Place], margin: int, paint: _Paint) -> list[str]:
    """`--> file:line:column` and the source lines with the spans underlined."""
    place = group[0]
    span = place.span
    source = span.source
    blue = _COLOURS["note"]
    line, column = source.line_column(span.start)
    arrow = "-->" if place.mark == "^" and not place.heading else ":::"
    lines = [f"{' ' * margin}{paint(arrow, blue)} {printable(source.name)}:{line}:{column}"]
    if place.heading:
        lines[0] += f" ({place.heading})"
    if not source.text:
        return lines
    bar = paint("|", blue)
    lines.append(f"{' ' * margin} {bar}")
    last_line = source.line_column(max(span.start, span.end - 1))[0]
    shown = list(range(line, last_line + 1))
    if len(shown) > _MOST_LINES:
        shown = [*shown[: _MOST_LINES - 2], 0, shown[-1]]
    for number in shown:
        if number == 0:
            lines.append(f"{paint('...', blue)}")
            continue
        text, _, _ = _underlined(source, number, span)
        lines.append(f"{paint(str(number).rjust(margin), blue)} {bar} {text}".rstrip())
        for one in group:
            _, start, width = _underlined(source, number, one.span)
            label = f" {one.label}" if one.label and number == last_line else ""
            if width:
                marked = paint(f"{one.mark * width}{label}", _COLOURS[one.kind])
                lines.append(f"{' ' * margin} {bar} {' ' * start}{marked}")
    return lines


def _underlined(source: Source, number: int, span: Span) -> tuple[str, int, int]:
    """A source line as shown, the column at which its underlining begins, and how wide it is.

    The width is at least 1, except on a blank line in the middle of a span. Of a long line only the part around the
    start of the underlining is shown.
    """
    raw = source.line_text(number)
    line_start = source.line_starts[number - 1]
    begins_here = span.start >= line_start
    first = min(span.start - line_start, len(raw)) if begins_here else len(raw) - len(raw.lstrip())
    stop = max(min(span.end - line_start, len(raw)), first)
    cut = max(0, first - _WIDEST // 2) if len(raw) > _WIDEST else 0
    end = min(len(raw), cut + _WIDEST)
    head, tail = "..." if cut else "", "..." if end < len(raw) else ""
    before = head + _display(raw[cut:first])
    marked = _display(raw[first : min(stop, end)])
    text = before + marked + _display(raw[min(stop, end) : end]) + tail
    return text, _width(before), max(_width(marked), 1 if begins_here else 0)


def _display(text: str) -> str:
    """Tabs become spaces, and what a terminal would not print becomes U+FFFD."""
    return printable(text.replace("\t", " " * _TAB))


def _width(text: str) -> int:
    """Columns on a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )
