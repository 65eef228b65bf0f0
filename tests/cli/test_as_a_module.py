"""`python -m tilec` is the command line."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

GOOD = "kernel k(A: tensor<f32>[M]) {\n  A[:] = 1.0\n}\n"


@pytest.mark.parametrize(("file", "is_good"), [("good.ph", True), ("missing.ph", False)])
def test_the_package_runs_as_the_command(
    file: str, is_good: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "good.ph").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["tilec", "check", file])
    with pytest.raises(SystemExit) as leaving:
        runpy.run_module("tilec", run_name="__main__")
    assert (leaving.value.code == 0) is is_good
    assert ("missing.ph" in capsys.readouterr().err) is not is_good
