"""The linters accept the tree, and each refuses a planted violation."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.house.rules import ROOT


def run(*command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    # Planted trees must be found before the checkout that is installed.
    variables = os.environ | {"PYTHONPATH": str(cwd)}
    return subprocess.run([sys.executable, "-m", *command], cwd=cwd, env=variables, capture_output=True, text=True)


def lint_imports(cwd: Path) -> subprocess.CompletedProcess[str]:
    code = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    variables = os.environ | {"PYTHONPATH": str(cwd)}
    return subprocess.run([sys.executable, "-c", code], cwd=cwd, env=variables, capture_output=True, text=True)


def test_ruff_finds_nothing() -> None:
    done = run("ruff", "check", "--no-cache", ".")
    assert done.returncode == 0, done.stdout


def test_ruff_finds_a_planted_violation(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text("import os\n\n\ndef f(a):\n    return a\n")
    done = run("ruff", "check", "--no-cache", "--config", str(ROOT / "pyproject.toml"), "planted.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "F401" in done.stdout
    assert "ANN001" in done.stdout


def test_imports_go_down_only() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_planted_import_that_goes_up_is_found(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tilec", tmp_path / "tilec", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / "tilec/types.py").open("a") as file:
        file.write("\nimport tilec.runtime.device\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "tilec.types -> tilec.runtime.device" in done.stdout


def test_types_are_right() -> None:
    done = run("pyright")
    assert done.returncode == 0, done.stdout


def test_the_wheel_holds_the_library_and_the_grammar(tmp_path: Path) -> None:
    done = run("hatchling", "build", "-t", "wheel", "-d", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    library = {f"tilec/std/{path.name}" for path in (ROOT / "std").glob("*.ph")}
    assert library
    assert library | {"tilec/syntax/grammar.lark", "tilec/py.typed", "tilec/__init__.py"} <= names
    assert not any(name.startswith(("std/", "tests/")) for name in names)
