"""Where the compiler reports: every row is used, and every use fills the fields of its row."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tilec.diag.catalog import IDENTIFIERS
from tilec.diag.row import Row

PACKAGE = Path(__file__).resolve().parents[2] / "tilec"
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if not path.name.startswith("rows_")]


def reported_row(node: ast.expr) -> Row | None:
    """The row that an expression `catalog.NAME` or `NAME` is."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return IDENTIFIERS.get(name)


def uses(tree: ast.AST) -> Iterator[tuple[Row, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            row = reported_row(node.args[0])
            if row is not None:
                yield row, node


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_fields_are_given(path: Path) -> None:
    for row, call in uses(ast.parse(path.read_text(encoding="utf-8"))):
        given = {keyword.arg for keyword in call.keywords}
        if None in given:
            continue  # `**fields`: what they are is decided elsewhere
        needed = row.fields
        if "hint" in given:
            needed = Row(row.code, row.message, row.label, None, "", "", "").fields
        missing = needed - given
        assert not missing, f"{path.name}:{call.lineno}: {row.code} needs {sorted(missing)}"


def test_every_row_is_used() -> None:
    names: set[str] = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                names.add(node.attr)
            elif isinstance(node, ast.Name):
                names.add(node.id)
    assert sorted(set(IDENTIFIERS) - names) == []
