"""No import reads what lies outside of its file's folder, or what is no file, whatever it is called."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sema.test_imports import KERNEL, check, main
from tilec.diag.report import Reporter
from tilec.sema.files import LONGEST_PATH, Disk
from tilec.sema.resolve import load_program
from tilec.source import Source

USED = "secret(A[:])"
SECRET = "fn secret(x) = x * 40499.0\n"


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """A folder beside which lies a secret."""
    folder = tmp_path / "inside"
    (folder / "lib").mkdir(parents=True)
    (tmp_path / "secret.ph").write_text(SECRET)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/secret.ph").write_text(SECRET)
    return folder


def codes_of(inside: Path, path: str) -> list[str]:
    (inside / "main.ph").write_text(main([path], USED), encoding="utf-8", errors="surrogatepass")
    reporter = Reporter()
    load_program(inside / "main.ph", reporter)
    text = "".join(str(one) + str(one.notes) + str(one.hint) for one in reporter.diagnostics)
    assert "40499" not in text
    return [one.code for one in reporter.diagnostics]


def test_links_that_lead_out(inside: Path, tmp_path: Path) -> None:
    (inside / "link.ph").symlink_to("../secret.ph")
    (inside / "absolute.ph").symlink_to(tmp_path / "secret.ph")
    (inside / "folder").symlink_to(tmp_path / "other")
    (inside / "up").symlink_to("..")
    (inside / "lib/up").symlink_to("../..")
    (inside / "twice.ph").symlink_to("link.ph")
    (inside / "proc").symlink_to("/proc/self")
    (inside / "round.ph").symlink_to("round.ph")
    for path in ("link.ph", "absolute.ph", "folder/secret.ph", "up/secret.ph", "up/other/secret.ph", "lib/up/secret.ph",
                 "twice.ph", "proc/environ.ph", "lib/up/other/../secret.ph"):  # fmt: skip
        assert codes_of(inside, path) == ["E0224"], path
    assert codes_of(inside, "round.ph") in (["E0225"], ["E0224"])


def test_links_inside_are_followed(inside: Path) -> None:
    (inside / "lib/own.ph").write_text(SECRET)
    (inside / "link.ph").symlink_to("lib/own.ph")
    (inside / "folder").symlink_to("lib")
    (inside / "back").symlink_to("../inside/lib")
    for path in ("link.ph", "folder/own.ph", "back/own.ph", "./lib/./own.ph", "lib//own.ph"):
        assert codes_of(inside, path) == [], path


def test_a_folder_that_is_a_link_itself(inside: Path, tmp_path: Path) -> None:
    """What the caller names is the caller's choice, but imports stay below where it leads."""
    (inside / "lib/own.ph").write_text(SECRET)
    (inside / "out.ph").symlink_to("../secret.ph")
    (tmp_path / "alias").symlink_to("inside")
    assert codes_of(tmp_path / "alias", "lib/own.ph") == []
    assert codes_of(tmp_path / "alias", "out.ph") == ["E0224"]


def test_an_imported_file_may_not_reach_higher_than_its_own_folder(inside: Path) -> None:
    (inside / "top.ph").write_text(SECRET)
    (inside / "lib/up.ph").symlink_to("../top.ph")
    files = {"main.ph": main(["lib/a.ph"], "outer(A[:])"), "lib/a.ph": 'import "up.ph"\nfn outer(x) = secret(x)\n'}
    assert check(inside, files) == ["E0224"]


NAMES = {
    "a backslash": ("..\\secret.ph", "E0224"),
    "a drive": ("C:secret.ph", "E0223"),
    "a share": ("\\\\host\\share\\x.ph", "E0223"),
    "a home": ("~/x.ph", "E0223"),
    "a url": ("https://host/x.ph", "E0223"),
    "a stream": ("lib/own.txt:x.ph", "E0225"),
    "a stream of a file": ("lib/own.ph::$DATA", "E0225"),
    "a device": ("NUL.ph", "E0225"),
    "a device with more": ("lib/com1.tar.ph", "E0225"),
    "a folder that is a device": ("aux/x.ph", "E0225"),
    "a zero": ("x\0.ph", "E0225"),
    "a zero that ends it early": ("lib/own.txt\0.ph", "E0225"),
    "another ending": ("lib/own.PH", "E0225"),
    "a space at the end": ("lib/own.ph ", "E0225"),
    "a dot at the end": ("lib/own.ph.", "E0225"),
    "no name": ("", "E0225"),
    "an ending only": (".ph", "E0225"),
    "a folder only": ("lib/", "E0225"),
    "dots": ("...ph", "E0225"),
    "dots in full width": ("\uff0e\uff0e/secret.ph", "E0225"),
    "a slash in full width": ("..\uff0fsecret.ph", "E0225"),
    "a direction": ("\u202ehp.x.ph", "E0225"),
    "an escape": ("\x1b[31m.ph", "E0225"),
    "a long name": ("x" * 300 + ".ph", "E0225"),
    "a long path": ("a/" * 400 + "x.ph", "E0225"),
    "a very long path": ("a/" * 400_000 + "x.ph", "E0225"),
    "a variable": ("$HOME/x.ph", "E0225"),
    "a pattern": ("*.ph", "E0225"),
}


@pytest.mark.parametrize("what", NAMES)
def test_names(what: str, inside: Path) -> None:
    (inside / "lib/own.txt").write_text(SECRET)
    (inside / "lib/own.ph").write_text(SECRET)
    path, code = NAMES[what]
    began = time.monotonic()
    assert codes_of(inside, path) == [code]
    assert time.monotonic() - began < 5


def test_halves_of_characters(tmp_path: Path) -> None:
    reporter = Reporter()
    load_program(Source(str(tmp_path / "main.ph"), main(["\ud800.ph", "lib/\udcff.ph"], "A[:]")), reporter)
    assert [one.code for one in reporter.diagnostics] == ["E0225", "E0225"]


def test_the_longest_path(inside: Path) -> None:
    parts = ["d" * 200] * (LONGEST_PATH // 201)
    path = "/".join([*parts, "x" * (LONGEST_PATH - 201 * len(parts) - 3) + ".ph"])
    assert len(path) == LONGEST_PATH
    target = inside / path
    target.parent.mkdir(parents=True)
    target.write_text(SECRET)
    assert codes_of(inside, path) == []
    assert codes_of(inside, f"./{path}") == ["E0225"]


def test_many_imports_of_what_is_missing_take_no_time(inside: Path) -> None:
    text = "".join(f'import "{"a/" * 200}{number}.ph"\n' for number in range(2000))
    (inside / "main.ph").write_text(text)
    reporter = Reporter()
    began = time.monotonic()
    load_program(inside / "main.ph", reporter)
    assert len(reporter.diagnostics) == 100
    assert time.monotonic() - began < 20


def test_names_that_differ_in_case_or_form_are_files_of_their_own_or_one(inside: Path) -> None:
    """Where a disk takes them for one file, it is read a few times more, and not for ever."""
    (inside / "a.ph").write_text('import "A.ph"\nimport "\u00e9.ph"\nfn one(x) = x\n')
    (inside / "A.ph").write_text('import "a.ph"\nimport "e\u0301.ph"\nfn two(x) = x\n')
    (inside / "\u00e9.ph").write_text("fn three(x) = x\n")
    (inside / "e\u0301.ph").write_text("fn four(x) = x\n")
    (inside / "main.ph").write_text(main(["a.ph", "A.ph"], "A[:]"))
    reporter = Reporter()
    program = load_program(inside / "main.ph", reporter)
    assert not reporter.has_errors
    assert len(program.files) == 5


# --- what is no file -----------------------------------------------------------------------------------------


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path) -> None:
    os.chdir(path.parent)  # a socket's name is short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)


def a_folder(path: Path) -> None:
    path.mkdir()


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to("missing.ph")


def a_link_to_a_pipe(path: Path) -> None:
    os.mkfifo(path.parent / "pipe")
    path.symlink_to("pipe")


@pytest.mark.parametrize("make", [a_pipe, a_socket, a_folder, a_link_to_nothing, a_link_to_a_pipe])
def test_what_is_no_file_is_not_opened(
    make: Callable[[Path], None], inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inside)
    make(inside / "x.ph")
    began = time.monotonic()
    assert codes_of(inside, "x.ph") == ["E0225"]
    assert time.monotonic() - began < 5


# --- what changes in between ---------------------------------------------------------------------------------


def swap_link(inside: Path, target: Path) -> None:
    (inside / "lib/own.ph").unlink()
    (inside / "lib/own.ph").symlink_to(target / "secret.ph")


def swap_folder(inside: Path, target: Path) -> None:
    (inside / "lib").rename(inside / "was")
    (inside / "lib").symlink_to(target / "other")
    (target / "other/own.ph").write_text(SECRET)


def swap_pipe(inside: Path, target: Path) -> None:
    (inside / "lib/own.ph").unlink()
    os.mkfifo(inside / "lib/own.ph")


def swap_nothing(inside: Path, target: Path) -> None:
    (inside / "lib/own.ph").unlink()


@pytest.mark.parametrize("swap", [swap_link, swap_folder, swap_pipe, swap_nothing])
def test_what_changes_between_the_look_and_the_reading(
    swap: Callable[[Path, Path], None], inside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (inside / "lib/own.ph").write_text("fn own(x) = x\n")
    locate = Disk.locate

    def slow(self: Disk, importing, parts):
        place = locate(self, importing, parts)
        swap(inside, tmp_path)
        return place

    monkeypatch.setattr(Disk, "locate", slow)
    assert codes_of(inside, "lib/own.ph") == ["E0225"]


def test_a_file_that_is_replaced_while_it_is_opened(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (inside / "lib/own.ph").write_text("fn own(x) = x\n")
    looked = os.stat

    def slow(path, *arguments, **options):
        found = looked(path, *arguments, **options)
        if path == "own.ph" and not (inside / "lib/own.ph").is_fifo():
            (inside / "lib/own.ph").unlink()
            os.mkfifo(inside / "lib/own.ph")
        return found

    monkeypatch.setattr(os, "stat", slow)
    assert codes_of(inside, "lib/own.ph") == ["E0225"]


def test_the_kernel_of_these_tests_is_right_otherwise(inside: Path) -> None:
    (inside / "own.ph").write_text(SECRET)
    assert codes_of(inside, "own.ph") == []
    assert "EXPRESSION" in KERNEL
