"""The catalog: every row is complete, has a fixture and a section of docs/errors.md, and its examples are right."""

import re
from pathlib import Path

import pytest

from tests.diag import fixtures
from tests.diag.fixtures import Fixture, diagnostics_of, where
from tilec.diag.catalog import IDENTIFIERS, ROWS
from tilec.diag.render import errors_page, explain
from tilec.diag.report import Reporter
from tilec.diag.row import Row
from tilec.source import Source
from tilec.syntax.parse import parse

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = fixtures.all_fixtures()
ALL_ROWS = list(ROWS.values())
# Their right form differs from the wrong one by more than the text, or needs files beside it.
NEEDS_MORE_THAN_A_TEXT = {"E0228", "E0229"}


def code_of(row: Row) -> str:
    return row.code


def test_codes_and_identifiers_are_unique() -> None:
    assert len(ROWS) == len(IDENTIFIERS) >= 75


def test_every_row_has_one_fixture() -> None:
    assert {fixture.path.stem for fixture in FIXTURES} == set(ROWS)
    assert all(fixture.path.stem == fixture.code for fixture in FIXTURES)


def test_the_page_is_what_the_catalog_generates() -> None:
    page = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    assert page == errors_page(), "run: python -m tilec.diag.page > docs/errors.md"
    assert re.findall(r"^## ([EW]\d{4})", page, re.MULTILINE) == sorted(ROWS)


@pytest.mark.parametrize("row", ALL_ROWS, ids=code_of)
def test_rows_are_complete(row: Row) -> None:
    assert re.fullmatch(r"(E0[1-5]|W0[1-4])\d\d", row.code)
    assert row.message
    assert not row.message.endswith(".")
    assert row.explanation.strip().endswith((".", ")", "`"))
    sample = dict.fromkeys(row.fields, "x")
    for template in (row.message, row.label, row.hint or ""):
        assert "\n" not in template.format(**sample)
    text = explain(row.code)
    assert text.startswith(f"## {row.code}: ")
    assert row.right.strip() in text


@pytest.mark.parametrize("row", ALL_ROWS, ids=code_of)
def test_examples_follow_the_grammar(row: Row) -> None:
    """The right form always; the wrong one unless the grammar is what it shows."""
    for text in [row.right] if row.code.startswith(("E01", "W01")) else [row.right, row.wrong]:
        reporter = Reporter()
        parse(Source(row.code, text), reporter)
        assert not reporter.diagnostics


@pytest.mark.parametrize("row", [row for row in ALL_ROWS if row.code not in NEEDS_MORE_THAN_A_TEXT], ids=code_of)
def test_the_right_form_compiles(row: Row) -> None:
    assert [str(found) for found in diagnostics_of(Source("right.ph", row.right.strip() + "\n"))] == []


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.code)
def test_fixtures(fixture: Fixture) -> None:
    """The one finding of the code at its place, and nothing else."""
    found = fixtures.compile_fixture(fixture)
    assert [f"{one.code} at {where(one)}" for one in found] == [f"{fixture.code} at {fixture.place}"]
    assert found[0].severity == ROWS[fixture.code].severity


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.code)
def test_the_wrong_form_of_the_page_is_the_fixture(fixture: Fixture) -> None:
    """So that what the page shows is tested. Where the page abbreviates, it says so."""
    wrong = ROWS[fixture.code].wrong.strip()
    assert wrong in fixture.text or "and so on" in wrong
