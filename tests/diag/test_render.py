"""How diagnostics look."""

import json

import pytest

from tilec.diag import catalog
from tilec.diag.render import explain, render, render_all, summary, to_json
from tilec.diag.report import Diagnostic, Reporter
from tilec.source import Source, Span

TEXT = """\
kernel k(A: tensor<f32>[M, 16]) {
\tlet x = A[:, :]
  A[:, :] = outer(x,
                  1.0)
}
"""
USER = Source("user.ph", TEXT)
STD = Source("std/loss.ph", "fn outer(x, y) = inner(x) + y\nfn inner(x) =\n  x + column\n", is_std=True)


def span(source: Source, text: str, nth: int = 0) -> Span:
    start = -1
    for _ in range(nth + 1):
        start = source.text.index(text, start + 1)
    return Span(source, start, start + len(text))


def found(place: Span, label: str = "here", **more: object) -> Diagnostic:
    return Diagnostic("E0312", "error", "the message", label, place, **more)


def test_one_line() -> None:
    assert render(found(span(USER, "A[:, :]", 1), hint="try this")).splitlines() == [
        "error[E0312]: the message",
        " --> user.ph:3:3",
        "  |",
        "3 |   A[:, :] = outer(x,",
        "  |   ^^^^^^^ here",
        "  |",
        "  = hint: try this",
    ]


def test_tabs() -> None:
    assert render(found(span(USER, "A[:, :]"))).splitlines()[3:] == [
        "2 |     let x = A[:, :]",
        "  |             ^^^^^^^ here",
    ]


def test_several_lines() -> None:
    assert render(found(span(USER, "outer(x,\n                  1.0)"))).splitlines()[3:] == [
        "3 |   A[:, :] = outer(x,",
        "  |             ^^^^^^^^",
        "4 |                   1.0)",
        "  |                   ^^^^ here",
    ]


def test_many_lines_are_abbreviated() -> None:
    source = Source("a.ph", "f(\n" + "  1,\n" * 20 + "\n)\n")
    lines = render(found(Span(source, 0, len(source.text) - 1))).splitlines()
    assert lines[1] == "  --> a.ph:1:1"
    assert lines[3:] == [
        " 1 | f(",
        "   | ^^",
        " 2 |   1,",
        "   |   ^^",
        "...",
        "23 | )",
        "   | ^ here",
    ]


def test_notes_have_their_own_lines() -> None:
    diagnostic = found(span(USER, "outer"), notes=((span(USER, "tensor<f32>[M, 16]"), "this is [M, 16]"),))
    assert render(diagnostic).splitlines()[5:] == [
        " ::: user.ph:1:13",
        "  |",
        "1 | kernel k(A: tensor<f32>[M, 16]) {",
        "  |             ------------------ this is [M, 16]",
    ]


def test_the_way_down_through_inlined_functions() -> None:
    call = span(USER, "outer(x,\n                  1.0)")
    inner = span(STD, "inner(x)").through(call)
    place = span(STD, "x + column").through(inner)
    assert render(found(place)).splitlines() == [
        "error[E0312]: the message",
        " --> user.ph:3:13",
        "  |",
        "3 |   A[:, :] = outer(x,",
        "  |             ^^^^^^^^",
        "4 |                   1.0)",
        "  |                   ^^^^ in this call",
        " ::: std/loss.ph:1:18 (in `outer`, called there)",
        "  |",
        "1 | fn outer(x, y) = inner(x) + y",
        "  |                  -------- in this call",
        " ::: std/loss.ph:3:3 (in `inner`, called there)",
        "  |",
        "3 |   x + column",
        "  |   ^^^^^^^^^^ here",
    ]
    data = to_json(found(place))
    assert (data["file"], data["line"], data["column"]) == ("user.ph", 3, 13)
    assert [(one["file"], one["line"]) for one in data["through"]] == [("std/loss.ph", 1), ("std/loss.ph", 3)]


def test_a_long_way_down_is_abbreviated() -> None:
    source = Source("a.ph", "".join(f"fn f{number}(x) = f{number + 1}(x)\n" for number in range(20)))
    place = span(source, "f1(x)")
    for number in range(2, 20):
        place = span(source, f"f{number}(x)").through(place)
    lines = [line for line in render(found(place)).splitlines() if ":::" in line or "-->" in line]
    assert lines == [
        "  --> a.ph:1:12",
        "  ::: a.ph:2:12 (in `f1`, called there)",
        "  ::: a.ph:17:13 (14 calls further down, in `f16`, called there)",
        "  ::: a.ph:18:13 (in `f17`, called there)",
        "  ::: a.ph:19:13 (in `f18`, called there)",
    ]


def test_wide_characters() -> None:
    source = Source("a.ph", 'require "\u65e5\u672c", e\u0301 + x\n')
    lines = render(found(span(source, "x"))).splitlines()
    assert lines[4].index("^") == lines[3].index("x") + 2 - 1  # two characters of two columns, one of none


@pytest.mark.parametrize("text", ["", "\n", "a", "a\n", "a\r\n"])
def test_ends_of_files(text: str) -> None:
    source = Source("a.ph", text)
    for start in range(len(text) + 1):
        lines = render(found(Span(source, start, start))).splitlines()
        assert lines[1].startswith(" --> a.ph:")
        assert all(line == line.rstrip() for line in lines)
        if text:
            assert lines[-1].endswith("^ here")


def test_what_a_terminal_would_not_print() -> None:
    source = Source("a.ph", "a \x1b[31m b\0\n")
    assert "\x1b" not in render(found(span(source, "b")))
    assert "\0" not in render(found(span(source, "b")))


def test_long_lines_are_cut() -> None:
    source = Source("a.ph", "x + " * 1000 + "y" + " + z" * 1000)
    lines = render(found(span(source, "y"))).splitlines()
    assert max(map(len, lines)) < 200
    assert lines[3][lines[4].index("^")] == "y"
    lines = render(found(Span(source, 0, len(source.text)))).splitlines()
    assert max(map(len, lines)) < 200


def test_color_changes_nothing_else() -> None:
    import re

    diagnostic = found(span(USER, "outer"), notes=((span(USER, "A"), "note"),), hint="hint")
    colored = render(diagnostic, color=True)
    assert "\x1b[1;31m" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == render(diagnostic)


def test_all() -> None:
    warning = Diagnostic("W0201", "warning", "unused", "", span(USER, "x"))
    text = render_all([found(span(USER, "x")), found(span(USER, "A")), warning])
    assert text.count("-->") == 3
    assert text.endswith("\n\n2 errors, 1 warning")
    assert summary([]) == ""
    assert summary([warning, warning]) == "2 warnings"
    assert render_all(["only words"]) == "only words\n\n1 error"


def test_json_is_plain() -> None:
    diagnostic = found(span(USER, "outer"), notes=((span(USER, "A"), "note"),))
    data = json.loads(json.dumps(to_json(diagnostic)))
    assert data["code"] == "E0312"
    assert (data["line"], data["column"], data["end_column"]) == (3, 13, 18)
    assert TEXT[data["start"] : data["end"]] == "outer"
    assert data["notes"][0]["message"] == "note"
    assert data["through"] == []


def test_explain() -> None:
    for name in ("E0312", "e0312", "SHAPE_MISMATCH", "shape-mismatch"):
        assert explain(name).startswith("## E0312: shape mismatch\n")
    with pytest.raises(KeyError):
        explain("E9999")


def test_a_span_of_every_place_can_be_rendered() -> None:
    reporter = Reporter()
    for start in range(0, len(TEXT) + 1, 7):
        for end in range(start, len(TEXT) + 1, 11):
            reporter.error(catalog.BRACE_ALONE, Span(USER, start, end))
    assert len(render_all(reporter.diagnostics).splitlines()) > 400
