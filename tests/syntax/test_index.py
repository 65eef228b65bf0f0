"""The quick table of std's items, and items parsed alone."""

from pathlib import Path

import pytest

from tests.syntax.helpers import parse_text, show
from tilec.diag.report import Reporter
from tilec.source import Source
from tilec.syntax import ast
from tilec.syntax.index import index_items
from tilec.syntax.parse import parse, parse_item

TEXT = """\
/// One.
/// More.
fn f(x, y = max(1, 2),   // c, d
     z) = x
// plain
fn f(x,) { return x }

/// N.
const N: i32 = 3
fn none() { }
kernel k(a: f32) { }
fn g(
  /// Doc, of x.
  x = A[0, 1], y: tile<f32>[8, 1]
) = x == y
"""

STD = sorted((Path(__file__).resolve().parents[2] / "std").glob("*.ph"))


def test_names_and_numbers_of_arguments() -> None:
    table = index_items(Source("std/test.ph", TEXT))
    found = {name: [(one.kind, one.least, one.most) for one in entries] for name, entries in table.items()}
    assert found == {
        "f": [("fn", 2, 3), ("fn", 1, 1)],
        "N": [("const", 0, 0)],
        "none": [("fn", 0, 0)],
        "g": [("fn", 1, 2)],
    }


def test_an_item_parsed_alone_has_the_places_of_the_file() -> None:
    source = Source("std/test.ph", TEXT)
    whole = {item.span.start: item for item in parse(source, Reporter()).items}
    for entries in index_items(source).values():
        for entry in entries:
            reporter = Reporter()
            item = parse_item(source, entry.start, entry.end, reporter)
            assert not reporter.diagnostics
            assert item is not None
            assert item.name.name == entry.name
            assert show(item) == show(whole[item.span.start])
            assert item.doc == whole[item.span.start].doc


def test_diagnostics_of_a_part_have_the_places_of_the_file() -> None:
    source = Source("std/test.ph", "const A = 1\nfn f(x) = x +\n")
    reporter = Reporter()
    assert parse_item(source, 12, len(source.text), reporter) is None
    (diagnostic,) = reporter.diagnostics
    assert source.line_column(diagnostic.span.start) == (2, 14)


@pytest.mark.parametrize("path", STD, ids=lambda path: path.name)
def test_the_index_of_std_is_what_parsing_finds(path: Path) -> None:
    source = Source(path.name, path.read_text(encoding="utf-8"))
    file, diagnostics = parse_text(source.text)
    assert not diagnostics
    expected: dict[str, list[tuple[int, int]]] = {}
    for item in file.items:
        if isinstance(item, ast.Function):
            defaults = sum(parameter.default is not None for parameter in item.parameters)
            expected.setdefault(item.name.name, []).append((len(item.parameters) - defaults, len(item.parameters)))
        elif isinstance(item, ast.Const):
            expected.setdefault(item.name.name, []).append((0, 0))
    table = index_items(source)
    assert {name: [(one.least, one.most) for one in entries] for name, entries in table.items()} == expected
