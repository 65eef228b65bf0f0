"""The reporter and suggestions."""

import pytest

from tilec.diag import catalog
from tilec.diag.report import LIMIT, Diagnostic, Reporter, did_you_mean, outermost, suggest
from tilec.errors import CompileError
from tilec.source import Source, Span

SOURCE = Source("a.ph", "let a = b\nlet c = d\n")


def at(start: int, end: int) -> Span:
    return Span(SOURCE, start, end)


def test_fields_fill_the_templates() -> None:
    reporter = Reporter()
    reporter.error(catalog.KEYWORD_AS_NAME, at(0, 3), keyword="let")
    assert reporter.diagnostics == (
        Diagnostic(
            "E0108",
            "error",
            "`let` is a keyword and cannot be a name",
            "a name is needed here",
            at(0, 3),
            (),
            "call it `let_`",
        ),
    )


def test_a_hint_given_replaces_the_row() -> None:
    reporter = Reporter()
    reporter.error(catalog.KEYWORD_AS_NAME, at(0, 3), keyword="let", hint="other")
    assert reporter.diagnostics[0].hint == "other"


def test_a_missing_field_is_a_fault_of_the_compiler() -> None:
    with pytest.raises(KeyError):
        Reporter().error(catalog.KEYWORD_AS_NAME, at(0, 3))


def test_fields_are_one_line_of_bounded_length() -> None:
    reporter = Reporter()
    reporter.error(catalog.KEYWORD_AS_NAME, at(0, 3), keyword="a\n  b" + "c" * 1000)
    (diagnostic,) = reporter.diagnostics
    assert diagnostic.message.startswith("`a bccc")
    assert "\n" not in diagnostic.message
    assert len(diagnostic.message) < 400


def test_severity_must_fit() -> None:
    with pytest.raises(AssertionError):
        Reporter().warning(catalog.BRACE_ALONE, at(0, 1))
    with pytest.raises(AssertionError):
        Reporter().error(catalog.DOC_ON_NOTHING, at(0, 1))


def test_the_same_at_the_same_place_is_said_once() -> None:
    reporter = Reporter()
    for call in (at(10, 13), at(14, 15)):
        reporter.error(catalog.BRACE_ALONE, at(0, 1).through(call))
    reporter.error(catalog.BRACE_ALONE, at(2, 3))
    assert len(reporter.diagnostics) == 2


def test_source_order_and_kinds() -> None:
    reporter = Reporter()
    reporter.error(catalog.BRACE_ALONE, at(10, 11))
    reporter.warning(catalog.DOC_ON_NOTHING, at(4, 5))
    assert [one.code for one in reporter.diagnostics] == ["W0101", "E0109"]
    assert [one.code for one in reporter.errors] == ["E0109"]
    assert [one.code for one in reporter.warnings] == ["W0101"]


def test_raise_if_errors() -> None:
    reporter = Reporter()
    reporter.warning(catalog.DOC_ON_NOTHING, at(4, 5))
    reporter.raise_if_errors()
    reporter.error(catalog.BRACE_ALONE, at(10, 11))
    with pytest.raises(CompileError) as caught:
        reporter.raise_if_errors()
    assert caught.value.diagnostics == reporter.diagnostics
    assert "error[E0109]" in str(caught.value)
    assert str(caught.value).endswith("1 error, 1 warning")


def test_the_limit() -> None:
    source = Source("a.ph", "x" * 1000)
    reporter = Reporter()
    for start in range(500):
        reporter.warning(catalog.DOC_ON_NOTHING, Span(source, start, start + 1))
    assert len(reporter.diagnostics) == LIMIT
    assert not reporter.has_errors
    reporter.error(catalog.BRACE_ALONE, Span(source, 0, 1))
    assert reporter.has_errors


def test_errors_are_told_where_warnings_reach_the_limit() -> None:
    source = Source("a.ph", "x" * 1000)
    reporter = Reporter()
    for start in range(LIMIT + 20):
        reporter.warning(catalog.DOC_ON_NOTHING, Span(source, start, start + 1))
    reporter.error(catalog.BRACE_ALONE, Span(source, 900, 901))
    assert [one.code for one in reporter.errors] == ["E0109"]
    assert len(reporter.diagnostics) == LIMIT
    assert reporter.warnings[-1].span.start == LIMIT - 2
    for start in range(LIMIT + 20):
        reporter.error(catalog.BRACE_ALONE, Span(source, start, start + 1))
    assert len(reporter.errors) == len(reporter.diagnostics) == LIMIT


def test_outermost() -> None:
    span = at(0, 1).through(at(2, 3).through(at(4, 5)))
    assert outermost(span) == at(4, 5)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("logsumexpp", "logsumexp"),
        ("log_sum_exp", "logsumexp"),
        ("rowsm", "rowsum"),
        ("Rowsum", "rowsum"),
        ("sqroot", "sqrt"),
        ("elephant", None),
        ("rowsum", None),
        ("zz", None),
        ("", None),
    ],
)
def test_suggestions(name: str, expected: str | None) -> None:
    assert suggest(name, ["rowsum", "logsumexp", "sqrt", "x", "target"]) == expected


def test_did_you_mean() -> None:
    assert did_you_mean("targt", ["target"]) == "did you mean `target`?"
    assert did_you_mean("q", ["target"]) is None
