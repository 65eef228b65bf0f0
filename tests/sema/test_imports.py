"""Files, imports, private names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tilec.diag.report import Reporter
from tilec.sema.infer import try_build_kernel
from tilec.sema.resolve import load_program

KERNEL = "kernel k(A: tensor<f32>[M]) {\n  A[:] = EXPRESSION\n}\n"


def check(folder: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    reporter = Reporter()
    program = load_program(folder / "main.ph", reporter)
    for name in program.kernels:
        kernel = try_build_kernel(program, name, reporter=reporter)
        assert kernel is not None or reporter.has_errors
    return [diagnostic.code for diagnostic in reporter.diagnostics]


def main(imports: list[str], expression: str) -> str:
    lines = "".join(f'import "{path}"\n' for path in imports)
    return lines + KERNEL.replace("EXPRESSION", expression)


def test_functions_and_constants_of_an_imported_file(tmp_path: Path):
    library = "const N = 2.0\nfn _hidden(x) = x * N\nfn shown(x) = _hidden(x)\n"
    assert check(tmp_path, {"main.ph": main(["lib/a.ph"], "shown(A[:]) + N"), "lib/a.ph": library}) == []
    assert check(tmp_path, {"main.ph": main(["lib/a.ph"], "_hidden(A[:])")}) == ["E0229"]


def test_imports_are_relative_to_their_file_and_not_passed_on(tmp_path: Path):
    files = {
        "main.ph": main(["lib/a.ph"], "outer(A[:])"),
        "lib/a.ph": 'import "deep/b.ph"\nfn outer(x) = inner(x)\n',
        "lib/deep/b.ph": "fn inner(x) = x\n",
    }
    assert check(tmp_path, files) == []
    assert check(tmp_path, {"main.ph": main(["lib/a.ph"], "inner(A[:])")}) == ["E0202"]


def test_circles_of_imports_are_fine_and_circles_of_calls_are_not(tmp_path: Path):
    files = {
        "main.ph": main(["a.ph"], "one(A[:])"),
        "a.ph": 'import "b.ph"\nfn one(x) = two(x)\n',
        "b.ph": 'import "a.ph"\nfn two(x) = x\n',
    }
    assert check(tmp_path, files) == []
    assert check(tmp_path, {"b.ph": 'import "a.ph"\nfn two(x) = one(x)\n'}) == ["E0213"]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/etc/passwd.ph", "E0223"), ("C:/x.ph", "E0223"), ("../x.ph", "E0224"), ("lib/../../x.ph", "E0224"),
        ("missing.ph", "E0225"), ("main.txt", "E0225"), ("link.ph", "E0224"), ("binary.ph", "E0226"),
        ("pipe.ph", "E0225"), ("folder.ph", "E0225"),
    ],
)  # fmt: skip
def test_what_cannot_be_imported(path: str, code: str, tmp_path: Path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.ph").write_text("fn secret(x) = x\n")
    (inside / "link.ph").symlink_to(tmp_path / "secret.ph")
    os.mkfifo(inside / "pipe.ph")
    (inside / "folder.ph").mkdir()
    (inside / "binary.ph").write_bytes(b"fn f(x) = x // \xff\n")
    assert check(inside, {"main.ph": main([path], "unknown_then(A[:])")}) == [code]


def test_conflicts_between_imports(tmp_path: Path):
    files = {"main.ph": main(["a.ph", "b.ph"], "f(A[:])"), "a.ph": "fn f(x) = x\n", "b.ph": "fn f(x) = x + 1.0\n"}
    assert check(tmp_path, files) == ["E0228"]
    assert check(tmp_path, {"b.ph": "fn f(x, y) = x + y\n"}) == []


def test_a_file_without_an_end_is_too_large():
    reporter = Reporter()
    load_program(Path("/dev/zero"), reporter)
    assert [diagnostic.code for diagnostic in reporter.diagnostics] == ["E0502"]


def test_a_missing_file_is_reported(tmp_path: Path):
    reporter = Reporter()
    load_program(tmp_path / "nothing.ph", reporter)
    assert [diagnostic.code for diagnostic in reporter.diagnostics] == ["E0227"]
