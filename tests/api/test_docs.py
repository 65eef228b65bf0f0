"""The code of the documentation runs as it stands, from top to bottom."""

from __future__ import annotations

import re
from pathlib import Path

import tilec

ROOT = Path(__file__).resolve().parents[2]


def test_the_python_guide_runs(capsys):
    text = (ROOT / "docs/python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 5
    scope: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), scope)
    assert "fn double_" in capsys.readouterr().out


def test_the_package_example_runs():
    import doctest

    assert doctest.testmod(tilec).failed == 0
