"""Files that cannot be read."""

from pathlib import Path

from tilec.diag.report import Reporter
from tilec.syntax.parse import MAXIMUM_SIZE
from tilec.syntax.read import read_source


def refused(path: Path) -> str:
    reporter = Reporter()
    assert read_source(path, reporter, name="my.ph") is None
    (diagnostic,) = reporter.diagnostics
    return f"{diagnostic.code} {diagnostic.message}"


def test_a_file_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.ph"
    path.write_bytes("\ufeffconst A = 1 // \u00e9\r\n".encode())
    reporter = Reporter()
    source = read_source(path, reporter)
    assert source is not None
    assert (source.text, source.name) == ("const A = 1 // \u00e9\r\n", str(path))


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a.ph"
    path.write_bytes(b"const secret = 1 // \xe9\n")
    assert refused(path) == "E0226 `my.ph` is not UTF-8 text (byte 20)"


def test_missing(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.ph") == "E0227 `my.ph` cannot be read: no such file"


def test_a_folder(tmp_path: Path) -> None:
    assert refused(tmp_path) == "E0227 `my.ph` cannot be read: it is a folder"


def test_not_a_file_name() -> None:
    assert refused(Path("a\0b")) == "E0227 `my.ph` cannot be read: not a file name"


def test_too_large(tmp_path: Path) -> None:
    path = tmp_path / "a.ph"
    path.write_bytes(b" " * (MAXIMUM_SIZE + 1))
    assert refused(path) == "E0502 the source has 1048577 characters; the limit is 1048576"
    path.write_bytes(b" " * (5 * MAXIMUM_SIZE))
    assert refused(path).startswith("E0502 the source has more than")


def test_largest_in_wide_characters(tmp_path: Path) -> None:
    path = tmp_path / "a.ph"
    path.write_text("//" + "\U0001f600" * (MAXIMUM_SIZE - 2), encoding="utf-8")
    assert read_source(path, Reporter()) is not None
